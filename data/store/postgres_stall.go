package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// stallTimeout is how long a scan waits for its next row. A server that is alive sends rows all the time, in the order of an
	// index. A proxy or a server that hangs keeps the connection open, so nothing else would end the wait.
	stallTimeout = time.Minute
	// scanTimeout bounds a scan whose rows come one by one, so that another connection is tried. A scan of 146 million rows takes
	// less than ten minutes.
	scanTimeout = 20 * time.Minute
)

var errStalled = errors.New("the server does not send the rest")

// A stallWatch cancels a context when rows are no longer counted.
type stallWatch struct {
	rows   atomic.Int64
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the watch has ended
}

// watchStalls returns a context that ends with errStalled as its cause if no row is counted for a time between timeout and twice
// that, or after scanTimeout. stop ends both.
func watchStalls(ctx context.Context, timeout time.Duration) (context.Context, *stallWatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &stallWatch{cancel: cancel, done: make(chan struct{})}
	go w.run(ctx, timeout) // until stop
	return ctx, w
}

func (w *stallWatch) run(ctx context.Context, timeout time.Duration) {
	defer close(w.done)
	ticks := time.NewTicker(timeout)
	defer ticks.Stop()
	began, last := time.Now(), int64(-1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		switch rows := w.rows.Load(); {
		case rows == last:
			w.cancel(fmt.Errorf("%w: nothing came for %v", errStalled, timeout))
		case time.Since(began) > scanTimeout:
			w.cancel(fmt.Errorf("%w within %v", errStalled, scanTimeout))
		default:
			last = rows
		}
	}
}

// stop ends the watch.
func (w *stallWatch) stop() {
	w.cancel(nil)
	<-w.done
}
