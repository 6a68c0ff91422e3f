package rangefile

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// MinPace is the least number of bytes a second that a response must bring, counted over each period of the stall of a [Watch]. A modem of
// 1998 (ITU-T V.90) brings five times as many; Apache's mod_reqtimeout ends requests below 500 by default.
const MinPace = 1 << 10

// The causes with which a [Watch] ends a request.
var (
	ErrStalled = errors.New("no data for too long")
	ErrSlow    = errors.New("it took too long")
	ErrPace    = errors.New("less than 1 KiB a second")
)

// A Watch ends a request that takes too long, or brings no data or too little.
type Watch struct {
	ctx            context.Context
	cancel         context.CancelCauseFunc
	stall          time.Duration
	whole, silence *time.Timer
	window         *time.Timer // nil before the response
	got            atomic.Int64
}

// NewWatch returns the context of a request, which ends with one of the errors as its cause: after the time whole, after the time stall
// without data, or after such a time with less than [MinPace]. The caller must call Stop.
func NewWatch(ctx context.Context, whole, stall time.Duration) (context.Context, *Watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &Watch{ctx: ctx, cancel: cancel, stall: stall, whole: time.AfterFunc(whole, func() { cancel(ErrSlow) }),
		silence: time.AfterFunc(stall, func() { cancel(ErrStalled) })}
}

// Stop ends the context and the timers.
func (w *Watch) Stop() {
	w.cancel(nil)
	w.whole.Stop()
	w.silence.Stop()
	if w.window != nil {
		w.window.Stop()
	}
}

// Body returns the body of the response, whose reads are counted.
func (w *Watch) Body(body io.Reader) io.Reader {
	least := int64(MinPace * w.stall.Seconds())
	ready := make(chan struct{}) // closed when window is set
	w.window = time.AfterFunc(w.stall, func() {
		<-ready
		got := w.got.Swap(0)
		switch {
		case w.ctx.Err() != nil:
		case 0 < got && got < least: // without any data it is stalled
			w.cancel(ErrPace)
		default:
			w.window.Reset(w.stall)
		}
	})
	close(ready)
	return watchedReader{w, body}
}

type watchedReader struct {
	watch *Watch
	r     io.Reader
}

func (r watchedReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	if n > 0 {
		r.watch.got.Add(int64(n))
		r.watch.silence.Reset(r.watch.stall)
	}
	return n, err
}
