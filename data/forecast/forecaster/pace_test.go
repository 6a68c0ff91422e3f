package forecaster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A run rests after each piece of work for a multiple of its time, and not longer than its context.
func TestRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		rest := pace{rest: 4}.begin()
		for _, want := range []time.Duration{5 * time.Second, 10 * time.Second} {
			time.Sleep(time.Second)
			if err := rest(t.Context()); err != nil || time.Since(start) != want {
				t.Errorf("%v, %v after a second of work and a rest; want %v", err, time.Since(start), want)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.Sleep(500 * time.Millisecond)
		if err := rest(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 11*time.Second {
			t.Errorf("%v after %v; want the end of the context after 11s", err, time.Since(start))
		}
		little := pace{rest: 4}.begin()
		for range 10 {
			time.Sleep(leastWork / 8)
			if err := little(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if want := 11*time.Second + 10*leastWork/8 + 4*leastWork; time.Since(start) != want {
			t.Errorf("%v after ten little pieces of work; want one rest after eight of them, %v", time.Since(start), want)
		}
		start = time.Now().Add(-11 * time.Second)
		without := pace{}.begin()
		time.Sleep(time.Second)
		if err := without(t.Context()); err != nil || time.Since(start) != 12*time.Second {
			t.Errorf("%v after %v; want no rest", err, time.Since(start))
		}
	})
}
