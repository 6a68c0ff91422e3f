package disk

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// retryInterval is how long a failing operation is not tried: long enough that a dead disk costs nothing, short enough that
// a repaired one is used soon.
const retryInterval = 30 * time.Second

// A health remembers whether one kind of disk operation works. A dead disk is neither tried nor logged for each tile:
// without this, a disk that hangs would delay each tile by readTimeout.
type health struct {
	gauge   prometheus.Gauge // 1 while the operation fails
	failing atomic.Bool      // written under mu; operations that succeed, nearly all, read it without

	mu    sync.Mutex // guards tried
	tried time.Time  // time of the last failure
}

// allows reports whether the operation may be tried at that time.
func (h *health) allows(now time.Time) bool {
	if !h.failing.Load() {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	since := now.Sub(h.tried)
	// A time before the last failure means that the clock was set back. time.Now does not show it (it is monotonic), but not
	// every system's clock continues while the system sleeps.
	return since >= retryInterval || since < 0
}

// failed records a failure and reports whether it is the first one.
func (h *health) failed(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tried = now
	h.gauge.Set(1)
	return !h.failing.Swap(true)
}

// worked records a success and reports whether it is the first one after a failure.
func (h *health) worked() bool {
	if !h.failing.Load() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gauge.Set(0)
	return h.failing.Swap(false)
}
