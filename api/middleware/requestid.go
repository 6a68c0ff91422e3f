package middleware

import (
	"math/rand/v2"
	"net/http"
	"strconv"

	"limnomap/api/answer"
)

// requestIDHeader is the header field with the id of a request, in requests and answers, in the canonical form of net/http.
const requestIDHeader = "X-Request-Id"

// maxRequestID bounds an id that a client or a proxy sends: long enough for a UUID and for W3C trace ids.
const maxRequestID = 64

// RequestID gives every request an id and returns it in the answer: the id that the request carries, so that the log of a
// proxy and ours name the same request, or a random one. It is the outermost middleware, because it also creates the
// [answer.RequestInfo] that the others share.
func RequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, info := answer.WithInfo(r)
		// Two ids are ignored: we cannot know which of them a proxy logged.
		if in := r.Header[requestIDHeader]; len(in) == 1 && validRequestID(in[0]) {
			info.ID[0] = in[0]
		} else {
			info.ID[0] = newRequestID()
		}
		w.Header()[requestIDHeader] = info.ID[:]
		next.ServeHTTP(w, r)
	})
}

// newRequestID returns 64 random bits, enough to tell the requests of a log apart. An id grants nothing, so it may be
// guessed, and the generator of the runtime needs no system call.
func newRequestID() string { return strconv.FormatUint(rand.Uint64(), 36) }

// validRequestID reports whether id is safe in the log and in a header: 1 to 64 of A-Z a-z 0-9 . _ -
func validRequestID(id string) bool {
	if len(id) == 0 || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
