package tiles

import (
	"context"
	"iter"

	"github.com/paulmach/orb/maptile"
	"golang.org/x/sync/errgroup"
)

const (
	// batchTiles is how many tiles a worker takes at a time: so many that handing them over costs nothing beside
	// drawing them, so few that at the end no worker waits long for another.
	batchTiles = 16
	// batchesAhead is how many batches for each worker may be finished or under way before the oldest is delivered.
	batchesAhead = 4
)

// A batch is tiles that follow each other, and what was made of them.
type batch[R any] struct {
	tiles   []maptile.Tile
	results []R
	done    chan struct{} // closed once results are whole
}

// inOrder calls do for each tile on that many goroutines, and deliver for each result on one, in the order of the tiles.
// The first error ends it, and so does ctx. All its goroutines have ended when it returns.
func inOrder[R any](
	ctx context.Context, workers int, tiles iter.Seq[maptile.Tile],
	do func(maptile.Tile) (R, error), deliver func(maptile.Tile, R) error,
) error {
	group, ctx := errgroup.WithContext(ctx)
	work := make(chan *batch[R])
	queue := make(chan *batch[R], batchesAhead*workers)
	group.Go(func() error {
		defer close(work)
		defer close(queue)
		return handOut(ctx, tiles, work, queue)
	})
	for range workers {
		group.Go(func() error {
			for b := range work {
				for i, t := range b.tiles {
					if err := ctx.Err(); err != nil {
						return err
					}
					r, err := do(t)
					if err != nil {
						return err
					}
					b.results[i] = r
				}
				close(b.done)
			}
			return nil
		})
	}
	group.Go(func() error {
		for b := range queue {
			select {
			case <-b.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			for i, t := range b.tiles {
				if err := deliver(t, b.results[i]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return group.Wait()
}

// handOut puts the tiles into batches, and each of these into the queue and then to work.
func handOut[R any](ctx context.Context, tiles iter.Seq[maptile.Tile], work, queue chan<- *batch[R]) error {
	send := func(tiles []maptile.Tile) error {
		b := &batch[R]{tiles: tiles, results: make([]R, len(tiles)), done: make(chan struct{})}
		for _, to := range [...]chan<- *batch[R]{queue, work} {
			select {
			case to <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	next := make([]maptile.Tile, 0, batchTiles)
	for t := range tiles {
		if next = append(next, t); len(next) < batchTiles {
			continue
		}
		if err := send(next); err != nil {
			return err
		}
		next = make([]maptile.Tile, 0, batchTiles)
	}
	if len(next) == 0 {
		return nil
	}
	return send(next)
}
