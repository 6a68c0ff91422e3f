package api

import (
	"math/rand/v2"
	"net/http"
	"strconv"

	"limnomap/api/answer"
)

// requestIDHeader carries the id of a request, in as in out, in the canonical form of net/http.
const requestIDHeader = "X-Request-Id"

// maxRequestID bounds an id that a client or a proxy brings: long enough for a UUID and for W3C trace ids.
const maxRequestID = 64

// withRequestID gives every request an id and says it in the answer: the one it brings, so that a proxy's log and
// ours tell of the same request, or a random one. It is the outermost middleware, because it also makes the record
// that the others share.
func withRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, info := answer.WithInfo(r)
		// Two ids are no id: which of them a proxy logged cannot be known.
		if in := r.Header[requestIDHeader]; len(in) == 1 && validRequestID(in[0]) {
			info.ID[0] = in[0]
		} else {
			info.ID[0] = newRequestID()
		}
		w.Header()[requestIDHeader] = info.ID[:]
		next.ServeHTTP(w, r)
	})
}

// newRequestID returns 64 random bits, enough to tell the requests of a log apart. They grant nothing, so they need not
// be unforeseeable, and the runtime's own generator costs no system call.
func newRequestID() string { return strconv.FormatUint(rand.Uint64(), 36) }

// validRequestID reports whether id may stand in the log and in a header as it is: 1 to 64 of A-Z a-z 0-9 . _ -
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
