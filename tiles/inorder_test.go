package tiles

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"
)

// row returns n tiles of one row.
func row(n int) iter.Seq[maptile.Tile] {
	return func(yield func(maptile.Tile) bool) {
		for x := range uint32(n) {
			if !yield(maptile.New(x, 0, 20)) {
				return
			}
		}
	}
}

func TestInOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, workers := rapid.IntRange(0, 200).Draw(rt, "tiles"), rapid.IntRange(1, 9).Draw(rt, "workers")
		delays := rapid.SliceOfN(rapid.IntRange(0, 50), n, n).Draw(rt, "milliseconds")
		synctest.Test(t, func(*testing.T) {
			var ahead, most, delivered atomic.Int64
			err := inOrder(context.Background(), workers, row(n), func(tile maptile.Tile) (uint32, error) {
				most.Store(max(most.Load(), ahead.Add(1)))
				time.Sleep(time.Duration(delays[tile.X]) * time.Millisecond)
				return tile.X, nil
			}, func(tile maptile.Tile, x uint32) error {
				if want := uint32(delivered.Load()); x != want || tile.X != want {
					rt.Errorf("result %d of tile %d is delivered, want %d", x, tile.X, want)
				}
				delivered.Add(1)
				ahead.Add(-1)
				return nil
			})
			if err != nil || delivered.Load() != int64(n) {
				rt.Errorf("%d of %d tiles delivered, %v", delivered.Load(), n, err)
			}
			// Those in the queue, the one that is being delivered, and the one that is about to be queued.
			if bound := int64(tilesAhead*workers + 2); most.Load() > bound {
				rt.Errorf("%d tiles are ahead of the delivery, want at most %d", most.Load(), bound)
			}
		})
	})
}

// TestInOrderEnds checks that each kind of error ends all goroutines and is returned.
func TestInOrderEnds(t *testing.T) {
	const many = 1 << 30
	t.Run("drawing fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			err := inOrder(t.Context(), 3, row(many), func(tile maptile.Tile) (int, error) {
				if tile.X == 333 {
					return 0, errFake
				}
				return 0, nil
			}, func(tile maptile.Tile, _ int) error {
				if tile.X >= 333 {
					t.Errorf("tile %d is delivered after the error", tile.X)
				}
				return nil
			})
			if !errors.Is(err, errFake) {
				t.Errorf("inOrder = %v, want %v", err, errFake)
			}
		})
	})
	t.Run("delivery fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			err := inOrder(t.Context(), 3, row(many), func(maptile.Tile) (int, error) { return 0, nil },
				func(tile maptile.Tile, _ int) error {
					if calls++; tile.X == 333 {
						return errFake
					}
					return nil
				})
			if !errors.Is(err, errFake) || calls != 334 {
				t.Errorf("inOrder = %v after %d deliveries, want %v after 334", err, calls, errFake)
			}
		})
	})
	t.Run("the caller leaves", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			err := inOrder(ctx, 3, row(many), func(maptile.Tile) (int, error) {
				time.Sleep(time.Millisecond)
				return 0, nil
			}, func(tile maptile.Tile, _ int) error {
				if tile.X == 333 {
					cancel()
				}
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("inOrder = %v, want %v", err, context.Canceled)
			}
		})
	})
}
