package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// forecastServer returns a server with forecasts.
func forecastServer(tb testing.TB) *Server {
	tb.Helper()
	source := forecastSource(tb)
	opts := testOptions(tb)
	opts.Historian, opts.Issues = source, source
	return newServer(tb, opts, source)
}

// forecastsIn returns the forecasts of a history, each with some of its members.
func forecastsIn(t *testing.T, h http.Handler, target string) string {
	t.Helper()
	var all []string
	for _, e := range object(t, get(t, h, http.StatusOK, historyURL+target))["history"].([]any) {
		if entry := e.(map[string]any); entry["data_type"] == "ai_forecast" {
			all = append(all, fmt.Sprint(entry["date"], " ", entry["chl"], " ", entry["issued_at"], " ", entry["model"]))
		}
	}
	return strings.Join(all, "; ")
}

func TestHistoryHasItsForecasts(t *testing.T) {
	s := forecastServer(t)
	body := object(t, get(t, s, http.StatusOK, historyURL+"de_mv_high"))
	want := map[string]any{
		"lake_id": "de_mv_high", "name": "Müritz", "region": "Mecklenburg", "history": []any{
			map[string]any{"date": "2026-11-30", "chl": 50.0, "who_level": 2.0, "cell_density_cells_ml": 100000.0, "cell_density_by": "derived", "data_type": "ai_forecast", "source": "limnomap-1",
				"lower": 26.34, "upper": 94.9, "probabilities": map[string]any{"low": 0.0006, "medium": 0.4994, "high": 0.5},
				"model": "limnomap-1", "issued_at": "2026-11-16", "based_on": "2026-11-09"},
			map[string]any{"date": "2026-11-23", "chl": 55.13, "who_level": 2.0, "cell_density_cells_ml": 110260.0, "cell_density_by": "derived", "data_type": "ai_forecast", "source": "limnomap-1",
				"lower": 33.02, "upper": 92.04, "probabilities": map[string]any{"low": 0.0, "medium": 0.4036, "high": 0.5964},
				"model": "limnomap-1", "issued_at": "2026-11-16", "based_on": "2026-11-09"},
			map[string]any{"date": "2026-11-16", "chl": 61.2, "who_level": 2.0, "cell_density_cells_ml": 250000.0, "cell_density_by": "index", "data_type": "satellite"},
		},
		"forecast": map[string]any{"issued_at": "2026-11-16", "model": "limnomap-1", "withheld": nil, "based_on": "2026-11-09", "skill": map[string]any{
			"region": nil, "tested_at": "2026-11-02", "weeks": []any{
				skillOfWeek(1, 25, 0.6, 0.8, 0.79, 4000, 300), skillOfWeek(2, 25, 0.6, 0.8, 0.79, 4000, 300),
				skillOfWeek(3, 25, 0.6, 0.8, 0.79, 4000, 300), skillOfWeek(4, 25, 0.6, 0.8, 0.79, 4000, 300),
			}}},
	}
	if fmt.Sprint(body) != fmt.Sprint(want) {
		t.Errorf("history = %v\nwant      %v", body, want)
	}
}

// skillOfWeek returns the skill of a week as JSON is read.
func skillOfWeek(week, closer, rmse, persistence, coverage, pairs, lakes float64) map[string]any {
	return map[string]any{"week": week, "closer_percent": closer, "rmse": rmse, "persistence": persistence, "coverage": coverage, "pairs": pairs, "lakes": lakes}
}

// The skill is that of the lake's region, also if it is worse than the last value, and the reason is a word.
func TestForecastOfAHistory(t *testing.T) {
	s := forecastServer(t)
	for lake, want := range map[string]string{
		"de_by_clean": "map[based_on:2026-11-16 issued_at:2026-11-16 model:limnomap-1 skill:map[region:Bayern tested_at:2026-11-02 weeks:[" +
			fmt.Sprint(skillOfWeek(1, -10, 0.66, 0.6, 0.75, 250, 20)) + "]] withheld:<nil>]",
		"de_mv_stale": "withheld:old_value]",
		"de_mv_never": "map[based_on:<nil> issued_at:2026-11-16 model:limnomap-1",
		"de_mv_scum":  "withheld:few_values]",
	} {
		if got := fmt.Sprint(object(t, get(t, s, http.StatusOK, historyURL+lake))["forecast"]); !strings.Contains(got, want) {
			t.Errorf("forecast of %s = %s\nwant %s", lake, got, want)
		}
	}
	other := forecastSource(t)
	other.test.Model = "limnomap-0"
	if got := fmt.Sprint(object(t, get(t, newServer(t, testOptions(t), other), http.StatusOK, historyURL+"de_by_clean"))["forecast"]); !strings.Contains(got, "skill:<nil>") {
		t.Errorf("with the test of another model it is %s", got)
	}
}

