package api

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
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

// For any id the page of a lake is there or is not found, and its bytes are in one language.
func FuzzLakePage(f *testing.F) {
	for _, seed := range []string{"de_by_clean", "de_mv_never", "nowhere", "", "..", "%00", "de_by_clean/", "de_by_clean%2F", "a b", "<script>", strings.Repeat("a", 300)} {
		f.Add(seed)
	}
	s := testServer(f)
	f.Fuzz(func(t *testing.T, id string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path = "/lakes/" + id
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		switch _, known := s.common.current.Load().snap.Index(data.LakeID(id)); {
		case known && w.Code == http.StatusOK:
		case known || w.Code != http.StatusNotFound:
			t.Fatalf("id %q: status %d", id, w.Code)
		}
	})
}
