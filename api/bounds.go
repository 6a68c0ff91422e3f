package api

import (
	"fmt"
	"net/http"

	"limnomap/api/answer"
)

const (
	// maxURI is what RFC 9110, section 4.1, asks every server to accept at least, in octets.
	maxURI = 8 << 10
	// maxHeaderLines is several times what a browser behind a chain of proxies sends.
	maxHeaderLines = 100
)

// limitRequest refuses what no request for this service needs: an address beyond 8 KiB, more than 100 header lines, a
// body. The size of the header is bounded by http.Server, which reads it before any middleware can.
func limitRequest(next http.Handler) http.Handler {
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
			// A length of -1 is a chunked body. Cutting the connection spares reading what nobody wants.
			if r.ContentLength != 0 {
				answer.WriteProblem(w, r, &answer.Problem{
					Status: http.StatusRequestEntityTooLarge,
					Detail: "The request has a body, allowed is none: every operation is a read.",
					Header: http.Header{"Connection": {"close"}},
				})
				return
			}
		default:
			// Of other methods the router says 405, with the allowed ones, which tells more than a 413. On a connection of
			// HTTP/1 that stays open net/http would read the body before it says so, for as long as a slow client takes.
			r.Body = http.MaxBytesReader(w, r.Body, 0)
			if r.ContentLength != 0 && r.ProtoMajor == 1 {
				w.Header().Set("Connection", "close")
			}
		}
		next.ServeHTTP(w, r)
	})
}
