package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// An answer that tells of the data says how long nobody has known them to be the newest, and nothing while all is well.
func TestAge(t *testing.T) {
	clock := newClock()
	opts := testOptions(t)
	opts.Now = clock.now
	s := newServer(t, opts, testSource(t))
	versioned := tileURL + "?v=" + s.current.Load().version
	age := func(want string, targets ...string) {
		t.Helper()
		for _, target := range targets {
			w := get(t, s, http.StatusOK, target, "X-API-Key", goodKey)
			if got := w.Header().Get("Age"); got != want {
				t.Errorf("Age of %s = %q, want %q", target, got, want)
			}
			if got := w.Header().Get("Warning"); got != "" {
				t.Errorf("%s bears a Warning, which RFC 9111 has made obsolete: %s", target, got)
			}
		}
	}
	data := []string{
		statusURL, statusURL + "?risk=low", "/api/v1/bathing-lakes/geojson", "/api/v1/bathing-lakes/dates",
		historyURL + "de_by_clean", monitorURL, tileURL, tileURL + "?v=another", tileJSONURL,
		"/api/v1/tiles/vector.json", "/api/v1/tiles/5/17/11.mvt", "/api/v1/bathing-lakes/status.csv", historyURL + "de_by_clean.csv",
		"/api/v1/bathing-lakes/near?lat=48&lon=11", "/api/v1/bathing-lakes/search?q=see", "/api/v1/bathing-lakes/stats?by=risk",
	}
	others := []string{
		versioned, "/api/v1/tiles/5/17/11.mvt?v=" + s.current.Load().vectorVersion,
		"/api/v1/styles", "/api/v1/legend.json", "/openapi.json", "/page.json", "/", "/healthz", "/readyz", "/metrics",
	}
	clock.pass(time.Hour)
	age("", data...) // by a server whose data nobody watches
	s.Confirmed(clock.now())
	clock.pass(lateAfter - 1)
	age("", data...)
	clock.pass(1)
	age("5", data...)
	age("", others...)
	clock.pass(90*time.Second - 1)
	age("94", data...)

	etag := get(t, s, http.StatusOK, tileURL).Header().Get("ETag")
	w := get(t, s, http.StatusNotModified, tileURL, "If-None-Match", etag)
	if got := w.Header().Get("Age"); got != "94" {
		t.Errorf("Age of a 304 = %q, want %q: it is the age of what the client has", got, "94")
	}
	w = do(s, http.MethodGet, historyURL+"unknown")
	wantProblem(t, w, http.StatusNotFound)
	if got := w.Header().Get("Age"); got != "" {
		t.Errorf("Age of a problem = %q, want none", got)
	}

	s.Confirmed(clock.now().Add(-time.Second))
	age("", data...)
}

// A problem found after the answer was begun tells of no data.
func TestProblemHasNoAge(t *testing.T) {
	s := testServer(t)
	s.Confirmed(testNow().Add(-time.Minute))
	w := get(t, s, http.StatusRequestedRangeNotSatisfiable, tileURL, "Range", "bytes=99999-")
	if got := w.Header().Get("Age"); got != "" {
		t.Errorf("Age of a problem = %q, want none", got)
	}
}

func TestStaleness(t *testing.T) {
	const metric = "limnomap_snapshot_stale_seconds"
	clock := newClock()
	opts := testOptions(t)
	opts.Now = clock.now
	s := newServer(t, opts, testSource(t))
	check := func(since any, stale float64) {
		t.Helper()
		body := object(t, get(t, s, http.StatusOK, "/readyz"))
		if body["status"] != "ready" || body["stale_since"] != since {
			t.Errorf("readyz = %v, want it ready and stale since %v", body, since)
		}
		if got, err := testutil.GatherAndCount(s.opts.Registry, metric); err != nil || got != 1 {
			t.Fatalf("%d metrics %s, %v, want 1", got, metric, err)
		}
		families, err := s.opts.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if got := f.GetMetric()[0].GetGauge().GetValue(); f.GetName() == metric && got != stale {
				t.Errorf("%s = %v, want %v", metric, got, stale)
			}
		}
	}
	s.Confirmed(clock.now())
	clock.pass(4 * time.Second)
	check(nil, 4)
	clock.pass(time.Minute)
	check("2026-07-01T12:00:00Z", 64)
	s.Confirmed(clock.now())
	check(nil, 0)
}
