package api

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data/apikey"
)

// Only the key itself opens anything, whatever else the headers say.
func FuzzKeyHeaders(f *testing.F) {
	for _, seed := range []string{"", "secret", "Secret", " secret", "secret,secret", "Bearer secret", "bearer  secret", "Basic secret", strings.Repeat("x", maxKeyLength+1)} {
		f.Add(seed, seed, seed)
	}
	now := time.Unix(1e9, 0)
	k := newKeyring(&fakeKeys{keys: []apikey.Key{apiKey("agency", "secret")}}, func() time.Time { return now })
	var let bool
	h := k.require(access{scope: apikey.ScopeMonitor, headers: apiKeyOrBearer}, http.HandlerFunc(unauthorized))(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { let = true }))
	f.Fuzz(func(t *testing.T, key, second, authorization string) {
		r := httptest.NewRequest("GET", "/metrics", nil)
		if key != "" {
			r.Header["X-Api-Key"] = []string{key}
		}
		if second != "" {
			r.Header["X-Api-Key"] = append(r.Header["X-Api-Key"], second)
		}
		r.Header["Authorization"] = []string{authorization}
		let = false
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		given := r.Header["X-Api-Key"]
		want := len(given) == 1 && given[0] == "secret" ||
			given == nil && len(authorization) == len("bearer secret") && strings.EqualFold(authorization[:7], "bearer ") && authorization[7:] == "secret"
		if let != want || !let && w.Code != http.StatusUnauthorized {
			t.Fatalf("X-API-Key %q, Authorization %q: let in %v, status %d, want %v", given, authorization, let, w.Code, want)
		}
	})
}

// What becomes a source of a Content-Security-Policy holds nothing that would end it or begin another.
func FuzzBasemapOrigin(f *testing.F) {
	for _, seed := range []string{"https://{s}.tile.example.org/{z}/{x}/{y}.png", "http://[::1]:80/", "https://a;script-src *", "https://u:p@h/", "//h", "https://h h/", "https://%zz/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, template string) {
		source, err := basemapOrigin(template)
		if err == nil && strings.ContainsAny(source, " ;,'\"\r\n\t@") {
			t.Fatalf("basemapOrigin(%q) = %q", template, source)
		}
	})
}

// The language is one of ours, whatever the browser says, and finding it takes no time to speak of.
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

// An id of a request that is taken over into the log and the answer is plain.
func FuzzRequestID(f *testing.F) {
	for _, seed := range []string{"", "abc-123", "a\nb", "ä", strings.Repeat("x", maxRequestID+1), "a b", `"`} {
		f.Add(seed)
	}
	h := withRequestID(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
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
