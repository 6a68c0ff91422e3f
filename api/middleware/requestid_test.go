package middleware

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"limnomap/api/answer"
	"limnomap/api/apitest"
)

func TestRequestID(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   []string
		keep bool
	}{
		{"none", nil, false},
		{"uuid", []string{"0191c1f4-7c6e-7d0a-8f4e-1a2b3c4d5e6f"}, true},
		{"every kind of character", []string{"aZ09._-"}, true},
		{"longest", []string{strings.Repeat("a", 64)}, true},
		{"too long", []string{strings.Repeat("a", 65)}, false},
		{"empty", []string{""}, false},
		{"space", []string{"a b"}, false},
		{"line feed", []string{"a\nlevel=ERROR"}, false},
		{"not ASCII", []string{"ü"}, false},
		{"two", []string{"a", "b"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var seen string
			h := RequestID(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen = answer.RequestID(r) }))
			r := httptest.NewRequest("GET", "/", nil)
			r.Header["X-Request-Id"] = tt.in
			resp := apitest.Serve(t, h, r)
			if got := resp.Header.Get("X-Request-Id"); got != seen {
				t.Errorf("header %q differs from requestID %q", got, seen)
			}
			if !validRequestID(seen) {
				t.Errorf("id %q is not valid", seen)
			}
			if kept := len(tt.in) == 1 && seen == tt.in[0]; kept != tt.keep {
				t.Errorf("id %q for %q: kept = %t, want %t", seen, tt.in, kept, tt.keep)
			}
		})
	}
}

// The id of a request in the log and the answer has only printable ASCII characters.
func FuzzRequestID(f *testing.F) {
	for _, seed := range []string{"", "abc-123", "a\nb", "ä", strings.Repeat("x", maxRequestID+1), "a b", `"`} {
		f.Add(seed)
	}
	h := RequestID(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	f.Fuzz(func(t *testing.T, id string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header[requestIDHeader] = []string{id}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		got := w.Header().Get(requestIDHeader)
		if got == "" || len(got) > maxRequestID || strings.IndexFunc(got, func(c rune) bool { return c <= ' ' || c > '~' }) >= 0 {
			t.Fatalf("id %q became %q", id, got)
		}
	})
}