// The profile decides on the probabilities.
func TestProbabilitiesAreOfTheProfile(t *testing.T) {
	profile, err := data.ProfileByID("who2021")
	if err != nil {
		t.Fatal(err)
	}
	source := forecastSource(t)
	snap, err := snapshot.Load(t.Context(), source, &snapshot.Options{Present: data.ByClock(testNow), Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, testOptions(t), nil)
	if err := s.Publish(snap); err != nil {
		t.Fatal(err)
	}
	entry := object(t, get(t, s, http.StatusOK, historyURL+"de_mv_high?limit=1"))["history"].([]any)[0].(map[string]any)
	if got := fmt.Sprint(entry["probabilities"]); got != "map[high:0.9289 low:0.0022 medium:0.0689]" {
		t.Errorf("probabilities by who2021 = %s", got)
	}
}

// Bounds that came with an imported forecast are the bounds.
func TestBoundsOfAnImportedForecast(t *testing.T) {
	source := testSource(t)
	o := &source.observations[2]
	o.Details.Lower, o.Details.Upper = data.Known[data.Chlorophyll](3_00), data.Known[data.Chlorophyll](6_50)
	opts := testOptions(t)
	opts.Historian = source
	entry := object(t, get(t, newServer(t, opts, source), http.StatusOK, historyURL+"de_by_clean"))["history"].([]any)[0].(map[string]any)
	want := "map[based_on:<nil> cell_density_by:derived cell_density_cells_ml:8000 chl:4 chl_lower:3 chl_upper:6.5 data_type:ai_forecast date:2026-11-23 issued_at:<nil> lower:3 model:<nil> probabilities:<nil> upper:6.5 who_level:0]"
	if got := fmt.Sprint(entry); got != want {
		t.Errorf("the entry is %s\nwant %s", got, want)
	}
}

// An earlier issue replaces the newest one, also on days that have a value by now; imported forecasts stay.
func TestHistoryOfAnIssue(t *testing.T) {
	s := forecastServer(t)
	const imported = "2026-11-23 4 <nil> <nil>"
	for query, want := range map[string]string{
		"": "2026-12-14 5 2026-11-16 limnomap-1; 2026-12-07 4.5 2026-11-16 limnomap-1; 2026-11-30 4 2026-11-16 limnomap-1; " + imported + "; 2026-11-23 3.5 2026-11-16 limnomap-1",
		"issued=2026-11-09": "2026-12-07 5 2026-11-09 limnomap-1; 2026-11-30 4.5 2026-11-09 limnomap-1; " + imported +
			"; 2026-11-23 4 2026-11-09 limnomap-1; 2026-11-16 2.5 2026-11-09 limnomap-1",
		"issued=2026-11-16&limit=2":                               "2026-12-14 5 2026-11-16 limnomap-1; 2026-12-07 4.5 2026-11-16 limnomap-1",
		"issued=2026-11-09&to=2026-11-16":                         "2026-11-16 2.5 2026-11-09 limnomap-1",
		"issued=2026-11-09&data_type=satellite":                   "",
		"issued=2026-11-09&data_type=ai_forecast&from=2026-12-01": "2026-12-07 5 2026-11-09 limnomap-1",
	} {
		if got := forecastsIn(t, s, "de_by_clean?"+query); got != want {
			t.Errorf("with %s the forecasts are %s\nwant %s", query, got, want)
		}
		rows := tableOf(t, get(t, s, http.StatusOK, historyURL+"de_by_clean.csv?"+query).Body.String())
		wantSameCells(t, rows, withLake(recordsOf(t, get(t, s, http.StatusOK, historyURL+"de_by_clean?"+query).Body.Bytes(), "history"), "de_by_clean"))
	}
	got := fmt.Sprint(object(t, get(t, s, http.StatusOK, historyURL+"de_mv_never?issued=2026-11-09"))["forecast"])
	if !strings.HasPrefix(got, "map[based_on:<nil> issued_at:2026-11-09") || !strings.HasSuffix(got, "withheld:few_values]") {
		t.Errorf("the forecast of a lake that had no value is %s", got)
	}
}

// withLake adds the id of a lake to records of its history, as a table has it.
func withLake(records []map[string]any, lake string) []map[string]any {
	for _, r := range records {
		r["lake_id"] = lake
	}
	return records
}

func TestADayWithoutAnIssueIsRefused(t *testing.T) {
	s := forecastServer(t)
	for _, address := range []string{"de_by_clean", "de_by_clean.csv"} {
		for _, day := range []string{"2026-11-10", "2026-11-31", "", "newest"} {
			wantProblem(t, do(s, http.MethodGet, historyURL+address+"?issued="+day), http.StatusBadRequest, "issued")
		}
	}
	if body := do(s, http.MethodGet, historyURL+"de_by_clean?issued=2026-11-10").Body.String(); !strings.Contains(body, "2026-11-10 is no day of issue; there are: 2026-11-16, 2026-11-09") {
		t.Errorf("the problem does not say which issues there are: %s", body)
	}
	wantProblem(t, do(testServer(t), http.MethodGet, historyURL+"de_by_clean?issued=2026-11-10"), http.StatusBadRequest, "issued")
	wantProblem(t, do(s, http.MethodGet, historyURL+"nowhere?issued=2026-11-10"), http.StatusNotFound)

	many := forecastSource(t)
	for range 20 {
		last := many.issues[len(many.issues)-1]
		last.Issued -= 7
		many.issues = append(many.issues, last)
	}
	opts := testOptions(t)
	opts.Issues = many
	if body := do(newServer(t, opts, many), http.MethodGet, historyURL+"de_by_clean?issued=2026-11-10").Body.String(); !strings.Contains(body, "2026-09-14, and 12 more, the oldest 2026-06-22") {
		t.Errorf("the problem is %s", body)
	}
}

func TestAnIssueThatCannotBeReadIs503(t *testing.T) {
	source, opts := forecastSource(t), testOptions(t)
	opts.Issues = &fakeSource{err: errors.New("secret: disk full")}
	s := newServer(t, opts, source)
	get(t, s, http.StatusOK, historyURL+"de_by_clean?issued=2026-11-16") // from memory
	w := do(s, http.MethodGet, historyURL+"de_by_clean?issued=2026-11-09")
	wantProblem(t, w, http.StatusServiceUnavailable)
	if strings.Contains(w.Body.String(), "secret") {
		t.Errorf("the problem says why: %s", w.Body)
	}
}
