package demo

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// blockLakes is how many lakes are rendered in one go: enough to make the hand-over between goroutines cheap, and few
// enough that a block of two years of passes takes a megabyte or two.
const blockLakes = 512

// A block is some neighbouring lakes of one region, and their lines in both files.
type block struct {
	region    *region
	scattered []scattered

	done                chan struct{} // closed when the text is there
	lakes, observations []byte
}

func newBlock(r *region) *block {
	return &block{region: r, scattered: make([]scattered, 0, blockLakes), done: make(chan struct{})}
}

// inOrder renders blocks on all processors and passes them to write in the order in which blocks yields them. Few of
// them exist at a time. It ends with the first error of write or with ctx, and all its goroutines with it.
func inOrder(ctx context.Context, blocks func(func(*block) bool), render func(*block), write func(*block) error) error {
	workers := runtime.GOMAXPROCS(0)
	group, ctx := errgroup.WithContext(ctx)
	todo := make(chan *block)
	order := make(chan *block, 2*workers)
	group.Go(func() error {
		defer close(todo)
		defer close(order)
		for b := range blocks {
			if err := ctx.Err(); err != nil {
				return err // select picks at random, and might go on
			}
			for _, to := range []chan *block{order, todo} {
				select {
				case to <- b:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	for range workers {
		group.Go(func() error { // ends when todo is closed
			for b := range todo {
				render(b)
				close(b.done)
			}
			return nil
		})
	}
	group.Go(func() error {
		for b := range order {
			select {
			case <-b.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := write(b); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}
