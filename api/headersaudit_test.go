package api

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"limnomap/api/answer"
	"limnomap/api/apitest"
	"limnomap/tiles"
)

// Over TLS, the answers of all routes, with all their errors, and of the page's files have the fields of the table of headers in
// docs/security.md, and none reveals the software.
func TestEveryAnswerHasItsHeaders(t *testing.T) {
	opts := testOptions(t)
	opts.HSTS = 365 * 24 * time.Hour
	opts.MetricsKey = true
	opts.APIRate, opts.TileRate, opts.KeyRate = 1_000_000, 1_000_000, 1_000_000
	quick := newServer(t, opts, advisorySource(t))
	opts.Registry = nil
	loading := newServer(t, opts, nil)
	opts.APIRate, opts.TileRate, opts.KeyRate = 1, 1, 1
	stingy := newServer(t, opts, testSource(t))
	opts.Tiles = &fakeTiles{err: tiles.ErrBusy}
	busy := newServer(t, opts, testSource(t))
	opts.Tiles = &fakeTiles{err: errors.New("broken")}
	broken := newServer(t, opts, testSource(t))

	seen := make(map[int]bool)
	ask := func(s *Server, method, target string, header ...string) {
		t.Helper()
		r := httptest.NewRequest(method, target, nil)
		if strings.HasPrefix(target, pathEventStream) { // it does not end while its client is there
			ctx, leave := context.WithTimeout(t.Context(), 10*time.Millisecond)
			defer leave()
			r = r.WithContext(ctx)
		}
		r.TLS = &tls.ConnectionState{}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		seen[w.Code] = true
		wantHeaders(t, method+" "+target+": "+http.StatusText(w.Code), w)
	}
	fill := strings.NewReplacer("{lake_id}", "de_by_clean", "{advisory_id}", "by-2026-17", "{subscription_id}", "none", "{z}", "6", "{x}", "33", "{y}", "21",
		"{part}", "1", "{collection_id}", "lakes", "{feature_id}", "de_by_clean", "{region}", "Bayern", "{tileMatrix}", "6", "{tileRow}", "21", "{tileCol}", "33")
	var targets []string
	for _, route := range quick.handlers.routes(true) {
		target := fill.Replace(route.path)
		if strings.Contains(target, "{") {
			t.Fatalf("the test has no value for a variable of %s", route.path)
		}
		targets = append(targets, target)
	}
	targets = append(targets, "/", "/nowhere", "/api/v1/tiles/99/0/0.png", "/images/marker.png")
	for _, target := range targets {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost} {
			ask(quick, method, target, "X-API-Key", goodKey)
		}
		ask(quick, http.MethodGet, target)                                        // without a key
		ask(quick, http.MethodGet, target, "X-API-Key", metricsKey)               // with a key of another scope
		ask(quick, http.MethodGet, target+"?limit=x&date=never&style=no&q=&lat=") // wrong parameters
		ask(quick, http.MethodGet, target, "If-None-Match", "*", "X-API-Key", goodKey)
		ask(quick, http.MethodGet, target, "If-Match", `"other"`, "X-API-Key", goodKey)
		ask(quick, http.MethodGet, target, "Range", "bytes=9999999-", "X-API-Key", goodKey)
		ask(quick, http.MethodGet, target, "Range", "bytes=0-1", "X-API-Key", goodKey)
		ask(quick, http.MethodGet, target, "Accept-Encoding", "identity;q=0", "X-API-Key", goodKey)
		ask(loading, http.MethodGet, target, "X-API-Key", goodKey)
		ask(busy, http.MethodGet, target, "X-API-Key", goodKey)
		ask(broken, http.MethodGet, target, "X-API-Key", goodKey)
		for range 2 {
			ask(stingy, http.MethodGet, target, "X-API-Key", goodKey)
		}
	}
	for _, status := range []int{200, 204, 206, 304, 400, 401, 403, 404, 405, 406, 412, 416, 429, 500, 503} {
		if !seen[status] {
			t.Errorf("no answer had the status %d", status)
		}
	}
}

// wantHeaders fails the test unless the answer has its fields.
func wantHeaders(t *testing.T, what string, w *httptest.ResponseRecorder) {
	t.Helper()
	h := w.Result().Header
	if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cross-Origin-Resource-Policy") != "cross-origin" || h.Get("X-Request-Id") == "" ||
		h.Get("Strict-Transport-Security") != "max-age=31536000" {
		t.Errorf("%s lacks fields of every answer: %v", what, h)
	}
	for name := range h {
		switch {
		case name == "Server", strings.HasPrefix(name, "X-Powered"), name == "Via", name == "Set-Cookie", name == "Access-Control-Allow-Credentials":
			t.Errorf("%s has %s: %q", what, name, h[name])
		}
	}
	kind := h.Get("Content-Type")
	if w.Code >= 400 && (kind != answer.ProblemType || h.Get("Cache-Control") != "no-store") {
		t.Errorf("%s is %q with Cache-Control %q, want a problem that is not stored", what, kind, h.Get("Cache-Control"))
	}
	if w.Code == http.StatusOK && h.Get("Cache-Control") == "" {
		t.Errorf("%s has no Cache-Control", what)
	}
	// A 304 may be for a picture, and vector tiles are not documents.
	if isPicture(kind) || strings.Contains(kind, "mapbox-vector") {
		if h.Get("Content-Security-Policy")+h.Get("Permissions-Policy")+h.Get("Referrer-Policy") != "" {
			t.Errorf("%s has fields of documents: %v", what, h)
		}
		return
	}
	if w.Code == http.StatusNotModified {
		return
	}
	policy := policyOf(h)
	if _, sandboxed := policy["sandbox"]; sandboxed { // an SVG from outside or with words from outside
		if policy["default-src"] != "'none'" || policy["script-src"] != "" || policy["frame-ancestors"] != "'self'" {
			t.Errorf("%s: Content-Security-Policy %q", what, h.Get("Content-Security-Policy"))
		}
	} else if policy["default-src"] != "'none'" || policy["script-src"] != "'self'" || policy["base-uri"] != "'none'" || strings.Contains(h.Get("Content-Security-Policy"), "unsafe") {
		t.Errorf("%s: Content-Security-Policy %q", what, h.Get("Content-Security-Policy"))
	}
	if h.Get("Referrer-Policy") != "strict-origin-when-cross-origin" || !strings.Contains(h.Get("Permissions-Policy"), "camera=()") || h.Get("Cross-Origin-Opener-Policy") != "same-origin" {
		t.Errorf("%s lacks fields of documents: %v", what, h)
	}
}

func TestAdminHeaders(t *testing.T) {
	h := testServer(t).AdminHandler()
	for _, path := range []string{"/metrics", "/readyz", "/debug/pprof/", "/debug/pprof/cmdline", "/nowhere"} {
		header := apitest.Serve(t, h, httptest.NewRequest("GET", path, nil)).Header
		if header.Get("X-Content-Type-Options") != "nosniff" || policyOf(header)["default-src"] != "'none'" || policyOf(header)["frame-ancestors"] != "'none'" || header.Get("Server") != "" {
			t.Errorf("%s has %v", path, header)
		}
	}
}

// isPicture reports whether a media type is a raster image.
func isPicture(mediaType string) bool {
	return strings.HasPrefix(mediaType, "image/") && mediaType != answer.TypeSVG
}
