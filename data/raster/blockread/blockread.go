package blockread

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// A Block is a part of a raster that is decoded as one, with what its decoder knows of it.
type Block[T any] struct {
	Job T
	// At and Size are the bytes to read before the block is decoded. Size is 0 for a block that is not in the file, and for one that
	// its decoder reads; At orders it among the others then.
	At, Size int64
	// Parts is the number of windows that the block has values for. It bounds how many blocks wait to be read.
	Parts int
}

// A Decoder decodes blocks, one after the other.
type Decoder[T any] interface {
	// Decode decodes a block. Data are the bytes of the block, nil if its Size is 0; they are valid until Decode returns.
	Decode(ctx context.Context, b Block[T], data []byte) error
	// Close releases what the decoder holds.
	Close()
}

// Bounds of reading. Over HTTP a request costs as much time as some hundred KiB.
const (
	// MaxGap is the largest distance, in bytes, of blocks that are read at once.
	MaxGap = 32 << 10
	// MaxRun is the number of bytes that are read at once at most, unless a single block has more.
	MaxRun = 1 << 20

	maxPending      = 128 // blocks that are sorted by offset before they are read
	maxPendingParts = 64 << 10
)

// Read decodes all blocks with the given number of decoders. It sorts some blocks at a time by their offsets and reads those that lie
// close together at once. At most one run of bytes for each decoder is in memory. An error of blocks, read or a decoder ends Read and
// is returned; an error of the function of a [Caller] is returned as that function returned it. A panic of any of them ends Read, which
// panics then.
func Read[T any](ctx context.Context, blocks iter.Seq2[Block[T], error], read func(p []byte, at int64) error, decoders int, newDecoder func() Decoder[T]) error {
	group, ctx := errgroup.WithContext(ctx)
	p := &pipeline[T]{read: read, runs: make(chan run[T]), tasks: make(chan task[T])}
	group.Go(guarded(func() error { return p.plan(ctx, blocks) })) // ends after the last block, or with ctx
	var fetchers sync.WaitGroup
	for range decoders {
		fetchers.Add(1)
		group.Go(guarded(func() error { // ends after the last run, or with ctx
			defer fetchers.Done()
			return p.fetch(ctx)
		}))
		group.Go(guarded(func() error { return p.decode(ctx, newDecoder()) })) // ends after the last task, or with ctx
	}
	group.Go(func() error { // ends after the fetchers
		fetchers.Wait()
		close(p.tasks)
		return nil
	})
	err := group.Wait()
	var panicked *panicError
	if errors.As(err, &panicked) {
		panic(panicked)
	}
	var call *callError
	if errors.As(err, &call) {
		return call.err
	}
	return err
}

// A pipeline is one call of Read. One goroutine plans which bytes are read, fetchers read them, and decoders decode.
type pipeline[T any] struct {
	read  func(p []byte, at int64) error
	runs  chan run[T]
	tasks chan task[T]
}

// A run is a byte range that is read at once, with the blocks in it.
type run[T any] struct {
	at, size int64
	blocks   []Block[T]
}

// A task is a block with its bytes.
type task[T any] struct {
	block Block[T]
	data  []byte
	done  func()
}

// plan sends runs to the fetchers.
func (p *pipeline[T]) plan(ctx context.Context, blocks iter.Seq2[Block[T], error]) error {
	defer close(p.runs)
	var pending []Block[T]
	parts := 0
	for b, err := range blocks {
		if err != nil {
			return err
		}
		pending = append(pending, b)
		parts += b.Parts
		if len(pending) == maxPending || parts >= maxPendingParts {
			if err := p.send(ctx, pending); err != nil {
				return err
			}
			pending, parts = nil, 0
		}
	}
	return p.send(ctx, pending)
}

// send sorts blocks by their offsets and sends them in runs.
func (p *pipeline[T]) send(ctx context.Context, blocks []Block[T]) error {
	slices.SortFunc(blocks, func(a, b Block[T]) int { return cmp.Compare(a.At, b.At) })
	for len(blocks) > 0 {
		r := firstRun(blocks)
		blocks = blocks[len(r.blocks):]
		select {
		case p.runs <- r:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// firstRun returns the run that begins with the first of sorted blocks.
func firstRun[T any](blocks []Block[T]) run[T] {
	start, end := blocks[0].At, blocks[0].At+blocks[0].Size
	n := 1
	for start < end && n < len(blocks) && blocks[n].Size > 0 && blocks[n].At <= end+MaxGap {
		next := max(end, blocks[n].At+blocks[n].Size)
		if next-start > MaxRun {
			break
		}
		end = next
		n++
	}
	return run[T]{start, end - start, blocks[:n:n]}
}

// fetch reads runs and passes their blocks to the decoders.
func (p *pipeline[T]) fetch(ctx context.Context) error {
	var buf []byte
	for r := range p.runs {
		if int64(cap(buf)) < r.size {
			buf = make([]byte, r.size)
		}
		data := buf[:r.size]
		if r.size > 0 {
			if err := p.read(data, r.at); err != nil {
				return err
			}
		}
		var tasks sync.WaitGroup
		for _, b := range r.blocks {
			t := task[T]{block: b, done: tasks.Done}
			if b.Size > 0 {
				t.data = data[b.At-r.at:][:b.Size]
			}
			tasks.Add(1)
			select {
			case p.tasks <- t:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		tasks.Wait() // a decoder that has received a task ends it
	}
	return ctx.Err()
}

// decode decodes tasks.
func (p *pipeline[T]) decode(ctx context.Context, d Decoder[T]) error {
	defer d.Close()
	for t := range p.tasks {
		if err := decodeTask(ctx, d, t); err != nil {
			return err
		}
	}
	return nil
}

func decodeTask[T any](ctx context.Context, d Decoder[T], t task[T]) error {
	defer t.done()
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.Decode(ctx, t.block, t.data)
}
