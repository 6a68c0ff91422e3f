package demo

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// batchLakes is how many lakes are rendered together: enough for little overhead between goroutines, and few enough that a
// batch of two years of passes takes a megabyte or two.
const batchLakes = 512

// A lakeBatch holds neighbouring lakes of one region, and their lines in both files.
type lakeBatch struct {
	region    *region
	scattered []scatteredLake

	done                chan struct{} // closed when the text is complete
	lakes, observations []byte
}

func newBatch(r *region) *lakeBatch {
	return &lakeBatch{region: r, scattered: make([]scatteredLake, 0, batchLakes), done: make(chan struct{})}
}

// inOrder renders batches on all processors and passes them to write in the order in which batches yields them. Only a few
// exist at a time. It ends with the first error of write or with ctx, and all its goroutines with it.
func inOrder(ctx context.Context, batches func(func(*lakeBatch) bool), render func(*lakeBatch), write func(*lakeBatch) error) error {
	workers := runtime.GOMAXPROCS(0)
	group, ctx := errgroup.WithContext(ctx)
	todo := make(chan *lakeBatch)
	order := make(chan *lakeBatch, 2*workers)
	group.Go(func() error {
		defer close(todo)
		defer close(order)
		for b := range batches {
			if err := ctx.Err(); err != nil {
				return err // select would choose at random
			}
			for _, to := range []chan *lakeBatch{order, todo} {
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
