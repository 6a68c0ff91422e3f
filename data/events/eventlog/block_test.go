package eventlog

import (
	"errors"
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
			{ID: "DEBB_PR_2", Value: data.EventValue{Chlorophyll: 60_00, Level: 3, MeasuredAt: data.Known(int64(1_750_000_000))}, Exceeds: true, Record: 7, Changed: 1 << 40},
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
		got, err := decode(want.encode())
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
		if _, err := decode(compressor.EncodeAll(whole[:n], nil)); !errors.Is(err, ErrDamaged) {
			t.Errorf("the first %d of %d bytes: %v, want %v", n, len(whole), err, ErrDamaged)
		}
	}
	later := append([]byte{blockFormat + 1}, whole[1:]...)
	if _, err := decode(compressor.EncodeAll(later, nil)); err == nil || !strings.Contains(err.Error(), "format 2") {
		t.Errorf("another format: %v", err)
	}
	b.lakes[1].ID = "DEBB_PR_0"
	if _, err := decode(b.encode()); !errors.Is(err, ErrDamaged) {
		t.Errorf("lakes out of order: %v, want %v", err, ErrDamaged)
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
		b, err := decode(input)
		if err != nil {
			return
		}
		again, err := decode(b.encode())
		if err != nil || !reflect.DeepEqual(again, b) {
			t.Errorf("%+v is read again as %+v, %v", b, again, err)
		}
	})
}
