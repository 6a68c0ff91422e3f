package blockread

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A recorder is a decoder that notes what it is given.
type recorder struct {
	mu     *sync.Mutex
	seen   map[int][]byte
	decode func(context.Context, Block[int]) error
	closed *int
}

func (r *recorder) Decode(ctx context.Context, b Block[int], data []byte) error {
	r.mu.Lock()
	if _, ok := r.seen[b.Job]; ok {
		r.seen[b.Job] = []byte("decoded twice")
	} else {
		r.seen[b.Job] = bytes.Clone(data)
	}
	r.mu.Unlock()
	if r.decode != nil {
		return r.decode(ctx, b)
	}
	return nil
}

func (r *recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	*r.closed++
}

// A source counts how it is read. Byte i of it is the low byte of i*i/7.
type source struct {
	mu    sync.Mutex
	reads []string
	fail  error
}

func (s *source) byte(at int64) byte { return byte(at * at / 7) }

func (s *source) read(p []byte, at int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, fmt.Sprintf("%d+%d", at, len(p)))
	for i := range p {
		p[i] = s.byte(at + int64(i))
	}
	return s.fail
}

// all yields blocks without an error.
func all(blocks []Block[int]) iter.Seq2[Block[int], error] {
	return func(yield func(Block[int], error) bool) {
		for _, b := range blocks {
			if !yield(b, nil) {
				return
			}
		}
	}
}

func read(t *testing.T, s *source, blocks iter.Seq2[Block[int], error], decode func(context.Context, Block[int]) error) (map[int][]byte, error) {
	t.Helper()
	var mu sync.Mutex
	closed := 0
	seen := map[int][]byte{}
	const decoders = 3
	err := Read(t.Context(), blocks, s.read, decoders, func() Decoder[int] { return &recorder{&mu, seen, decode, &closed} })
	if closed != decoders {
		t.Errorf("%d of %d decoders are closed", closed, decoders)
	}
	return seen, err
}

