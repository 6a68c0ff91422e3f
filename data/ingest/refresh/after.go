package refresh

import (
	"context"
	"log/slog"
	"time"
)

// afterCalls are the calls of Options.After, one at a time and beside the refreshes: forecasts of all lakes take long, and a closure does not wait for them.
type afterCalls struct {
	wanted bool          // there was a refresh since the last call began
	ended  chan struct{} // of the last call; nil before
	// Of the last call, once it has ended:
	wait  time.Duration // after it; 0 if there is no other one
	again time.Time
}

// begin begins a call if it is time for it, and none is in progress.
func (a *afterCalls) begin(ctx context.Context, r *Refresher) {
	if r.opts.After == nil {
		return
	}
	if a.ended != nil {
		select {
		case <-a.ended:
		default:
			return
		}
	}
	if !a.wanted && (a.wait == 0 || r.now().Before(a.again)) {
		return
	}
	a.wanted, a.ended = false, make(chan struct{})
	go func() { // ends with ctx
		defer close(a.ended)
		a.call(ctx, r)
	}()
}

// end waits for the last call, whose context has ended.
func (a *afterCalls) end() {
	if a.ended != nil {
		<-a.ended
	}
}

// call calls After.
func (a *afterCalls) call(ctx context.Context, r *Refresher) {
	retry, err := r.opts.After(ctx)
	if err == nil || ctx.Err() != nil {
		a.wait = 0
		return
	}
	r.log.Warn("after the refresh", slog.Any("error", err))
	if !retry {
		a.wait = 0
		return
	}
	a.wait = min(max(2*a.wait, firstRetry), lastRetry)
	a.again = r.now().Add(a.wait)
}
