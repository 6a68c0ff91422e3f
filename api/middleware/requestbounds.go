package middleware

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"limnomap/api/answer"
)

const (
	// maxURI is the length in octets that every server should accept (RFC 9110, section 4.1).
	maxURI = 8 << 10
	// bodyWait is how long the rest of a body may take to arrive that no one reads. With less, a client that is still sending
	// would lose the answer (RFC 9112, section 9.6).
	bodyWait = time.Second
	// emptyWait is how long the frame that ends a body without octets may take: proxies send it with the header.
	emptyWait = 200 * time.Millisecond
	// maxHeaderLines is several times as many as a browser behind a chain of proxies sends.
	maxHeaderLines = 100
)

// NoBody is a bound for [RequestBounds] that allows no body.
func NoBody(*http.Request) int64 { return 0 }

// RequestBounds refuses requests with an address beyond 8 KiB, more than 100 header lines, or a body of more bytes than body returns: hardly
// any request to this service needs one. The size of the header is bounded by http.Server, which reads it before any middleware runs.
func RequestBounds(body func(*http.Request) int64) Middleware {
	return func(next http.Handler) http.Handler { return requestBounds(body, next) }
}

func requestBounds(body func(*http.Request) int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := len(r.RequestURI); n > maxURI {
			answer.WriteProblem(w, r, &answer.Problem{
				Status: http.StatusRequestURITooLong,
				Detail: fmt.Sprintf("The address has %d octets, allowed are %d.", n, maxURI),
			})
			return
		}
		lines := 0
		for _, values := range r.Header {
			lines += len(values)
		}
		if lines > maxHeaderLines {
			answer.WriteProblem(w, r, &answer.Problem{
				Status: http.StatusRequestHeaderFieldsTooLarge,
				Detail: fmt.Sprintf("The request has %d header lines, allowed are %d.", lines, maxHeaderLines),
			})
			return
		}
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodOptions:
			if hasBody(w, r) {
				// Closing the connection saves reading the rest.
				awaitBody(w, r)
				answer.WriteProblem(w, r, &answer.Problem{
					Status: http.StatusRequestEntityTooLarge,
					Detail: "The request has a body, allowed is none: every operation is a read.",
					Header: http.Header{"Connection": {"close"}},
				})
				return
			}
		default:
			// The router answers other methods with 405 and the allowed methods, which is more helpful than 413. On an HTTP/1
			// connection that stays open, net/http would read the body first, for as long as a slow client takes.
			most := body(r)
			r.Body = http.MaxBytesReader(w, r.Body, most)
			if most > 0 {
				break
			}
			if r.ContentLength != 0 && r.ProtoMajor == 1 {
				w.Header().Set("Connection", "close")
				awaitBody(w, r)
			}
		}
		next.ServeHTTP(w, r)
	})
}

// hasBody reports whether a request has a body, or one that does not come in emptyWait. Some proxies frame requests without one as if they had one, which
// then has no octets (RFC 9112, section 7.1; RFC 9113, section 8.1).
func hasBody(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength >= 0 {
		return r.ContentLength > 0
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(emptyWait)) // a writer in a test has none
	if _, err := io.ReadFull(r.Body, make([]byte, 1)); err != io.EOF {
		return true
	}
	_ = control.SetReadDeadline(time.Time{})
	if r.ProtoMajor == 1 { // another server may read the length of the request in another way, and what follows as its body (RFC 9112, section 6.3)
		w.Header().Set("Connection", "close")
	}
	r.Body, r.ContentLength, r.TransferEncoding = http.NoBody, 0, nil
	return false
}

// awaitBody lets the connection wait for the rest of a body for bodyWait. Net/http reads it after the answer, until the timeout
// of the request: clients whose bodies do not come would hold as many connections as there may be.
func awaitBody(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 1 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyWait)) // a writer in a test has none
	}
}
