package middleware

import (
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/api/answer"
	"limnomap/tiles/admission"
)

// InFlight bounds how many requests are answered at the same time: each takes a goroutine and its buffers until its client has
// read the answer, and one HTTP/2 connection carries many. Up to an eighth of the bound any client is let in. Of the rest a client
// may have half of what the others leave free; a quarter of it is for clients that have no other request there, so that newcomers
// get in when hundreds have all that they may.
type InFlight struct {
	free    int64 // up to how many requests no client is asked for
	now     atomic.Int64
	crowd   *admission.Budget
	exempt  func(r *http.Request) bool
	refused prometheus.Counter

	exempted atomic.Int64
}

// maxExempt is how many exempt requests are let in beyond the bound.
const maxExempt = 64

// NewInFlight returns a bound of that many requests, at least 8. Some requests that are exempt are let in
// beyond it.
func NewInFlight(bound int, exempt func(r *http.Request) bool, reg prometheus.Registerer) *InFlight {
	free := int64(bound / 8)
	crowd := int64(bound) - free
	return &InFlight{
		free:   free,
		crowd:  admission.NewBudgetWithReserve(crowd, crowd/4, 1),
		exempt: exempt,
		refused: promauto.With(reg).NewCounter(prometheus.CounterOpts{
			Name: "limnomap_http_requests_crowded_out_total",
			Help: "Requests refused because too many were being answered.",
		}),
	}
}

// Handler lets requests in to next, or answers them with 503.
func (f *InFlight) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer f.now.Add(-1)
		if f.now.Add(1) <= f.free {
			serveToEnd(next, w, r)
			return
		}
		hold, err := f.crowd.Hold(answer.ClientOf(r), 1)
		if err == nil {
			defer hold.Release()
			serveToEnd(next, w, r)
			return
		}
		if f.exempt(r) {
			defer f.exempted.Add(-1)
			if f.exempted.Add(1) <= maxExempt {
				serveToEnd(next, w, r)
				return
			}
		}
		f.refused.Inc()
		w.Header().Set("Retry-After", "1")
		if r.ProtoMajor == 2 {
			if answer.ClientAddr(r) == answer.PeerAddr(r) {
				// One connection can bring requests faster than they are refused. With this field net/http sends GOAWAY, and starts no
				// further ones of it: a client may send those again, on another connection. A proxy's carries other clients too.
				w.Header().Set("Connection", "close")
			}
			status := http.StatusServiceUnavailable
			if answer.AsksForEvents(r) { // it comes back after a stream without events
				w.Header().Set("Content-Type", answer.TypeEventStream)
				status = http.StatusOK
			}
			w.WriteHeader(status) // a body would wait for the client's window
			return
		}
		answer.WriteProblem(w, r, &answer.Problem{
			Status: http.StatusServiceUnavailable,
			Detail: "The server is answering as many requests as it may.",
		})
	})
}

// bufferedAnswer is the size of net/http's buffer of an HTTP/2 answer.
const bufferedAnswer = 4 << 10

// serveToEnd calls next, and returns when the answer is sent. Net/http holds a small answer of HTTP/2 back until its handler has
// returned, and then waits for the client's window with all that a request takes.
func serveToEnd(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor != 2 || r.Method == http.MethodHead {
		next.ServeHTTP(w, r)
		return
	}
	tw := answer.Track(w)
	next.ServeHTTP(tw, r)
	if 0 < tw.Bytes && tw.Bytes < bufferedAnswer {
		_ = tw.FlushError() // an error means that the client left
	}
}
