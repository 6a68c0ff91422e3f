// Package inorder does work on many goroutines and delivers its results in order.
package inorder

import (
	"context"
	"iter"

	"golang.org/x/sync/errgroup"
)

// Run calls do for each item, in parallel on the given number of goroutines, and deliver for each result, one at a time and in
// the order of the items. Besides the result that is being delivered, about ahead*goroutines may be finished or in progress.
// Run ends with the first error, or when ctx ends. All its goroutines have ended when it returns.
func Run[T, R any](ctx context.Context, goroutines, ahead int, items iter.Seq[T], do func(T) (R, error), deliver func(T, R) error) error {
	type job struct {
		item   T
		result chan R
	}
	group, ctx := errgroup.WithContext(ctx)
	ordered := make(chan job, ahead*goroutines) // for delivery
	work := make(chan job, cap(ordered))        // the same jobs, for the goroutines that do them
	group.Go(func() error {
		defer close(ordered)
		defer close(work)
		for item := range items {
			j := job{item, make(chan R, 1)}
			for _, to := range [...]chan<- job{ordered, work} {
				select {
				case to <- j:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		return nil
	})
	for range goroutines {
		group.Go(func() error {
			for j := range work {
				if err := ctx.Err(); err != nil {
					return err
				}
				r, err := do(j.item)
				if err != nil {
					return err
				}
				j.result <- r
			}
			return nil
		})
	}
	group.Go(func() error {
		for j := range ordered {
			select {
			case r := <-j.result:
				if err := deliver(j.item, r); err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}
