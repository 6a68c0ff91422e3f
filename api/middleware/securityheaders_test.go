package middleware

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"limnomap/api/apitest"
)

func TestSecurityHeaders(t *testing.T) {
	resp := apitest.Serve(t, SecurityHeaders([]string{"https://tile.openstreetmap.org", "https://*.labels.example.org"}, FrameAncestors{}, 0)(apitest.OK), httptest.NewRequest("GET", "/", nil))
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
		"img-src":  "'self' data: blob: https://tile.openstreetmap.org https://*.labels.example.org",
		"base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'self'",
	} {
		if got := directives[name]; got != want {
			t.Errorf("Content-Security-Policy: %s = %q, want %q", name, got, want)
		}
	}
}

// A handler that writes nothing gets the header fields too.
func TestSecurityHeadersOfASilentHandler(t *testing.T) {
	silent := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	resp := apitest.Serve(t, SecurityHeaders(nil, FrameAncestors{}, 0)(silent), httptest.NewRequest("GET", "/", nil))
	for _, name := range []string{"X-Content-Type-Options", "Cross-Origin-Resource-Policy", "Content-Security-Policy", "Permissions-Policy", "Referrer-Policy"} {
		if resp.Header.Get(name) == "" {
			t.Errorf("an empty answer lacks %s", name)
		}
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
		got, err := BasemapOrigin(tt.template)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("BasemapOrigin(%q) = %q, %v, want %q, ok %t", tt.template, got, err, tt.want, tt.ok)
		}
		if err != nil && !strings.Contains(err.Error(), "want ") {
			t.Errorf("BasemapOrigin(%q): error %q does not name the allowed form", tt.template, err)
		}
	}
}

// HSTS is sent only over TLS, and only if the operator asks for it.
func TestHSTS(t *testing.T) {
	for _, tt := range []struct {
		hsts time.Duration
		tls  *tls.ConnectionState
		want string
	}{{0, &tls.ConnectionState{}, ""}, {time.Hour, nil, ""}, {time.Hour, &tls.ConnectionState{}, "max-age=3600"}} {
		r := httptest.NewRequest("GET", "/", nil)
		r.TLS = tt.tls
		if got := apitest.Serve(t, SecurityHeaders(nil, FrameAncestors{}, tt.hsts)(apitest.OK), r).Header.Get("Strict-Transport-Security"); got != tt.want {
			t.Errorf("HSTS of %v with TLS %v: %q, want %q", tt.hsts, tt.tls != nil, got, tt.want)
		}
	}
}

// A source for a Content-Security-Policy has no character that would end it or start another.
func FuzzBasemapOrigin(f *testing.F) {
	for _, seed := range []string{"https://{s}.tile.example.org/{z}/{x}/{y}.png", "http://[::1]:80/", "https://a;script-src *", "https://u:p@h/", "//h", "https://h h/", "https://%zz/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, template string) {
		source, err := BasemapOrigin(template)
		if err == nil && strings.ContainsAny(source, " ;,'\"\r\n\t@") {
			t.Fatalf("BasemapOrigin(%q) = %q", template, source)
		}
	})
}
