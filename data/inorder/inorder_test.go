package inorder

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// ahead is how many results for each goroutine may be ahead of the delivery, as in package tiles.
const ahead = 64

var errFake = errors.New("fake error")

// upTo returns 0 to n-1.
func upTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func TestRun(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, goroutines := rapid.IntRange(0, 200).Draw(rt, "items"), rapid.IntRange(1, 9).Draw(rt, "goroutines")
		ahead := rapid.IntRange(1, 8).Draw(rt, "ahead")
		delays := rapid.SliceOfN(rapid.IntRange(0, 50), n, n).Draw(rt, "milliseconds")
		synctest.Test(t, func(*testing.T) {
			var begun, most, delivered atomic.Int64
			err := Run(context.Background(), goroutines, ahead, upTo(n), func(i int) (int, error) {
				most.Store(max(most.Load(), begun.Add(1)))
				time.Sleep(time.Duration(delays[i]) * time.Millisecond)
				return i, nil
			}, func(i, result int) error {
				if want := int(delivered.Load()); result != want || i != want {
					rt.Errorf("result %d of item %d is delivered, want %d", result, i, want)
				}
				delivered.Add(1)
				begun.Add(-1)
				return nil
			})
			if err != nil || delivered.Load() != int64(n) {
				rt.Errorf("%d of %d items delivered, %v", delivered.Load(), n, err)
			}
			// The items in the queue, one in delivery, and one before the queue.
			if bound := int64(ahead*goroutines + 2); most.Load() > bound {
				rt.Errorf("%d items are ahead of the delivery, want at most %d", most.Load(), bound)
			}
		})
	})
}

// TestRunEnds checks that each kind of error ends all goroutines and is returned.
func TestRunEnds(t *testing.T) {
	const many = 1 << 30
	t.Run("the work fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			err := Run(t.Context(), 3, ahead, upTo(many), func(i int) (int, error) {
				if i == 333 {
					return 0, errFake
				}
				return 0, nil
			}, func(i, _ int) error {
				if i >= 333 {
					t.Errorf("item %d is delivered after the error", i)
				}
				return nil
			})
			if !errors.Is(err, errFake) {
				t.Errorf("Run = %v, want %v", err, errFake)
			}
		})
	})
	t.Run("delivery fails", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			err := Run(t.Context(), 3, ahead, upTo(many), func(int) (int, error) { return 0, nil },
				func(i, _ int) error {
					if calls++; i == 333 {
						return errFake
					}
					return nil
				})
			if !errors.Is(err, errFake) || calls != 334 {
				t.Errorf("Run = %v after %d deliveries, want %v after 334", err, calls, errFake)
			}
		})
	})
	t.Run("the caller leaves", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			err := Run(ctx, 3, ahead, upTo(many), func(int) (int, error) {
				time.Sleep(time.Millisecond)
				return 0, nil
			}, func(i, _ int) error {
				if i == 333 {
					cancel()
				}
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Run = %v, want %v", err, context.Canceled)
			}
		})
	})
}
