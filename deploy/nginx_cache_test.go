//go:build long

package deploy

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

func TestNginxCache(t *testing.T) {
	t.Parallel()
	address := limnomaptest.FreeAddress(t)
	flags := []string{"--listen", address, "--trusted-proxies", "127.0.0.1/32", "--tile-rate", "40"}
	server := limnomaptest.Start(t, flags...)
	nginx := startCachingNginx(t, address)

	first, tile := nginx.want(t, berlin+".png", 200, "MISS")
	second, again := nginx.want(t, berlin+".png", 200, "HIT")
	if etag := first.Header.Get("ETag"); etag == "" || second.Header.Get("ETag") != etag || !bytes.Equal(tile, again) || len(tile) < 1000 {
		t.Errorf("a tile of %d bytes, %s, and one of %d from the cache, %s", len(tile), etag, len(again), second.Header.Get("ETag"))
	}
	for _, name := range []string{"RateLimit", "RateLimit-Policy", "X-Request-Id"} {
		if value := second.Header.Get(name); value != "" {
			t.Errorf("a tile from the cache has another client's %s: %s", name, value)
		}
	}
	if _, body := nginx.want(t, berlin+".png", 304, "HIT", "If-None-Match", first.Header.Get("ETag")); len(body) > 0 {
		t.Error("304 with a body")
	}
	for _, variant := range []string{berlin + "@2x.png", berlin + ".png?style=dots", berlin + ".png?date=" + otherWeek(t, server.Base)} {
		if _, other := nginx.want(t, variant, 200, "MISS"); bytes.Equal(other, tile) {
			t.Errorf("%s is the plain tile", variant)
		}
		nginx.want(t, variant, 200, "HIT")
	}
	for _, cache := range []string{"MISS", "HIT"} {
		if _, same := nginx.want(t, "/ogc/map/tiles/WebMercatorQuad/6/21/34", 200, cache); !bytes.Equal(same, tile) { // row, then column
			t.Error("OGC's address has another tile")
		}
	}
	for _, coding := range []string{"gzip", ""} {
		for _, cache := range []string{"MISS", "HIT"} {
			if resp, _ := nginx.want(t, berlin+".mvt", 200, cache, "Accept-Encoding", cmp.Or(coding, "identity")); resp.Header.Get("Content-Encoding") != coding {
				t.Errorf("%s of a vector tile in %s is in %q", cache, coding, resp.Header.Get("Content-Encoding"))
			}
		}
	}

	t.Run("never kept", func(t *testing.T) { neverKept(t, nginx) })
	t.Run("stale", func(t *testing.T) {
		nginx.later(t, 10*time.Minute) // max-age is five
		nginx.want(t, berlin+".png", 200, "STALE")
		nginx.becomes(t, berlin+".png", "HIT")
		limnomaptest.Within(t, patience, "limnomap logs that the tile is still the same", func() bool { // after nginx has the answer
			return strings.Contains(server.Log.String(), "status=304")
		})
		server.Stop(t)
		nginx.later(t, 40*time.Minute)
		if _, body := nginx.want(t, berlin+".png", 200, "STALE"); !bytes.Equal(body, tile) {
			t.Error("without limnomap the tile is another")
		}
		nginx.later(t, 3*24*time.Hour) // and stale-while-revalidate is a day
		if resp, _ := limnomaptest.Get(t, nginx.base+berlin+".png"); resp.StatusCode != http.StatusBadGateway {
			t.Errorf("after three days without limnomap: %s, want 502", resp.Status)
		}
		limnomaptest.Start(t, flags...)
		nginx.want(t, berlin+".png", 200, "REVALIDATED")
		nginx.want(t, berlin+".png", 200, "HIT")
	})
}

// neverKept requests answers that are only for one client or one time.
func neverKept(t *testing.T, nginx *cachingNginx) {
	key := []string{"X-API-Key", "limnomap-demo-key"}
	for range 2 {
		nginx.want(t, "/api/v1/monitor/lakes", 200, "", key...)
		nginx.want(t, "/api/v1/monitor/lakes", 401, "")
		nginx.want(t, "/api/v1/bathing-lakes/status", 200, "")
		nginx.want(t, "/readyz", 200, "")
		nginx.want(t, berlin+".png?colormap=viridis", 200, "BYPASS", key...)
		nginx.want(t, "/api/v1/tiles/6/64/21.png", 404, "MISS")
		nginx.want(t, berlin+".png?style=none", 400, "MISS")
	}
	nginx.want(t, berlin+".png?colormap=viridis", 200, "MISS")

	// limnomap trusts nginx, so the test can send requests as several clients. One of them exceeds its limit.
	greedy := []string{"X-Forwarded-For", "198.51.100.7"}
	refusedAt := -1
	for x := range 64 {
		resp, _ := limnomaptest.Get(t, fmt.Sprintf("%s/api/v1/tiles/6/%d/5.png", nginx.base, x), greedy...)
		if resp.StatusCode == http.StatusTooManyRequests {
			refusedAt = x
			break
		}
	}
	if refusedAt < 1 {
		t.Fatalf("of 64 tiles with 40 a minute, the first to be refused is %d", refusedAt)
	}
	path := fmt.Sprintf("/api/v1/tiles/6/%d/5.png", refusedAt)
	nginx.want(t, path, 429, "MISS", greedy...)
	nginx.want(t, path, 200, "MISS", "X-Forwarded-For", "198.51.100.8")
	nginx.want(t, path, 200, "HIT", greedy...)
}
