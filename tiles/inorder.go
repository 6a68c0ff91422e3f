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
	type pending struct {
		tile   maptile.Tile
		result chan R
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers + 2) // besides the workers, the two goroutines that begin and deliver
	queue := make(chan pending, tilesAhead*workers)
	group.Go(func() error {
		defer close(queue)
		for t := range tiles {
			p := pending{t, make(chan R, 1)}
			select {
			case queue <- p:
			case <-ctx.Done():
				return ctx.Err()
			}
			group.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				r, err := do(t)
				if err == nil {
					p.result <- r
				}
				return err
			})
		}
		return nil
	})
	group.Go(func() error {
		for p := range queue {
			select {
			case r := <-p.result:
				if err := deliver(p.tile, r); err != nil {
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
