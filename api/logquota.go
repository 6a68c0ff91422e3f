package api

import (
	"net/http"
	"sync/atomic"
	"time"
)

// A logQuota lets so many lines a second into the log and counts those that it keeps out, so that a server under load
// spends its time on answers and not on telling of them. The first of each second pass: of a quiet server every request
// is logged. It is safe for concurrent use.
type logQuota struct {
	perSecond atomic.Int64 // 0: no bound
	start     time.Time    // seconds are counted from here, by the monotonic clock

	second  atomic.Int64 // the one that asked is of
	asked   atomic.Int64
	leftOut atomic.Int64 // since the last line that passed
}

// take reports whether a line may be written, and how many were left out since the last that might. Where two requests
// meet at the turn of a second, one line more may pass; none goes uncounted.
func (q *logQuota) take(now time.Time) (ok bool, leftOut int64) {
	perSecond := q.perSecond.Load()
	if perSecond <= 0 {
		return true, 0
	}
	second := int64(now.Sub(q.start) / time.Second)
	if before := q.second.Load(); second > before && q.second.CompareAndSwap(before, second) {
		q.asked.Store(0)
	}
	if q.asked.Add(1) > perSecond {
		q.leftOut.Add(1)
		return false, 0
	}
	return true, q.leftOut.Swap(0)
}

// logQuotas are one quota for each kind of outcome, so that a flood of one hides none of the others.
type logQuotas struct{ answered, refused, failed logQuota }

func newLogQuotas(perSecond int, start time.Time) *logQuotas {
	qs := &logQuotas{}
	for _, q := range qs.all() {
		q.start = start
	}
	qs.set(perSecond)
	return qs
}

func (qs *logQuotas) all() []*logQuota { return []*logQuota{&qs.answered, &qs.refused, &qs.failed} }

// set changes how many lines a second there may be of each kind.
func (qs *logQuotas) set(perSecond int) {
	for _, q := range qs.all() {
		q.perSecond.Store(int64(perSecond))
	}
}

// of returns the quota of answers with that status. Without one the connection was cut.
func (qs *logQuotas) of(status int) *logQuota {
	switch {
	case status == 0 || status >= http.StatusInternalServerError:
		return &qs.failed
	case status >= http.StatusBadRequest:
		return &qs.refused
	}
	return &qs.answered
}