// Each block is decoded once with its own bytes, and neighbours are read at once.
func TestRead(t *testing.T) {
	tests := map[string]struct {
		blocks []Block[int]
		reads  []string
	}{
		"none":       {nil, nil},
		"neighbours": {[]Block[int]{{At: 300, Size: 50}, {At: 100, Size: 50}, {At: 150, Size: 150}}, []string{"100+250"}},
		"a gap of the bound": {[]Block[int]{{At: 0, Size: 10}, {At: 10 + MaxGap, Size: 10}, {At: 21 + 2*MaxGap, Size: 10}},
			[]string{fmt.Sprint("0+", 20+MaxGap), fmt.Sprint(21+2*MaxGap, "+10")}},
		"no run above the bound": {[]Block[int]{{At: 0, Size: MaxRun - 10}, {At: MaxRun - 10, Size: 10}, {At: MaxRun, Size: 10}},
			[]string{fmt.Sprint("0+", MaxRun), fmt.Sprint(MaxRun, "+10")}},
		"a block above the bound":   {[]Block[int]{{At: 5, Size: 3 * MaxRun}}, []string{fmt.Sprint("5+", 3*MaxRun)}},
		"blocks without bytes":      {[]Block[int]{{At: 5}, {At: 6}, {}}, nil},
		"one without bytes between": {[]Block[int]{{At: 0, Size: 10}, {At: 10}, {At: 10, Size: 10}}, []string{"0+10", "10+10"}},
		"overlapping":               {[]Block[int]{{At: 0, Size: 100}, {At: 20, Size: 10}, {At: 90, Size: 20}}, []string{"0+110"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for i := range test.blocks {
				test.blocks[i].Job = i
			}
			s := &source{}
			seen, err := read(t, s, all(test.blocks), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(seen) != len(test.blocks) {
				t.Errorf("%d of %d blocks are decoded", len(seen), len(test.blocks))
			}
			for i, b := range test.blocks {
				want := make([]byte, b.Size)
				for k := range want {
					want[k] = s.byte(b.At + int64(k))
				}
				if !bytes.Equal(seen[i], want) {
					t.Errorf("block %d, %d bytes at %d, has other bytes", i, b.Size, b.At)
				}
				if b.Size == 0 && seen[i] != nil {
					t.Errorf("block %d has bytes", i)
				}
			}
			slices.Sort(s.reads)
			slices.Sort(test.reads)
			if !slices.Equal(s.reads, test.reads) {
				t.Errorf("reads %q, want %q", s.reads, test.reads)
			}
		})
	}
}

// Many more blocks than wait to be read are all decoded.
func TestReadMany(t *testing.T) {
	var blocks []Block[int]
	for i := range 10 * maxPending {
		blocks = append(blocks, Block[int]{Job: i, At: int64(i * 7919 % 5000 * 1000), Size: 1000, Parts: i % 2 * maxPendingParts})
	}
	seen, err := read(t, &source{}, all(blocks), nil)
	if err != nil || len(seen) != len(blocks) {
		t.Errorf("%d of %d blocks are decoded, error %v", len(seen), len(blocks), err)
	}
}

func manyBlocks() []Block[int] {
	blocks := make([]Block[int], 1000)
	for i := range blocks {
		blocks[i] = Block[int]{Job: i, At: int64(i) << 16, Size: 100}
	}
	return blocks
}

// An error of any part ends Read.
func TestErrors(t *testing.T) {
	failure := errors.New("failure")
	blocks := manyBlocks()
	failing := func(yield func(Block[int], error) bool) {
		for _, b := range blocks {
			if b.Job == 500 {
				yield(Block[int]{}, failure)
				return
			}
			if !yield(b, nil) {
				return
			}
		}
	}
	var caller Caller
	tests := map[string]struct {
		blocks iter.Seq2[Block[int], error]
		source *source
		decode func(context.Context, Block[int]) error
	}{
		"of the blocks": {failing, &source{}, nil},
		"of the source": {all(blocks), &source{fail: failure}, nil},
		"of a decoder": {all(blocks), &source{}, func(_ context.Context, b Block[int]) error {
			if b.Job == 500 {
				return failure
			}
			return nil
		}},
		"of the caller": {all(blocks), &source{}, func(ctx context.Context, b Block[int]) error {
			err := caller.Call(ctx, func() error { return failure })
			return fmt.Errorf("block %d: %w", b.Job, err)
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := read(t, test.source, test.blocks, test.decode); err != failure {
				t.Errorf("error %v, want that of the test as it is", err)
			}
		})
	}
}

// A context that ends ends Read.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	closed := 0
	decode := func(context.Context, Block[int]) error { cancel(); return nil }
	err := Read(ctx, all(manyBlocks()), (&source{}).read, 2, func() Decoder[int] { return &recorder{&mu, map[int][]byte{}, decode, &closed} })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A panic of any part reaches the goroutine of the caller, with the stack where it happened, and no goroutine stays.
func TestPanics(t *testing.T) {
	at := func(job int) func() {
		return func() {
			if job == 500 {
				panic("lost in the lake")
			}
		}
	}
	blocks := manyBlocks()
	var caller Caller
	quiet := (&source{}).read
	tests := map[string]struct {
		blocks iter.Seq2[Block[int], error]
		read   func([]byte, int64) error
		decode func(context.Context, Block[int]) error
	}{
		"of the blocks": {func(yield func(Block[int], error) bool) {
			for _, b := range blocks {
				at(b.Job)()
				if !yield(b, nil) {
					return
				}
			}
		}, quiet, nil},
		"of the source": {all(blocks), func(_ []byte, offset int64) error { at(int(offset >> 16))(); return nil }, nil},
		"of a decoder":  {all(blocks), quiet, func(_ context.Context, b Block[int]) error { at(b.Job)(); return nil }},
		"of the caller": {all(blocks), quiet, func(ctx context.Context, b Block[int]) error {
			return caller.Call(ctx, func() error { at(b.Job)(); return nil })
		}},
		"of all at once": {all(blocks), quiet, func(context.Context, Block[int]) error { panic("lost in the lake") }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() {
				said := fmt.Sprint(recover())
				if !strings.HasPrefix(said, "lost in the lake\n") || !strings.Contains(said, "blockread_test.go") {
					t.Errorf("the panic says %q", said)
				}
			}()
			var mu sync.Mutex
			closed := 0
			err := Read(t.Context(), test.blocks, test.read, 3, func() Decoder[int] { return &recorder{&mu, map[int][]byte{}, test.decode, &closed} })
			t.Errorf("no panic, error %v", err)
		})
	}
}

// Functions of a caller run one at a time.
func TestCaller(t *testing.T) {
	var caller Caller
	inside, most := 0, 0
	decode := func(ctx context.Context, _ Block[int]) error {
		return caller.Call(ctx, func() error { // the race detector finds what is not serialised
			inside++
			most = max(most, inside)
			inside--
			return nil
		})
	}
	if _, err := read(t, &source{}, all(manyBlocks()), decode); err != nil || most != 1 {
		t.Errorf("%d calls at once, error %v", most, err)
	}
}
