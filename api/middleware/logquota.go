package middleware

import (
	"net/http"
	"sync/atomic"
	"time"
)

// A LogQuota bounds how many requests per second are logged, so that a server under load spends its time on answers. It
// counts the lines that it leaves out. Answered, refused and failed requests have a quota each, so that many of one kind do
// not hide the others. The first lines of each second pass: a quiet server logs every request. It is safe for concurrent use.
type LogQuota struct {
	perSecond atomic.Int64 // lines of each kind; 0: no bound
	start     time.Time    // seconds are counted from here, by the monotonic clock

	answered, refused, failed lineCounter
}

// A lineCounter counts the lines of one kind of requests.
type lineCounter struct {
	second  atomic.Int64 // that asked counts
	asked   atomic.Int64
	leftOut atomic.Int64 // since the last line that passed
}

// NewLogQuota returns a quota of so many lines per second for each kind of requests; 0 is no bound.
func NewLogQuota(perSecond int, now time.Time) *LogQuota {
	q := &LogQuota{start: now}
	q.Set(perSecond)
	return q
}

// Set changes how many lines per second there may be of each kind.
func (q *LogQuota) Set(perSecond int) { q.perSecond.Store(int64(perSecond)) }

// take reports whether the request that was answered with that status may be logged now, and how many of its kind were left
// out since the last logged one. Status 0 is a closed connection. Where two requests meet at the start of a second,
// one line too many may pass; every line that is left out is counted.
func (q *LogQuota) take(status int, now time.Time) (ok bool, leftOut int64) {
	perSecond := q.perSecond.Load()
	if perSecond <= 0 {
		return true, 0
	}
	c := &q.answered
	switch {
	case status == 0 || status >= http.StatusInternalServerError:
		c = &q.failed
	case status >= http.StatusBadRequest:
		c = &q.refused
	}
	second := int64(now.Sub(q.start) / time.Second)
	if before := c.second.Load(); second > before && c.second.CompareAndSwap(before, second) {
		c.asked.Store(0)
	}
	if c.asked.Add(1) > perSecond {
		c.leftOut.Add(1)
		return false, 0
	}
	return true, c.leftOut.Swap(0)
}
