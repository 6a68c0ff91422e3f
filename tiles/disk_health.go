package tiles

import (
	"sync"
	"time"
)

// retryInterval is how long a failing disk is left alone: long enough that a dead one costs nothing, short enough
// that a repaired one is noticed before anybody looks.
const retryInterval = 30 * time.Second

// A health remembers whether one kind of disk operation works, so that a dead disk is neither asked for each tile
// nor logged for each.
type health struct {
	mu      sync.Mutex // guards what follows
	failing bool
	retryAt time.Time
}

// allows reports whether the operation may be tried at that time.
func (h *health) allows(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.failing || !now.Before(h.retryAt)
}

// failed notes a failure and reports whether it is the first one.
func (h *health) failed(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := !h.failing
	h.failing, h.retryAt = true, now.Add(retryInterval)
	return first
}

// worked notes a success and reports whether it ends a time of failure.
func (h *health) worked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	ended := h.failing
	h.failing = false
	return ended
}
