package api

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"limnomap/api/apitest"
)

func TestMonitorNeedsItsScope(t *testing.T) {
	opts := testOptions(t)
	opts.KeyRate = 10
	s := newServer(t, opts, testSource(t))
	w := do(s, http.MethodGet, monitorURL, "X-API-Key", metricsKey)
	wantProblem(t, w, http.StatusForbidden)
	if !strings.Contains(w.Body.String(), "scope monitor") || strings.Contains(w.Body.String(), metricsKey) {
		t.Errorf("403 = %s, want the name of the scope and not that of the key", w.Body)
	}
	if w.Header().Get("Ratelimit") == "" || w.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("403 has %v, want the limit of the key and no challenge: the key is right", w.Header())
	}
	if !strings.Contains(get(t, s, 200, "/metrics").Body.String(), `limnomap_key_refused_total{reason="scope"} 1`) {
		t.Error("the metric does not count the refused key")
	}
}

func TestMetricsWithAKey(t *testing.T) {
	opts := testOptions(t)
	opts.MetricsKey = true
	keys := testKeys()
	opts.Keys = keys
	c := apitest.NewClock()
	c.Advance(testNow().Sub(c.Now()))
	opts.Now = c.Now
	s := newServer(t, opts, testSource(t))
	for _, tt := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"none", nil, 401},
		{"X-API-Key", []string{"X-API-Key", metricsKey}, 200},
		{"bearer", []string{"Authorization", "Bearer " + metricsKey}, 200},
		{"wrong", []string{"X-API-Key", "wrong"}, 401},
		{"expired", []string{"Authorization", "Bearer " + expiredKey}, 401},
		{"no bearer", []string{"Authorization", "Basic " + metricsKey}, 401},
		{"both, one wrong", []string{"X-API-Key", "wrong", "Authorization", "Bearer " + metricsKey}, 401},
		{"of the monitoring endpoint", []string{"X-API-Key", goodKey}, 403},
	} {
		w := do(s, http.MethodGet, "/metrics", tt.headers...)
		if w.Code != tt.want {
			t.Errorf("%s: status = %d, want %d", tt.name, w.Code, tt.want)
		}
		if strings.Contains(w.Body.String(), "limnomap_lakes") != (tt.want == 200) {
			t.Errorf("%s: %.200s", tt.name, w.Body)
		}
	}
	wantProblem(t, do(s, http.MethodGet, monitorURL, "Authorization", "Bearer "+goodKey), http.StatusUnauthorized)
	if w := do(s, http.MethodOptions, "/metrics"); w.Code != http.StatusNoContent {
		t.Errorf("OPTIONS without a key: status = %d, want 204", w.Code)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		get(t, s, 200, path) // an orchestrator has no key
	}

	// The database fails: operators still get the metrics, and no one gets data.
	keys.err = errors.New("down")
	for range 3 {
		c.Advance(time.Hour)
		if w := do(s, http.MethodGet, "/metrics", "X-API-Key", metricsKey); w.Code != 200 {
			t.Errorf("metrics while the database fails: status = %d, want 200", w.Code)
		}
		if w := do(s, http.MethodGet, monitorURL, "X-API-Key", goodKey); w.Code != 503 {
			t.Errorf("data while the database fails: status = %d, want 503", w.Code)
		}
	}
}
