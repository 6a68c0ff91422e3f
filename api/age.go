package api

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"limnomap/api/answer"
)

// lateAfter is how long after their last confirmation the data are taken for unconfirmed. A data.Watcher asks each
// second, so that several answers have failed to come by then; less would call a busy database an absent one.
const lateAfter = 5 * time.Second

// A contact remembers when the data that are served were last known to be the newest there are. It is safe for
// concurrent use, and costs a request no more than a comparison while all is well.
type contact struct {
	now   func() time.Time
	start time.Time // of the server; moments are counted from here, by the monotonic clock
	// confirmed is the last confirmation in nanoseconds since start, plus one; 0: there was none.
	confirmed atomic.Int64
}

// Confirmed tells that what is published was, at that time, all that there is. Answers from then on are believed to be
// the newest; when nobody has said so for some seconds, they bear an Age, and /readyz and a metric tell.
//
// A server that is never told knows of no other data than those it is given, and its answers bear no Age.
func (s *Server) Confirmed(at time.Time) {
	s.contact.confirmed.Store(max(int64(at.Sub(s.contact.start)), 0) + 1)
}

// last returns when the data were last confirmed, if they ever were.
func (c *contact) last() (time.Time, bool) {
	confirmed := c.confirmed.Load()
	return c.start.Add(time.Duration(confirmed - 1)), confirmed != 0
}

// lost returns since when the data are unconfirmed, if they are.
func (c *contact) lost(now time.Time) (since time.Time, ok bool) {
	since, ok = c.last()
	return since, ok && now.Sub(since) >= lateAfter
}

// withAge notes how old the data are, in whole seconds, while nobody confirms them.
//
// The field is that of RFC 9111, section 5.1: the time since the answer was generated or validated at its origin, which
// for answers from a snapshot is its database. A cache adds it to the time that it keeps the answer, and so asks anew
// each time once the age exceeds max-age: it gets its 304 from here, and the newest data as soon as they are known.
func withAge(c *contact) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if info := answer.InfoOf(r); info != nil {
				now := info.Start
				if now.IsZero() {
					now = c.now()
				}
				if since, ok := c.lost(now); ok {
					info.Age[0] = strconv.FormatInt(int64(now.Sub(since)/time.Second), 10)
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}
