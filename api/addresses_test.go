package api

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"limnomap/api/answer"
)

// addressedPaths are the paths of documents with addresses of this server.
var addressedPaths = []string{
	tileJSONURL, "/api/v1/tiles/vector.json", wmtsURL, "/wmts/1.0.0/WMTSCapabilities.xml", "/ogc/", "/ogc/collections", "/ogc/map/tiles/WebMercatorQuad", "/ogc/tiles",
}

// getAt returns the answer of s to a request with that Host that arrived at the address local.
func getAt(t *testing.T, s http.Handler, local, host string, secure bool, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(local))))
	r.Host = host
	if secure {
		r.TLS = &tls.ConnectionState{}
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("GET %s from %s = %d: %s", target, host, w.Code, w.Body)
	}
	return w
}

// Addresses are absolute if Host is the address to which the client connected, and then only for this client. With any other
// Host they are as without this rule.
func TestAddressesOfTheConnection(t *testing.T) {
	trust := func(prefix string) func(*Options) {
		return func(o *Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(prefix)} }
	}
	forwarded := []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "maps.example.org"}
	for _, test := range []struct {
		name        string
		change      func(*Options)
		local, host string
		secure      bool
		headers     []string
		want        string
		private     bool
	}{
		{"IPv4", nil, "127.0.0.1:8080", "127.0.0.1:8080", false, nil, "http://127.0.0.1:8080", true},
		{"localhost", nil, "127.0.0.1:8080", "localhost:8080", false, nil, "http://localhost:8080", true},
		{"IPv6 with TLS", nil, "[::1]:443", "[::1]", true, nil, "https://[::1]", true},
		{"base path", func(o *Options) { o.BasePath = "/lakes" }, "192.0.2.7:80", "192.0.2.7", false, nil, "http://192.0.2.7/lakes", true},
		{"a network of others is trusted", trust("10.0.0.0/8"), "127.0.0.1:8080", "127.0.0.1:8080", false, nil, "http://127.0.0.1:8080", true},

		{"another Host", nil, "127.0.0.1:8080", "evil.example.org:8080", false, nil, "", false},
		{"another port", nil, "127.0.0.1:8080", "127.0.0.1:9090", false, nil, "", false},
		{"forwarded by a stranger", nil, "127.0.0.1:8080", "127.0.0.1:8080", false, forwarded, "", false},
		{"trusted proxy", trust("192.0.2.0/24"), "127.0.0.1:8080", "127.0.0.1:8080", false, nil, "", false}, // httptest's client
		{"forwarded by a trusted proxy", trust("192.0.2.0/24"), "127.0.0.1:8080", "127.0.0.1:8080", false, forwarded, "https://maps.example.org", false},
		{"public URL", func(o *Options) { o.PublicURL = &url.URL{Scheme: "https", Host: "lakes.example.org"} }, "127.0.0.1:8080", "127.0.0.1:8080", false, nil, "https://lakes.example.org", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			opts := testOptions(t)
			if test.change != nil {
				test.change(&opts)
			}
			s := newServer(t, opts, testSource(t))
			cacheControl := answer.CacheMinute
			if test.private {
				cacheControl = answer.CachePrivate
			}
			for _, path := range addressedPaths {
				w := getAt(t, s, test.local, test.host, test.secure, opts.BasePath+path, test.headers...)
				body := w.Body.String()
				if !strings.Contains(body, `"`+test.want+`/`) {
					t.Errorf("%s has no address that begins with %q: %.300s", path, test.want, body)
				}
				for _, other := range []string{test.host, "maps.example.org"} {
					if !strings.Contains(test.want, other) && strings.Contains(body, other) {
						t.Errorf("%s has addresses with %s, want %q: %.300s", path, other, test.want, body)
					}
				}
				if got := w.Header().Get("Cache-Control"); got != cacheControl {
					t.Errorf("Cache-Control of %s = %q, want %q", path, got, cacheControl)
				}
				if vary, want := strings.Join(w.Header()["Vary"], ", "), len(opts.TrustedProxies) > 0; strings.Contains(vary, "X-Forwarded-Host") != want {
					t.Errorf("Vary of %s = %q, want X-Forwarded-Host in it: %t", path, vary, want)
				}
			}
			template := struct{ Tiles []string }{}
			if err := json.Unmarshal(getAt(t, s, test.local, test.host, test.secure, opts.BasePath+tileJSONURL, test.headers...).Body.Bytes(), &template); err != nil {
				t.Fatal(err)
			}
			if want := test.want + "/api/v1/tiles/{z}/{x}/{y}.png?v="; len(template.Tiles) != 1 || !strings.HasPrefix(template.Tiles[0], want) {
				t.Errorf("tiles = %q, want %q…", template.Tiles, want)
			}
		})
	}
}

// The two forms of a document have different ETags, and the kept capabilities are not sent to others.
func TestAddressesOfTheConnectionAreForOneClient(t *testing.T) {
	s := testServer(t)
	const here = "127.0.0.1:8080"
	for _, path := range addressedPaths {
		before := getAt(t, s, here, "lakes.example.org", false, path)
		own := getAt(t, s, here, here, false, path)
		after := getAt(t, s, here, "lakes.example.org", false, path)
		if after.Body.String() != before.Body.String() || strings.Contains(after.Body.String(), here) {
			t.Errorf("%s for another Host changes after a request for %s", path, here)
		}
		if own.Header().Get("Etag") == before.Header().Get("Etag") {
			t.Errorf("%s with and without absolute addresses has one ETag", path)
		}
		again := do(s, http.MethodGet, path, "If-None-Match", own.Header().Get("Etag"))
		if again.Code != http.StatusOK {
			t.Errorf("%s for another Host with the ETag of %s = %d, want 200", path, here, again.Code)
		}
	}
}
