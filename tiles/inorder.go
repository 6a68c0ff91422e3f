package tiles

import (
	"context"
	"iter"

	"github.com/paulmach/orb/maptile"
	"golang.org/x/sync/errgroup"
)

// tilesAhead is how many tiles for each worker may be finished or in progress before the oldest is delivered.
const tilesAhead = 64

// inOrder calls do for each tile on that many goroutines, and deliver for each result on one, in the order of the tiles. It
// ends with the first error, or when ctx ends. All its goroutines have ended when it returns.
func inOrder[R any](
	ctx context.Context, workers int, tiles iter.Seq[maptile.Tile],
	do func(maptile.Tile) (R, error), deliver func(maptile.Tile, R) error,
) error {
	type job struct {
		tile   maptile.Tile
		result chan R
	}
	group, ctx := errgroup.WithContext(ctx)
	ordered := make(chan job, tilesAhead*workers) // for delivery
	work := make(chan job, cap(ordered))          // the same jobs, for the workers
	group.Go(func() error {
		defer close(ordered)
		defer close(work)
		for t := range tiles {
			j := job{t, make(chan R, 1)}
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
	for range workers {
		group.Go(func() error {
			for j := range work {
				if err := ctx.Err(); err != nil {
					return err
				}
				r, err := do(j.tile)
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
				if err := deliver(j.tile, r); err != nil {
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
