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

// panicking is a Historian that panics.
type panicking struct{}

func (panicking) History(context.Context, data.LakeID, data.HistoryQuery) (data.Lake, []data.Observation, error) {
	panic("secret")
}

func TestHistoryIsNewestFirst(t *testing.T) {
	body := object(t, get(t, testServer(t), http.StatusOK, historyURL+"de_by_clean"))
	want := map[string]any{
		"lake_id": "de_by_clean", "name": "Klarer See", "region": nil, "history": []any{
			map[string]any{"date": "2026-11-23", "chl": 4.0, "who_level": 0.0, "cell_density_cells_ml": 8000.0, "cell_density_by": "derived", "data_type": "ai_forecast",
				"lower": nil, "upper": nil, "probabilities": nil, "model": nil, "issued_at": nil, "based_on": nil},
			map[string]any{"date": "2026-11-16", "chl": 3.45, "who_level": 0.0, "cell_density_cells_ml": 6900.0, "cell_density_by": "derived", "data_type": "satellite"},
			map[string]any{"date": "2026-11-02", "chl": 2.0, "who_level": 0.0, "cell_density_cells_ml": 4000.0, "cell_density_by": "derived", "data_type": "satellite"},
		}, "forecast": nil,
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

// A countingHistorian notes the limit of each query.
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
	historian := &countingHistorian{fakeSource: longSource(t)}
	opts.Historian = historian
	s := shortServer(t, opts, longSource(t))
	for _, query := range []string{"", "?limit=4", "?limit=5200", "?limit=1"} {
		get(t, s, http.StatusOK, historyURL+"de_by_clean"+query)
	}
	if got := fmt.Sprint(historian.limits); got != "[104 4 5200]" {
		t.Errorf("limits = %s, want the default 104, 4 and the maximum, and nothing asked for the newest one", got)
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
	wantProblem(t, do(shortServer(t, opts, longSource(t)), http.MethodGet, historyURL+"de_by_clean"), http.StatusNotFound)
}

func TestAFaultOfTheStoreIsA503ThatOnlyTheLogExplains(t *testing.T) {
	var log bytes.Buffer
	opts := testOptions(t)
	opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	opts.Historian = &fakeSource{err: errors.New("secret: disk full")}
	s := shortServer(t, opts, longSource(t))
	w := do(s, http.MethodGet, historyURL+"de_by_clean")
	wantProblem(t, w, http.StatusServiceUnavailable)
	do(s, http.MethodGet, historyURL+"de_by_clean")
	if w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("Retry-After %q, body %s, want when to ask again and no word on why", w.Header().Get("Retry-After"), w.Body)
	}
	if strings.Count(log.String(), "secret: disk full") != 1 || !strings.Contains(log.String(), w.Header().Get("X-Request-Id")) {
		t.Errorf("the log does not explain the fault once: %s", log.String())
	}
}

func TestAStoreThatTakesTooLongIs503(t *testing.T) {
	opts := testOptions(t)
	opts.Historian = &fakeSource{err: context.DeadlineExceeded}
	w := do(shortServer(t, opts, longSource(t)), http.MethodGet, historyURL+"de_by_clean")
	wantProblem(t, w, http.StatusServiceUnavailable)
	if w.Header().Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
}

func TestHistoryFromMemoryNeedsNoStore(t *testing.T) {
	opts := testOptions(t)
	opts.Historian = &fakeSource{err: errors.New("the store is away")}
	s := newServer(t, opts, testSource(t))
	get(t, s, http.StatusOK, historyURL+"de_by_clean")
	get(t, s, http.StatusOK, historyURL+"de_by_clean.csv")
	short := shortServer(t, opts, longSource(t))
	get(t, short, http.StatusOK, historyURL+"de_by_clean?from=2026-01-01") // within the weeks in memory
	get(t, short, http.StatusServiceUnavailable, historyURL+"de_by_clean.csv?to=2020-01-01")
}

// TestHistoryIsTheSameFromMemoryAndFromTheStore compares a server that holds all weeks with one that holds a week.
func TestHistoryIsTheSameFromMemoryAndFromTheStore(t *testing.T) {
	source := longSource(t)
	opts := testOptions(t)
	historian := &countingHistorian{fakeSource: source}
	opts.Historian = historian
	memory, store := newServer(t, opts, source), shortServer(t, opts, source)
	for _, query := range []string{
		"", "limit=3", "limit=5", "from=2012-05-14", "to=2019-07-01", "from=2012-05-14&to=2013-01-07", "data_type=satellite",
		"data_type=ai_forecast", "data_type=ai_forecast&to=2020-01-01", "from=2014-01-01&to=2014-12-31", "to=2000-01-01",
	} {
		for _, address := range []string{historyURL + "de_by_clean?", historyURL + "de_by_clean.csv?", historyURL + "de_mv_high?"} {
			asked := len(historian.limits)
			want := get(t, memory, http.StatusOK, address+query)
			if len(historian.limits) != asked {
				t.Errorf("%s: a server that holds everything asks the store", address+query)
			}
			got := get(t, store, http.StatusOK, address+query)
			if got.Body.String() != want.Body.String() || got.Header().Get("ETag") != want.Header().Get("ETag") {
				t.Errorf("%s from the store = %s\nfrom memory %s", address+query, got.Body, want.Body)
			}
		}
	}
	if len(historian.limits) == 0 {
		t.Error("nothing came from the store")
	}
}

// datesOf returns the dates and types of a history.
func datesOf(t *testing.T, s http.Handler, query string) string {
	t.Helper()
	var entries []string
	for _, e := range object(t, get(t, s, http.StatusOK, historyURL+"de_by_clean?"+query))["history"].([]any) {
		entry := e.(map[string]any)
		entries = append(entries, fmt.Sprintf("%.10s %.2s", entry["date"], entry["data_type"]))
	}
	return strings.Join(entries, ", ")
}

func TestHistoryParameters(t *testing.T) {
	s := testServer(t)
	for query, want := range map[string]string{
		"from=2026-11-16":                         "2026-11-23 ai, 2026-11-16 sa",
		"to=2026-11-16":                           "2026-11-16 sa, 2026-11-02 sa",
		"from=2026-11-02&to=2026-11-02":           "2026-11-02 sa",
		"from=2026-11-03&to=2026-11-15":           "",
		"data_type=satellite":                     "2026-11-16 sa, 2026-11-02 sa",
		"data_type=ai_forecast":                   "2026-11-23 ai",
		"data_type=satellite&limit=1":             "2026-11-16 sa",
		"from=0000-01-01&to=9999-12-31&data_typ=": "2026-11-23 ai, 2026-11-16 sa, 2026-11-02 sa",
	} {
		if got := datesOf(t, s, query); got != want {
			t.Errorf("history with %s = %q, want %q", query, got, want)
		}
	}
	for query, parameters := range map[string][]string{
		"from=2026-11-17&to=2026-11-16":   {"from"},
		"to=20261116":                     {"to"},
		"data_type=forecast":              {"data_type"},
		"limit=0&from=x&to=y&data_type=z": {"limit", "from", "to", "data_type"},
	} {
		for _, address := range []string{"de_by_clean", "de_by_clean.csv"} {
			wantProblem(t, do(s, http.MethodGet, historyURL+address+"?"+query), http.StatusBadRequest, parameters...)
		}
	}
}
