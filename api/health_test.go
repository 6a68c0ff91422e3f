package api

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestBeforeTheFirstSnapshot(t *testing.T) {
	s := newServer(t, testOptions(t), nil)
	for _, target := range []string{
		statusURL, statusURL + "?risk=low", "/api/v1/bathing-lakes/geojson", "/api/v1/bathing-lakes/dates",
		historyURL + "de_by_clean", monitorURL, tileURL, tileJSONURL, vectorURL, vectorJSONURL, "/readyz",
	} {
		w := do(s, http.MethodGet, target, "X-API-Key", goodKey)
		wantProblem(t, w, http.StatusServiceUnavailable)
		if w.Header().Get("Retry-After") == "" {
			t.Errorf("503 of %s without Retry-After", target)
		}
	}
	for _, target := range []string{"/", "/page.json", "/healthz", "/openapi.json", "/api/v1/styles", "/api/v1/legend.json", "/metrics"} {
		get(t, s, http.StatusOK, target)
	}
}

func TestReadyz(t *testing.T) {
	var log bytes.Buffer
	opts := testOptions(t)
	opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s := newServer(t, opts, testSource(t))
	body := object(t, get(t, s, http.StatusOK, "/readyz"))
	if body["status"] != "ready" || body["refresh_failed_since"] != nil || body["generated_at"] != "2026-11-19T06:30:00Z" {
		t.Errorf("readyz = %v", body)
	}

	s.SnapshotReloadFailed(errors.New("secret: disk full"))
	w := get(t, s, http.StatusOK, "/readyz") // the previous data stay in service
	if got := object(t, w)["refresh_failed_since"]; got != "2026-11-20T12:00:00Z" {
		t.Errorf("refresh_failed_since = %v", got)
	}
	if strings.Contains(w.Body.String(), "secret") || !strings.Contains(log.String(), "secret: disk full") {
		t.Errorf("only the log may have the reason: %s, %s", w.Body, log.String())
	}
	if got := testutil.ToFloat64(s.health.reloadFailures); got != 1 {
		t.Errorf("failures = %v, want 1", got)
	}

	if err := s.Publish(testSnapshot(t, testSource(t))); err != nil {
		t.Fatal(err)
	}
	if got := object(t, get(t, s, http.StatusOK, "/readyz"))["refresh_failed_since"]; got != nil {
		t.Errorf("refresh_failed_since after a reload that worked = %v, want null", got)
	}
	if err := s.Publish(testSnapshot(t, testSource(t))); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "loading newer data works again"); n != 1 {
		t.Errorf("the log says %d times that loading works again, want once:\n%s", n, &log)
	}

	s.Drain()
	w = do(s, http.MethodGet, "/readyz")
	wantProblem(t, w, http.StatusServiceUnavailable)
	get(t, s, http.StatusOK, statusURL) // requests in flight and late ones are still answered
	get(t, s, http.StatusOK, "/healthz")
}

// Before the first snapshot nothing is said of previous data.
func TestDataCannotBeLoadedYet(t *testing.T) {
	var log bytes.Buffer
	opts := testOptions(t)
	opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	if w := do(s, http.MethodGet, "/readyz"); !strings.Contains(w.Body.String(), "still being loaded") {
		t.Errorf("/readyz before the first try has ended = %s", w.Body)
	}
	s.SnapshotReloadFailed(errors.New("no connection"))
	w := do(s, http.MethodGet, "/readyz")
	wantProblem(t, w, http.StatusServiceUnavailable)
	if body := w.Body.String(); !strings.Contains(body, "cannot be loaded yet") || strings.Contains(body, "no connection") {
		t.Errorf("/readyz after a failed try = %s, want that the data cannot be loaded yet, without the error", body)
	}
	if err := s.Publish(testSnapshot(t, testSource(t))); err != nil {
		t.Fatal(err)
	}
	text := log.String()
	if !strings.Contains(text, "the data cannot be loaded yet") || !strings.Contains(text, "the data are loaded") || strings.Contains(text, "previous") || strings.Contains(text, "again\"") {
		t.Errorf("log:\n%s", text)
	}
}

// /readyz and a metric show the webhooks of the database.
func TestWebhooksInReadiness(t *testing.T) {
	s := testServer(t)
	shown := func() any { return object(t, get(t, s, http.StatusOK, "/readyz"))["webhooks"] }
	if w := shown(); w != nil {
		t.Errorf("before the first report: %v", w)
	}
	s.WebhooksKnown(&Webhooks{Dead: []string{}})
	if w := shown(); w != nil {
		t.Errorf("without webhooks: %v", w)
	}
	s.WebhooksKnown(&Webhooks{Healthy: 2, Failing: 1, Paused: 3, Dead: []string{"a1b2"}})
	answer := get(t, s, http.StatusOK, "/readyz")
	wantDescribed(t, descriptionRouter(t), "/readyz", answer)
	if w, ok := object(t, answer)["webhooks"].(map[string]any); !ok || w["healthy"] != 2.0 || w["failing"] != 1.0 || w["paused"] != 3.0 || fmt.Sprint(w["dead"]) != "[a1b2]" {
		t.Errorf("webhooks are %v", w)
	}
	metrics := get(t, s, http.StatusOK, "/metrics").Body.String()
	for _, want := range []string{`limnomap_webhooks{state="dead"} 1`, `limnomap_webhooks{state="failing"} 1`, `limnomap_webhooks{state="healthy"} 2`, `limnomap_webhooks{state="paused"} 3`} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
}
