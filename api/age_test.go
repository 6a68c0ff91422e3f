package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/api/apitest"
	"limnomap/api/middleware"
)

// An answer with data says how long ago they were last confirmed as the newest, and nothing while they are confirmed.
func TestAge(t *testing.T) {
	clock := apitest.NewClock()
	opts := testOptions(t)
	opts.Now = clock.Now
	s := newServer(t, opts, testSource(t))
	versioned := tileURL + "?v=" + s.common.current.Load().state.MapVersion
	age := func(want string, targets ...string) {
		t.Helper()
		for _, target := range targets {
			w := get(t, s, http.StatusOK, target, "X-API-Key", goodKey)
			if got := w.Header().Get("Age"); got != want {
				t.Errorf("Age of %s = %q, want %q", target, got, want)
			}
			if got := w.Header().Get("Warning"); got != "" {
				t.Errorf("%s has a Warning, which RFC 9111 made obsolete: %s", target, got)
			}
		}
	}
	data := []string{
		statusURL, statusURL + "?risk=low", "/api/v1/bathing-lakes/geojson", "/api/v1/bathing-lakes/dates",
		historyURL + "de_by_clean", monitorURL, tileURL, tileURL + "?v=another", tileJSONURL,
		"/api/v1/tiles/vector.json", "/api/v1/tiles/5/17/11.mvt", "/api/v1/bathing-lakes/status.csv", historyURL + "de_by_clean.csv",
		"/api/v1/bathing-lakes/near?lat=48&lon=11", "/api/v1/bathing-lakes/search?q=see", "/api/v1/bathing-lakes/stats?by=risk",
		advisoriesURL, advisoriesURL + "?active_at=any",
	}
	others := []string{
		versioned, "/api/v1/tiles/5/17/11.mvt?v=" + s.common.current.Load().state.VectorVersion,
		"/api/v1/styles", "/api/v1/legend.json", "/openapi.json", "/page.json", "/", "/healthz", "/readyz", "/metrics",
	}
	clock.Advance(time.Hour)
	age("", data...) // no one confirms the data of this server
	s.Confirmed(clock.Now())
	clock.Advance(middleware.StaleAfter - 1)
	age("", data...)
	clock.Advance(1)
	age("5", data...)
	age("", others...)
	clock.Advance(90*time.Second - 1)
	age("94", data...)

	etag := get(t, s, http.StatusOK, tileURL).Header().Get("ETag")
	w := get(t, s, http.StatusNotModified, tileURL, "If-None-Match", etag)
	if got := w.Header().Get("Age"); got != "94" {
		t.Errorf("Age of a 304 = %q, want %q: it is the age of the answer that the client has", got, "94")
	}
	w = do(s, http.MethodGet, historyURL+"unknown")
	wantProblem(t, w, http.StatusNotFound)
	if got := w.Header().Get("Age"); got != "" {
		t.Errorf("Age of a problem = %q, want none", got)
	}

	s.Confirmed(clock.Now().Add(-time.Second))
	age("", data...)
}

func TestStaleness(t *testing.T) {
	const metric = "limnomap_snapshot_stale_seconds"
	clock := apitest.NewClock()
	opts := testOptions(t)
	opts.Now = clock.Now
	s := newServer(t, opts, testSource(t))
	check := func(since any, stale float64) {
		t.Helper()
		body := object(t, get(t, s, http.StatusOK, "/readyz"))
		if body["status"] != "ready" || body["stale_since"] != since {
			t.Errorf("readyz = %v, want it ready and stale since %v", body, since)
		}
		if got, err := testutil.GatherAndCount(s.common.opts.Registry, metric); err != nil || got != 1 {
			t.Fatalf("%d metrics %s, %v, want 1", got, metric, err)
		}
		families, err := s.common.opts.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if got := f.GetMetric()[0].GetGauge().GetValue(); f.GetName() == metric && got != stale {
				t.Errorf("%s = %v, want %v", metric, got, stale)
			}
		}
	}
	s.Confirmed(clock.Now())
	clock.Advance(4 * time.Second)
	check(nil, 4)
	clock.Advance(time.Minute)
	check("2026-07-01T12:00:00Z", 64)
	s.Confirmed(clock.Now())
	check(nil, 0)
}
