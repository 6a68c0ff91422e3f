package tiles

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// retryInterval is how long a failing disk is left alone: long enough that a dead one costs nothing, short enough
// that a repaired one is noticed before anybody looks.
const retryInterval = 30 * time.Second

// A health remembers whether one kind of disk operation works, so that a dead disk is neither asked for each tile
// nor logged for each.
type health struct {
	gauge   prometheus.Gauge // 1 while the operation fails
	failing atomic.Bool      // written under mu; read without it by operations that succeed, which are nearly all

	mu    sync.Mutex // guards what follows
	tried time.Time  // when it failed last
}

// allows reports whether the operation may be tried at that time.
func (h *health) allows(now time.Time) bool {
	if !h.failing.Load() {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	since := now.Sub(h.tried)
	// A time before the last try is that of a clock that was set back, after which nobody would wait for the old time to come
	// again. time.Now does not show it (it is monotonic), but not every system's clock runs on while it sleeps.
	return since >= retryInterval || since < 0
}

// failed notes a failure and reports whether it is the first one.
func (h *health) failed(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tried = now
	h.gauge.Set(1)
	return !h.failing.Swap(true)
}

// worked notes a success and reports whether it ends a time of failure.
func (h *health) worked() bool {
	if !h.failing.Load() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gauge.Set(0)
	return h.failing.Swap(false)
}
