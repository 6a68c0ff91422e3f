package forecaster

import (
	"context"
	"time"
)

// A pace is how fast a run works.
type pace struct {
	workers int
	rest    float64 // as [Options].Rest
}

// leastWork is how long a run works before it rests: much longer than it takes to go to sleep, and shorter than Linux lets a thread run while
// one of a higher priority waits (base_slice_ns, 3 ms; measured: a tenth of cached tiles waited so long). So a waiting thread hardly waits.
const leastWork = 250 * time.Microsecond

// begin returns a function that the caller calls after each piece of work. If there was enough since the last rest, it waits for p.rest times
// as long as that took, or until ctx ends.
func (p pace) begin() (rest func(context.Context) error) {
	began := time.Now()
	return func(ctx context.Context) error {
		worked := time.Since(began)
		if wait := time.Duration(p.rest * float64(worked)); wait > 0 && worked >= leastWork {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			began = time.Now()
		}
		return ctx.Err()
	}
}
