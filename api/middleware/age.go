package middleware

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"limnomap/api/answer"
)

// StaleAfter is how long after their last confirmation the data count as unconfirmed. A snapshot.Watcher asks each second, so
// several checks have failed by then; a shorter time would report a busy database as unavailable.
const StaleAfter = 5 * time.Second

// Freshness remembers when the served data were last confirmed to be the newest. It is safe for concurrent use, and costs a
// request only a comparison while the data are confirmed. As long as no one calls Confirm, the data never become stale.
type Freshness struct {
	now   func() time.Time
	start time.Time // times are counted from here, by the monotonic clock
	// confirmed is the last confirmation in nanoseconds since start, plus one; 0: there was none.
	confirmed atomic.Int64
}

// NewFreshness returns a Freshness without a confirmation.
func NewFreshness(now func() time.Time) *Freshness { return &Freshness{now: now, start: now()} }

// Confirm notes that the served data were the newest at that time.
func (f *Freshness) Confirm(at time.Time) { f.confirmed.Store(int64(at.Sub(f.start)) + 1) }

// Confirmed returns when the data were last confirmed, if they ever were.
func (f *Freshness) Confirmed() (at time.Time, ok bool) {
	confirmed := f.confirmed.Load()
	return f.start.Add(time.Duration(confirmed - 1)), confirmed != 0
}

// StaleSince returns when the data were last confirmed, if that is too long ago.
func (f *Freshness) StaleSince(now time.Time) (since time.Time, ok bool) {
	since, ok = f.Confirmed()
	return since, ok && now.Sub(since) >= StaleAfter
}

// Age notes the age of the data in whole seconds while they are unconfirmed. Answers with data send it as Age.
//
// Age is a field of RFC 9111, section 5.1: the time since the answer was generated or validated at its origin, which for
// answers from a snapshot is the database. A cache adds it to the time that it keeps the answer, so once the age exceeds
// max-age it asks for each request: it gets a 304 from here, and the newest data as soon as they are known.
func Age(f *Freshness) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			now := arrival(r, f.now)
			if since, ok := f.StaleSince(now); ok {
				answer.InfoOf(r).Age[0] = strconv.FormatInt(int64(now.Sub(since)/time.Second), 10)
			}
			next.ServeHTTP(w, r)
		})
	}
}
