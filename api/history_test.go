package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"limnomap/data"
)

const historyURL = "/api/v1/bathing-lakes/history/"

// panicking is a Historian with a fault.
type panicking struct{}

func (panicking) History(context.Context, data.LakeID, data.HistoryQuery) (data.Lake, []data.Observation, error) {
	panic("secret")
}

func TestHistoryIsNewestFirst(t *testing.T) {
	body := object(t, get(t, testServer(t), http.StatusOK, historyURL+"de_by_clean"))
	want := map[string]any{
		"lake_id": "de_by_clean", "name": "Klarer See", "history": []any{
			map[string]any{"date": "2026-11-23", "chl": 4.0, "who_level": 0.0, "cell_density_cells_ml": 8000.0, "data_type": "ai_forecast"},
			map[string]any{"date": "2026-11-16", "chl": 3.45, "who_level": 0.0, "cell_density_cells_ml": 6900.0, "data_type": "satellite"},
			map[string]any{"date": "2026-11-02", "chl": 2.0, "who_level": 0.0, "cell_density_cells_ml": 4000.0, "data_type": "satellite"},
		},
	}
	if fmt.Sprint(body) != fmt.Sprint(want) {
		t.Errorf("history = %v\nwant      %v", body, want)
	}
}

func TestHistoryEntryWithoutAValue(t *testing.T) {
	body := object(t, get(t, testServer(t), http.StatusOK, historyURL+"de_by_medium?limit=1"))
	entries := body["history"].([]any)
	if len(entries) != 1 {
		t.Fatalf("limit=1 gives %d entries", len(entries))
	}
	entry := entries[0].(map[string]any)
	for _, name := range []string{"chl", "who_level", "cell_density_cells_ml"} {
		if value, ok := entry[name]; !ok || value != nil {
			t.Errorf("%s = %v, want null", name, value)
		}
	}
}

func TestHistoryOfALakeWithoutAnyIsEmpty(t *testing.T) {
	body := object(t, get(t, testServer(t), http.StatusOK, historyURL+"de_mv_never"))
	if entries, ok := body["history"].([]any); !ok || len(entries) != 0 {
		t.Errorf("history = %v, want an empty array", body["history"])
	}
}

// A countingHistorian notes the limit of each question.
type countingHistorian struct {
	*fakeSource
	limits []int
}

func (c *countingHistorian) History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	c.limits = append(c.limits, q.Limit)
	return c.fakeSource.History(ctx, id, q)
}

func TestHistoryLimit(t *testing.T) {
	opts := testOptions(t)
	historian := &countingHistorian{fakeSource: testSource(t)}
	opts.Historian = historian
	s := newServer(t, opts, testSource(t))
	for _, query := range []string{"", "?limit=1", "?limit=5200"} {
		get(t, s, http.StatusOK, historyURL+"de_by_clean"+query)
	}
	if got := fmt.Sprint(historian.limits); got != "[104 1 5200]" {
		t.Errorf("limits = %s, want the default 104, 1 and the maximum", got)
	}
	for _, limit := range []string{"0", "-1", "5201", "1.5", "1e2", "", "%2B5", "ten", "99999999999999999999", "1_0", "0x10"} {
		wantProblem(t, do(s, http.MethodGet, historyURL+"de_by_clean?limit="+limit), http.StatusBadRequest, "limit")
	}
	wantProblem(t, do(s, http.MethodGet, historyURL+"de_by_clean?limit=1&limit=2"), http.StatusBadRequest, "limit")
}

func TestHistoryOfAnUnknownLakeIs404AndCostsTheStoreNothing(t *testing.T) {
	opts := testOptions(t)
	historian := &countingHistorian{fakeSource: testSource(t)}
	opts.Historian = historian
	s := newServer(t, opts, testSource(t))
	for _, id := range []string{"nowhere", "de_by_clean%2F", "%00", strings.Repeat("x", 500), "DE_BY_CLEAN"} {
		wantProblem(t, do(s, http.MethodGet, historyURL+id), http.StatusNotFound)
	}
	if len(historian.limits) > 0 {
		t.Errorf("the store was asked %d times", len(historian.limits))
	}
}

func TestHistoryOfALakeThatWasJustRemovedIs404(t *testing.T) {
	opts := testOptions(t)
	opts.Historian = &fakeSource{}
	wantProblem(t, do(newServer(t, opts, testSource(t)), http.MethodGet, historyURL+"de_by_clean"), http.StatusNotFound)
}

func TestAFaultOfTheStoreIsA503ThatOnlyTheLogExplains(t *testing.T) {
	var log bytes.Buffer
	opts := testOptions(t)
	opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	opts.Historian = &fakeSource{err: errors.New("secret: disk full")}
	w := do(newServer(t, opts, testSource(t)), http.MethodGet, historyURL+"de_by_clean")
	wantProblem(t, w, http.StatusServiceUnavailable)
	if w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("Retry-After %q, body %s, want when to ask again and no word on why", w.Header().Get("Retry-After"), w.Body)
	}
	if !strings.Contains(log.String(), "secret: disk full") || !strings.Contains(log.String(), w.Header().Get("X-Request-Id")) {
		t.Errorf("the log does not explain the fault: %s", log.String())
	}
}

func TestAStoreThatTakesTooLongIs503(t *testing.T) {
	opts := testOptions(t)
	opts.Historian = &fakeSource{err: context.DeadlineExceeded}
	w := do(newServer(t, opts, testSource(t)), http.MethodGet, historyURL+"de_by_clean")
	wantProblem(t, w, http.StatusServiceUnavailable)
	if w.Header().Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
}
