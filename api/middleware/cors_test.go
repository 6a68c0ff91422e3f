package middleware

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"limnomap/api/apitest"
)

// preflight asks, as a browser at origin does, whether it may send a request with these headers.
func preflight(origin, method, headers string) *http.Request {
	r := httptest.NewRequest("OPTIONS", "/api/v1/monitor/lakes", nil)
	r.Header.Set("Origin", origin)
	r.Header.Set("Access-Control-Request-Method", method)
	if headers != "" {
		r.Header.Set("Access-Control-Request-Headers", headers)
	}
	return r
}

func TestPreflight(t *testing.T) {
	own := []string{"https://lakes.example.org"}
	for _, tt := range []struct {
		name, origin, method, headers string
		origins                       []string
		want                          string // Access-Control-Allow-Origin; empty: refused
	}{
		{"any origin", "https://a.example", "GET", "", nil, "*"},
		{"API key", "https://a.example", "GET", "x-api-key", nil, "*"},
		{"conditional range", "https://a.example", "GET", "if-none-match,range", nil, "*"},
		{"any case and order", "https://a.example", "GET", "X-API-Key, If-None-Match,Range", nil, "*"},
		{"any case and order at a listed origin", "https://lakes.example.org", "GET", "X-API-Key,\tif-None-Match", own, "https://lakes.example.org"},
		{"stream that goes on", "https://a.example", "GET", "last-event-id", nil, "*"},
		{"key as a bearer token", "https://a.example", "GET", "authorization", nil, "*"},
		{"trace", "https://lakes.example.org", "GET", "traceparent,tracestate", own, "https://lakes.example.org"},
		{"unknown among known", "https://a.example", "GET", "Range,X-Other", nil, ""},
		{"unknown header", "https://a.example", "GET", "x-other", nil, ""},
		{"write", "https://a.example", "DELETE", "", nil, ""},
		{"listed origin", "https://lakes.example.org", "GET", "", own, "https://lakes.example.org"},
		{"other origin", "https://a.example", "GET", "", own, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp := apitest.Serve(t, CORS(tt.origins)(http.NotFoundHandler()), preflight(tt.origin, tt.method, tt.headers))
			if resp.StatusCode != http.StatusNoContent {
				t.Errorf("status = %d, want 204", resp.StatusCode)
			}
			if got := resp.Header.Get("Access-Control-Allow-Origin"); got != tt.want {
				t.Errorf("Access-Control-Allow-Origin = %q, want %q", got, tt.want)
			}
			if got := resp.Header.Get("Access-Control-Max-Age"); tt.want != "" && got != "7200" {
				t.Errorf("Access-Control-Max-Age = %q, want 7200", got)
			}
		})
	}
}

func TestCORS(t *testing.T) {
	for _, tt := range []struct {
		name, origin string
		origins      []string
		want         string
		vary         bool
	}{
		{"any", "https://a.example", nil, "*", false},
		{"any, by a star", "https://a.example", []string{"*"}, "*", false},
		{"any, without an origin", "", nil, "*", false},
		{"listed", "https://lakes.example.org", []string{"https://lakes.example.org"}, "https://lakes.example.org", true},
		{"not listed", "https://a.example", []string{"https://lakes.example.org"}, "", true},
		// A cache must know, even from an answer to a request without an origin, that others differ.
		{"no origin", "", []string{"https://lakes.example.org"}, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			resp := apitest.Serve(t, CORS(tt.origins)(apitest.OK), r)
			if resp.StatusCode != http.StatusOK {
				t.Errorf("status = %d, want 200", resp.StatusCode)
			}
			if got := resp.Header.Get("Access-Control-Allow-Origin"); got != tt.want {
				t.Errorf("Access-Control-Allow-Origin = %q, want %q", got, tt.want)
			}
			if got := slices.Contains(resp.Header.Values("Vary"), "Origin"); got != tt.vary {
				t.Errorf("Vary has Origin: %t, want %t", got, tt.vary)
			}
			if got := resp.Header.Get("Access-Control-Allow-Credentials"); got != "" {
				t.Errorf("Access-Control-Allow-Credentials = %q, want none", got)
			}
			if tt.want == "" {
				return
			}
			exposed := strings.ToLower(resp.Header.Get("Access-Control-Expose-Headers"))
			for _, name := range []string{"etag", "link", "ratelimit", "ratelimit-policy", "retry-after", "x-data-notice", "x-request-id"} {
				if !slices.Contains(strings.Split(exposed, ", "), name) {
					t.Errorf("Access-Control-Expose-Headers = %q, want %s in it", exposed, name)
				}
			}
		})
	}
}

// A Vary that an outer handler has set is kept.
func TestCORSKeepsVary(t *testing.T) {
	h := CORS(nil)(apitest.OK)
	outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept-Encoding")
		h.ServeHTTP(w, r)
	})
	if got := strings.Join(apitest.Serve(t, outer, httptest.NewRequest("GET", "/", nil)).Header.Values("Vary"), ", "); got != "Accept-Encoding" {
		t.Errorf("Vary = %q, want Accept-Encoding", got)
	}
}

// OPTIONS without an origin is not a preflight: the router answers it with Allow.
func TestPlainOptionsReachesTheRouter(t *testing.T) {
	resp := apitest.Serve(t, CORS(nil)(apitest.OK), httptest.NewRequest("OPTIONS", "/", nil))
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status = %d, want the inner handler's 200", resp.StatusCode)
	}
}
