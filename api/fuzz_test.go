package api

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// For any Accept-Language, the language of the table is one of ours, and is found quickly.
func FuzzAcceptLanguage(f *testing.F) {
	for _, seed := range []string{"", "de-AT,de;q=0.9,en;q=0.1", "*", "x-y-z", strings.Repeat("de,", 1000), "de;q=NaN", "\xff", strings.Repeat("a-", 500)} {
		f.Add(seed)
	}
	s := testServer(f)
	f.Fuzz(func(t *testing.T, accept string) {
		r := httptest.NewRequest("GET", "/table", nil)
		r.Header["Accept-Language"] = []string{accept}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Language"); w.Code != http.StatusOK || !slices.Contains([]string{"de", "en"}, got) {
			t.Fatalf("Accept-Language %q: status %d, Content-Language %q", accept, w.Code, got)
		}
	})
}
