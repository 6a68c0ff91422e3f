package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSecurityHeaders(t *testing.T) {
	resp := serve(t, securityHeaders("https://tile.openstreetmap.org", FrameAncestors{}, 0)(okHandler), httptest.NewRequest("GET", "/", nil))
	for name, want := range map[string]string{
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "strict-origin-when-cross-origin",
		"Cross-Origin-Resource-Policy": "cross-origin",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if got := resp.Header.Get("Permissions-Policy"); !strings.Contains(got, "geolocation=(self)") {
		t.Errorf("Permissions-Policy = %q, want geolocation for the page itself", got)
	}
	directives := map[string]string{}
	for d := range strings.SplitSeq(resp.Header.Get("Content-Security-Policy"), "; ") {
		name, sources, _ := strings.Cut(d, " ")
		directives[name] = sources
	}
	for name, want := range map[string]string{
		"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
		"img-src":  "'self' data: blob: https://tile.openstreetmap.org",
		"base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'self'",
	} {
		if got := directives[name]; got != want {
			t.Errorf("Content-Security-Policy: %s = %q, want %q", name, got, want)
		}
	}
}

// Whatever a browser may show as a document bears the rules for documents, problems at the address of a picture and
// answers without a body included. Pictures and vector tiles bear the other two.
func TestSecurityHeadersByKindOfAnswer(t *testing.T) {
	s := testServer(t)
	pictures := map[string]bool{tileURL: true, vectorURL: true, "/api/v1/legend.png": true, "/images/marker.png": true,
		wmtsTileURL: true, ogcTileURL: true, ogcVectorURL: true}
	targets := append(cachedTargets(), "/images/marker.png", "/metrics", "/nowhere", tileURL+"?style=none", "/api/v1/tiles/6/64/0.png")
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost} {
		for _, target := range targets {
			w := do(s, method, target, "X-API-Key", goodKey)
			picture := pictures[target] && (method == http.MethodGet || method == http.MethodHead)
			wantSecurity(t, method+" "+target, w.Header(), picture)
			if etag := w.Header().Get("ETag"); etag != "" {
				w = do(s, method, target, "X-API-Key", goodKey, "If-None-Match", etag)
				wantSecurity(t, "not modified: "+target, w.Header(), picture)
				w = do(s, method, target, "X-API-Key", goodKey, "If-Match", `"other"`)
				wantSecurity(t, "precondition failed: "+target, w.Header(), false)
			}
		}
	}
}

func wantSecurity(t *testing.T, what string, h http.Header, picture bool) {
	t.Helper()
	for _, name := range []string{"X-Content-Type-Options", "Cross-Origin-Resource-Policy"} {
		if h.Get(name) == "" {
			t.Errorf("%s lacks %s", what, name)
		}
	}
	for _, name := range []string{"Content-Security-Policy", "Permissions-Policy", "Referrer-Policy"} {
		if got := h.Get(name); got == "" != picture {
			t.Errorf("%s: %s = %q, want one: %t", what, name, got, !picture)
		}
	}
}

// What net/http answers for a handler that writes nothing is an answer too.
func TestSecurityHeadersOfASilentHandler(t *testing.T) {
	silent := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	resp := serve(t, securityHeaders("", FrameAncestors{}, 0)(silent), httptest.NewRequest("GET", "/", nil))
	wantSecurity(t, "an empty answer", resp.Header, false)
}

func TestSecurityHeadersWithoutBasemap(t *testing.T) {
	csp := serve(t, securityHeaders("", FrameAncestors{}, 0)(okHandler), httptest.NewRequest("GET", "/", nil)).Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "img-src 'self' data: blob:; ") {
		t.Errorf("Content-Security-Policy = %q, want images from nowhere else", csp)
	}
}

func TestBasemapOrigin(t *testing.T) {
	for _, tt := range []struct {
		template, want string
		ok             bool
	}{
		{"", "", true},
		{"https://tile.openstreetmap.org/{z}/{x}/{y}.png", "https://tile.openstreetmap.org", true},
		{"https://{s}.tile.example.org/{z}/{x}/{y}{r}.png?key=1", "https://*.tile.example.org", true},
		{"http://localhost:8081/{z}/{x}/{y}.png", "http://localhost:8081", true},
		{"https://Tile.Example.ORG/{z}", "https://tile.example.org", true},
		{"/tiles/{z}/{x}/{y}.png", "", false},
		{"ftp://tile.example.org/{z}", "", false},
		{"https://user:pass@tile.example.org/{z}", "", false},
		{"https://tile.example.org;script-src/{z}", "", false},
		{"https://tile.example.org script-src/{z}", "", false},
		{"https://*/{z}", "", false},
		{"https://a.{s}.example.org/{z}", "", false},
		{"https:///{z}", "", false},
		{"https://%zz/{z}", "", false},
	} {
		got, err := basemapOrigin(tt.template)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("basemapOrigin(%q) = %q, %v, want %q, ok %t", tt.template, got, err, tt.want, tt.ok)
		}
		if err != nil && !strings.Contains(err.Error(), "allowed is") {
			t.Errorf("basemapOrigin(%q): error %q does not say what is allowed", tt.template, err)
		}
	}
}
