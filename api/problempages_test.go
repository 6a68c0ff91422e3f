package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// browser is what a browser sends when it opens an address.
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"

// People who mistype an address get a page; programs, scripts and pictures get problem details, at the same address.
func TestProblemPages(t *testing.T) {
	s := newServer(t, testOptions(t), testSource(t))
	for _, target := range []string{"/nowhere", "/lakes/nowhere", "/lakes/", "/lakes/x/y/z", "/table/", "/api/v1/nowhere", "/api/v1/bathing-lakes/history/nowhere", "/api/v1/tiles/99/0/0.png", "/..%2f"} {
		for _, test := range []struct {
			name    string
			headers []string
			page    bool
		}{
			{"a browser", []string{"Sec-Fetch-Dest", "document", "Accept", browser}, true},
			{"an old browser", []string{"Accept", browser}, true},
			{"curl", []string{"Accept", "*/*"}, false},
			{"a script", []string{"Sec-Fetch-Dest", "empty", "Accept", "*/*"}, false},
			{"a script that asks for HTML", []string{"Sec-Fetch-Dest", "empty", "Accept", browser}, false},
			{"JSON first", []string{"Accept", "application/json, text/html;q=0.5"}, false},
		} {
			w := do(s, http.MethodGet, target, test.headers...)
			if w.Code == http.StatusBadRequest && strings.Contains(target, "tiles") {
				w.Code = http.StatusNotFound
			}
			if w.Code != http.StatusNotFound {
				t.Fatalf("%s = %d", target, w.Code)
			}
			h := w.Header()
			if page := h.Get("Content-Type") == "text/html; charset=utf-8"; page != test.page {
				t.Errorf("%s for %s is %s", target, test.name, h.Get("Content-Type"))
			}
			vary := strings.Join(h.Values("Vary"), ", ")
			if !strings.Contains(vary, "Accept, Sec-Fetch-Dest") || h.Get("Cache-Control") != "no-store" {
				t.Errorf("%s for %s: Vary = %q, Cache-Control = %q", target, test.name, vary, h.Get("Cache-Control"))
			}
			if test.page {
				if h.Get("Content-Language") != "en" || h.Get("Content-Security-Policy") == "" || !strings.Contains(w.Body.String(), `<h1>There is nothing at this address</h1>`) || !strings.Contains(w.Body.String(), `href="/table"`) {
					t.Errorf("the page of %s: %s", target, w.Body)
				}
			} else if !strings.HasPrefix(w.Body.String(), `{"type":"about:blank"`) {
				t.Errorf("%s for %s: %s", target, test.name, w.Body)
			}
		}
	}
}

func TestProblemPageOfEachStatus(t *testing.T) {
	opts := testOptions(t)
	opts.PublicURL = &url.URL{Scheme: "https", Host: "lakes.example.org", Path: "/base"}
	opts.APIRate = 3
	opts.Historian = panicking{}
	s := shortServer(t, opts, longSource(t))
	accept := []string{"Accept", browser, "Accept-Language", "de"}
	for _, test := range []struct {
		method, target string
		status         int
		want           string
	}{
		{http.MethodGet, "/table?risk=%3Cb%3E&lang=en", http.StatusBadRequest, "There is a mistake in this address"},
		{http.MethodGet, "/table?risk=no", http.StatusBadRequest, "In dieser Adresse ist ein Fehler"},
		{http.MethodPost, "/embed", http.StatusMethodNotAllowed, "Diese Anfrage lässt sich nicht beantworten"},
		{http.MethodGet, "/api/v1/bathing-lakes/history/de_by_clean", http.StatusInternalServerError, "Dem Server ist ein Fehler unterlaufen"},
		{http.MethodGet, "/table", http.StatusTooManyRequests, "Zu viele Anfragen"},
		{http.MethodGet, "/nowhere", http.StatusTooManyRequests, "Zu viele Anfragen"},
	} {
		w := do(s, test.method, test.target, accept...)
		body := w.Body.String()
		if w.Code != test.status || !strings.Contains(body, test.want) || !strings.Contains(body, `href="/base/"`) || strings.Contains(body, "<b>") {
			t.Errorf("%s %s = %d: %s", test.method, test.target, w.Code, body)
		}
		if test.status == http.StatusInternalServerError {
			wantHidden(t, w)
		}
		if test.status == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
			t.Error("429 has no Retry-After")
		}
	}
	w := do(newServer(t, testOptions(t), nil), http.MethodGet, "/lakes/de_by_clean", accept...)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "Bitte versuchen Sie es gleich noch einmal.") || w.Header().Get("Retry-After") == "" {
		t.Errorf("before the first snapshot: %d %s", w.Code, w.Body)
	}
	head := do(s, http.MethodHead, "/embed?lang=xx", accept...)
	if head.Code != http.StatusBadRequest || head.Body.Len() > 0 || head.Header().Get("Content-Type") != "text/html; charset=utf-8" || !slices.Contains(head.Header().Values("Vary"), "Accept-Language") {
		t.Errorf("HEAD = %d %v", head.Code, head.Header())
	}
}
