package api

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestSecurityHeaders(t *testing.T) {
	resp := serve(t, securityHeaders("https://tile.openstreetmap.org")(okHandler), httptest.NewRequest("GET", "/", nil))
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

func TestSecurityHeadersWithoutBasemap(t *testing.T) {
	csp := serve(t, securityHeaders("")(okHandler), httptest.NewRequest("GET", "/", nil)).Header.Get("Content-Security-Policy")
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
