package api

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/api/apitest"
	"limnomap/tiles"
)

// asked sends a GET of path, from 192.0.2.1 through the proxy 10.0.0.1, and returns the answer.
func asked(t *testing.T, h http.Handler, path string, fields ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr = "10.0.0.1:4000"
	r.Header.Set("X-Forwarded-For", "192.0.2.1")
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	return apitest.Serve(t, h, r)
}

func content(t *testing.T, resp *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAdjust(t *testing.T) {
	opts := testOptions(t)
	opts.TileRate = 3
	s := newServer(t, opts, testSource(t))
	spend := func(want int) {
		t.Helper()
		if got := asked(t, s, tileURL).StatusCode; got != want {
			t.Fatalf("a tile: %d, want %d", got, want)
		}
	}
	for range 3 {
		spend(http.StatusOK)
	}
	spend(http.StatusTooManyRequests)

	to := s.common.opts.Adjustable
	to.Attribution = "Another Agency"
	to.AllowedOrigins = []string{"https://maps.example.org"}
	if err := to.FrameAncestors.UnmarshalText([]byte("none")); err != nil {
		t.Fatal(err)
	}
	s.Adjust(to)
	spend(http.StatusTooManyRequests) // a limit whose rate stays keeps what its clients have used
	page := asked(t, s, "/page.json", "Origin", "https://maps.example.org")
	if got := page.Header.Get("Access-Control-Allow-Origin"); got != "https://maps.example.org" {
		t.Errorf("Access-Control-Allow-Origin: %q, want the one origin", got)
	}
	if got := asked(t, s, "/page.json", "Origin", "https://other.example.org").Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("Access-Control-Allow-Origin for another origin: %q, want none", got)
	}
	if body := content(t, page); !strings.Contains(body, `"attribution":"Another Agency"`) || !strings.Contains(body, `"embeddable":false`) {
		t.Errorf("the page's settings are %s, want the new ones", body)
	}
	if csp := asked(t, s, "/embed").Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") {
		t.Errorf("the policy of /embed is %q, want that no site may frame it", csp)
	}

	to.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	s.Adjust(to)
	spend(http.StatusOK) // the address behind the proxy has a full bucket

	to.TileRate = 0
	s.Adjust(to)
	if resp := asked(t, s, tileURL); resp.StatusCode != http.StatusOK || resp.Header.Get("RateLimit") != "" {
		t.Errorf("a tile without a limit: %s, RateLimit %q", resp.Status, resp.Header.Get("RateLimit"))
	}
	to.TileRate = 1
	s.Adjust(to)
	spend(http.StatusOK)
	spend(http.StatusTooManyRequests)
}

func TestAdjustLogRequests(t *testing.T) {
	var lines bytes.Buffer
	opts := testOptions(t)
	opts.Logger, opts.LogRequests = slog.New(slog.NewTextHandler(&lines, nil)), 2
	s := newServer(t, opts, testSource(t))
	admin := s.AdminHandler()
	count := func(h http.Handler) int {
		before := strings.Count(lines.String(), "msg=request")
		for range 5 {
			asked(t, h, "/nowhere")
		}
		return strings.Count(lines.String(), "msg=request") - before
	}
	if got := count(s); got != 2 {
		t.Errorf("%d of 5 requests are logged, want 2", got)
	}
	to := s.common.opts.Adjustable
	to.LogRequests = 0
	s.Adjust(to)
	for name, h := range map[string]http.Handler{"the API": s, "the admin listener": admin} {
		if got := count(h); got != 5 {
			t.Errorf("%d of 5 requests to %s are logged without a bound, want all", got, name)
		}
	}
}

// For the race detector: options change while requests of all kinds are answered. Two goroutines change them at a time; then all
// parts of the server must have the options of one of them.
func TestAdjustConcurrently(t *testing.T) {
	opts := testOptions(t)
	opts.Registry = prometheus.NewRegistry()
	opts.Tiles = &heldTiles{tiles.Tile{Bytes: make([]byte, 4096), ETag: "7e57", Note: new(tiles.Note)}}
	s := newServer(t, opts, testSource(t))
	admin := s.AdminHandler()
	done := make(chan struct{})
	var group sync.WaitGroup
	for _, path := range []string{tileURL, "/page.json", "/api/v1/tiles.json", "/table", "/embed"} {
		group.Go(func() { // until done
			for {
				select {
				case <-done:
					return
				default:
				}
				resp := asked(t, s, path, "Origin", "https://maps.example.org")
				if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusTooManyRequests {
					t.Errorf("%s: %s", path, resp.Status)
					return
				}
				asked(t, admin, "/healthz")
			}
		})
	}
	var all, none FrameAncestors
	if err := none.UnmarshalText([]byte("none")); err != nil {
		t.Fatal(err)
	}
	const origin = "https://maps.example.org"
	for i := range 150 {
		wide := Adjustable{Attribution: "Example Agency", FrameAncestors: all, APIRate: 1e6, TileRate: 1e6, LogRequests: i % 3}
		narrow := Adjustable{
			Attribution: "Example Agency", FrameAncestors: none, AllowedOrigins: []string{origin},
			TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
			APIRate:        1e6, TileRate: 1e6 + 1, LogRequests: i % 3,
		}
		var adjusting sync.WaitGroup
		for _, to := range []Adjustable{wide, narrow} {
			adjusting.Go(func() { s.Adjust(to) })
		}
		adjusting.Wait()
		wantOrigin, wantRate := "*", fmt.Sprint(wide.TileRate)
		if s.common.adjustable().AllowedOrigins != nil {
			wantOrigin, wantRate = origin, fmt.Sprint(narrow.TileRate)
		}
		h := asked(t, s, tileURL, "Origin", origin).Header
		if got, rate := h.Get("Access-Control-Allow-Origin"), h.Get("RateLimit-Policy"); got != wantOrigin || !strings.Contains(rate, "q="+wantRate+";") {
			t.Fatalf("after two Adjust at once: allowed origin %q, limit %q, want %q and %s: those of the same call", got, rate, wantOrigin, wantRate)
		}
	}
	close(done)
	group.Wait()
}
