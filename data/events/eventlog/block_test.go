package eventlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

func exampleBlock() block {
	return block{
		lakes: []LakeEntry{
			{ID: "DEBB_PR_1", Value: data.NoEventValue(), Record: 1<<64 - 1, Changed: 1},
			{ID: "DEBB_PR_2", Value: data.EventValue{Chlorophyll: 60_00, Level: 3, MeasuredAt: data.Known(int64(1_750_000_000))}, Exceeds: true, Bloom: true, Record: 7, Changed: 1 << 40},
			{ID: "a", Value: data.EventValue{Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, MeasuredAt: data.Known(int64(-5))}, Changed: 2},
		},
		statements: []statementEntry{
			{lake: "a", EventAdvisory: data.EventAdvisory{ID: "s", Kind: data.Closure, Cause: data.Bacteria, Issuer: "Amt für Gewässer", URL: "https://example.org/",
				ValidUntil: time.Unix(1_760_000_000, 0).UTC()}, content: 9},
			{lake: "b", EventAdvisory: data.EventAdvisory{ID: "t", Kind: data.Season}},
		},
	}
}

// A block is read as it was written.
func TestBlock(t *testing.T) {
	t.Parallel()
	for _, want := range []block{exampleBlock(), {lakes: []LakeEntry{}}} {
		got, err := decode(statementBlock, want.encode())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read as %+v, %v; want %+v", got, err, want)
		}
	}
}

// Bytes that are not a block are refused.
func TestBlockDamaged(t *testing.T) {
	t.Parallel()
	b := exampleBlock()
	whole, err := decompressor.DecodeAll(b.encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if _, err := decode(statementBlock, compressor.EncodeAll(whole[:n], nil)); !errors.Is(err, ErrDamaged) {
			t.Errorf("the first %d of %d bytes: %v, want %v", n, len(whole), err, ErrDamaged)
		}
	}
	later := append([]byte{blockFormat + 1}, whole[1:]...)
	if _, err := decode(statementBlock, compressor.EncodeAll(later, nil)); err == nil || !strings.Contains(err.Error(), "format 2") {
		t.Errorf("another format: %v", err)
	}
	b.lakes[1].ID = "DEBB_PR_0"
	if _, err := decode(statementBlock, b.encode()); !errors.Is(err, ErrDamaged) {
		t.Errorf("lakes out of order: %v, want %v", err, ErrDamaged)
	}
}

// Blocks larger than those that encode makes are refused, before and after decompression, and so are more parts than there can be.
func TestBlockTooLarge(t *testing.T) {
	t.Parallel()
	padded := func(n int) []byte { return compressor.EncodeAll(make([]byte, n), nil) }
	many := func(lakes, statements uint64, least int) []byte {
		plain := binary.AppendUvarint([]byte{blockFormat}, lakes)
		if lakes == 0 {
			plain = binary.AppendUvarint(plain, statements)
		}
		return compressor.EncodeAll(append(plain, make([]byte, least*int(lakes+statements)+1)...), nil)
	}
	for name, test := range map[string]struct {
		index  int
		stored []byte
		want   string
	}{
		"lakes":                 {statementBlock + 1, padded(maxLakeBytes + 1), "decompress"},
		"statements":            {statementBlock, padded(maxStatementBytes + 1), "decompress"},
		"compressed":            {statementBlock + 1, make([]byte, maxLakeBytes+1), "a block has 4194305 bytes, want at most 4194304"},
		"compressed statements": {statementBlock, make([]byte, maxStatementBytes+1), "want at most 134217728"},
		"number of lakes":       {statementBlock + 1, many(lakesInBlock+1, 0, 13), "ends early or too late"},
		"number of statements":  {statementBlock, many(0, maxStatements+1, 18), "ends early or too late"},
	} {
		if _, err := decode(test.index, test.stored); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %v with %q", name, err, ErrDamaged, test.want)
		}
	}
	// The largest that encode makes.
	var b block
	for i := range lakesInBlock {
		id := fmt.Sprintf("%04d", i) + strings.Repeat("x", 252)
		b.lakes = append(b.lakes, LakeEntry{ID: data.LakeID(id), Value: data.EventValue{MeasuredAt: data.Known(int64(math.MaxInt64))}, Record: rand.Uint64(), Changed: math.MaxInt64})
	}
	if got, err := decode(statementBlock+1, b.encode()); err != nil || len(got.lakes) != lakesInBlock {
		t.Errorf("the largest block of lakes is read as %d lakes, %v", len(got.lakes), err)
	}
}

// No bytes make decode panic or take much memory, and what it reads is written and read as the same.
func FuzzBlock(f *testing.F) {
	b := exampleBlock()
	plain, err := decompressor.DecodeAll(b.encode(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(plain, false)
	f.Add(b.encode(), true)
	f.Fuzz(func(t *testing.T, input []byte, compressed bool) {
		if !compressed {
			input = compressor.EncodeAll(input, nil)
		}
		b, err := decode(statementBlock, input)
		if err != nil {
			return
		}
		again, err := decode(statementBlock, b.encode())
		if err != nil || !reflect.DeepEqual(again, b) {
			t.Errorf("%+v is read again as %+v, %v", b, again, err)
		}
	})
}
