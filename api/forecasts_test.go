package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/tiles/admission"
)

const forecastURL = pathForecast

func TestForecastOfAllLakes(t *testing.T) {
	s := forecastServer(t)
	body := object(t, get(t, s, http.StatusOK, forecastURL+"?week=2"))
	if got := fmt.Sprint(body["issue"]); got != "map[issued_at:2026-11-16 lakes:2 model:limnomap-1 target_date:2026-11-30 week:2 weeks:4 withheld:map[few_values:5 last_value_better:0 old_value:1 out_of_season:0]]" {
		t.Errorf("issue = %s", got)
	}
	if body["total_lakes"] != 8.0 || body["lakes_with_forecast"] != 2.0 || body["generated_at"] != "2026-11-19T06:30:00Z" {
		t.Errorf("the envelope is %v of %v lakes at %v", body["lakes_with_forecast"], body["total_lakes"], body["generated_at"])
	}
	if got := fmt.Sprint(body["skill"]); !strings.HasPrefix(got, "map[region:<nil> tested_at:2026-11-02 weeks:[map[closer_percent:25 coverage:0.79") {
		t.Errorf("skill = %s", got)
	}
	want := map[string]string{
		"de_by_clean": "map[based_on:2026-11-16 chl:4 color:" + testColor(t, "de_by_clean", s) + " external_id:Z-1 id:de_by_clean issued_at:2026-11-16 lat:48 lon:11.5 lower:1.85 model:limnomap-1 " +
			"name:Klarer See probabilities:map[high:0 low:0.9366 medium:0.0634] region:Bayern risk:low target_date:2026-11-30 upper:8.63 week:2 who_level:0 withheld:<nil>]",
		"de_mv_stale": "map[based_on:2026-08-03 chl:<nil> color:#9aa0a6 external_id:U-6 id:de_mv_stale issued_at:2026-11-16 lat:53.7 lon:13 lower:<nil> model:limnomap-1 " +
			"name:Wolkensee probabilities:<nil> region:<nil> risk:<nil> target_date:2026-11-30 upper:<nil> week:2 who_level:<nil> withheld:old_value]",
	}
	for _, l := range body["lakes"].([]any) {
		record := l.(map[string]any)
		if w, ok := want[record["id"].(string)]; ok && fmt.Sprint(record) != w {
			t.Errorf("record = %v\nwant     %s", record, w)
		}
		if (record["chl"] == nil) == (record["withheld"] == nil) {
			t.Errorf("%v has the value %v and is withheld for %v, want one of both", record["id"], record["chl"], record["withheld"])
		}
	}
}

// A lake whose last value was the better forecast has no forecast on any surface, and each says why.
func TestForecastWhereTheLastValueWasBetter(t *testing.T) {
	s, _ := tileServer(t)
	f := testIssue(t, 9_0000)
	issue := &f.issues[0]
	issue.Counts = data.ForecastCounts{}
	for i := range issue.lakes {
		if l := &issue.lakes[i]; l.LakeID == "de_mv_high" {
			l.Withheld, l.Weeks = forecast.LastValueBetter, [data.ForecastWeeks]data.StoredForecast{}
		}
		issue.Counts.Add(&issue.lakes[i])
	}
	snap := testSnapshot(t, f)
	if err := s.Publish(snap); err != nil {
		t.Fatal(err)
	}
	body := object(t, get(t, s, http.StatusOK, forecastURL))
	if got := body["issue"].(map[string]any)["withheld"]; fmt.Sprint(got) != "map[few_values:1 last_value_better:1 old_value:0 out_of_season:0]" {
		t.Errorf("of the issue are withheld %v", got)
	}
	for _, l := range body["lakes"].([]any) {
		if record := l.(map[string]any); record["id"] == "de_mv_high" && (record["withheld"] != "last_value_better" || record["chl"] != nil || record["probabilities"] != nil) {
			t.Errorf("record = %v", record)
		}
	}
	for path, want := range map[string]string{".csv": ",last_value_better\r\n", ".geojson": `"withheld":"last_value_better"`} {
		if got := get(t, s, http.StatusOK, strings.Replace(forecastURL, "/forecast", "/forecast"+path, 1)).Body.String(); strings.Count(got, want) != 1 {
			t.Errorf("%s has not once %q: %s", path, want, got)
		}
	}
	history := object(t, get(t, s, http.StatusOK, historyURL+"de_mv_high"))
	if got := history["forecast"].(map[string]any); got["withheld"] != "last_value_better" || strings.Contains(fmt.Sprint(history), "ai_forecast") {
		t.Errorf("the history has the forecast %v in %v", got, history)
	}
	i, ok := snap.Index("de_mv_high")
	if !ok {
		t.Fatal("there is no such lake")
	}
	for _, of := range []data.Risk{data.RiskMedium, data.RiskHigh} {
		chances, err := snap.Chances(1, of)
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := chances.Chance(int(i)); ok {
			t.Errorf("tiles draw the probability %v of the risk %v", p, of)
		}
	}
}

// testColor returns the colour of the forecast of a lake for the second week, which is that of the legend.
func testColor(t *testing.T, lake string, s *Server) string {
	t.Helper()
	l, ok := s.common.current.Load().snap.Index(data.LakeID(lake))
	if !ok {
		t.Fatalf("there is no lake %s", lake)
	}
	f, _ := s.common.current.Load().snap.Forecasts.Of(l)
	return s.common.encoder.color(f.Weeks[1].Chlorophyll())
}

func TestForecastFilters(t *testing.T) {
	s := forecastServer(t)
	all := "de_by_clean de_by_medium de_mv_high de_mv_never de_mv_scum de_mv_stale fj_east fj_west"
	for query, want := range map[string]string{
		"": all, "week=1": all,
		"risk=low":                            "de_by_clean",
		"risk=medium":                         "",
		"risk=high&week=2":                    "de_mv_high", // exactly at the limit
		"risk=high&week=3":                    "",           // out of season
		"min_lat=53&max_lat=53.55":            "de_mv_high de_mv_never",
		"min_lon=179&max_lon=-179":            "fj_east fj_west",
		"min_lat=53&risk=high":                "de_mv_high",
		"min_lat=80":                          "",
		"include_stale=true&date=2020-01-01&": all, // other endpoints' parameters
	} {
		for _, kind := range []string{"", ".csv", ".geojson"} {
			w := get(t, s, http.StatusOK, forecastURL+kind+"?"+query)
			if got := strings.Join(forecastIDs(t, kind, w.Body.String()), " "); got != want {
				t.Errorf("%s with %s has %q, want %q", kind, query, got, want)
			}
		}
	}
	body := object(t, get(t, s, http.StatusOK, forecastURL+"?min_lat=53&week=3"))
	if body["total_lakes"] != 4.0 || body["lakes_with_forecast"] != 0.0 {
		t.Errorf("of %v lakes %v have a forecast, want 0 of 4", body["total_lakes"], body["lakes_with_forecast"])
	}
}

// forecastIDs returns the ids of the lakes in an answer.
func forecastIDs(t *testing.T, kind, text string) (ids []string) {
	t.Helper()
	switch kind {
	case ".csv":
		for _, row := range tableOf(t, text)[1:] {
			ids = append(ids, row[0])
		}
	case ".geojson":
		for _, f := range recordsOf(t, []byte(text), "features") {
			ids = append(ids, f["properties"].(map[string]any)["id"].(string))
		}
	default:
		for _, r := range recordsOf(t, []byte(text), "lakes") {
			ids = append(ids, r["id"].(string))
		}
	}
	return ids
}

// The table and the features have the members of the records.
func TestForecastCSVAndGeoJSONAreTheForecast(t *testing.T) {
	for name, s := range map[string]*Server{"at once": forecastServer(t), "piece by piece": sparingForecastServer(t)} {
		t.Run(name, func(t *testing.T) {
			for _, query := range []string{"", "?week=3", "?week=4&risk=low", "?min_lat=53&issued=2026-11-09"} {
				records := recordsOf(t, get(t, s, http.StatusOK, forecastURL+query).Body.Bytes(), "lakes")
				w := get(t, s, http.StatusOK, forecastURL+".csv"+query)
				wantSameCells(t, tableOf(t, w.Body.String()), records)
				features := recordsOf(t, get(t, s, http.StatusOK, forecastURL+".geojson"+query).Body.Bytes(), "features")
				if len(features) != len(records) {
					t.Fatalf("%d features, want %d", len(features), len(records))
				}
				for i, f := range features {
					properties := f["properties"].(map[string]any)
					for member, value := range records[i] {
						switch member {
						case "lat", "lon":
							point := f["geometry"].(map[string]any)["coordinates"].([]any)
							if fmt.Sprint(point) != fmt.Sprintf("[%v %v]", records[i]["lon"], records[i]["lat"]) {
								t.Errorf("coordinates = %v", point)
							}
						case "probabilities":
							p, _ := value.(map[string]any)
							for _, risk := range []string{"low", "medium", "high"} {
								if properties["probability_"+risk] != p[risk] {
									t.Errorf("probability_%s = %v, want %v", risk, properties["probability_"+risk], p[risk])
								}
							}
						default:
							if properties[member] != value {
								t.Errorf("%s = %v, want %v", member, properties[member], value)
							}
						}
					}
				}
			}
		})
	}
	w := get(t, forecastServer(t), http.StatusOK, forecastURL+".csv?week=3")
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="forecast-2026-11-16-week-3.csv"` {
		t.Errorf("Content-Disposition = %s", got)
	}
}

// sparingForecastServer makes all lists piece by piece.
func sparingForecastServer(tb testing.TB) *Server {
	tb.Helper()
	source, opts := forecastSource(tb), testOptions(tb)
	opts.Historian, opts.Issues = source, source
	opts.sending = answer.Options{HeldItems: 1}
	return newServer(tb, opts, source)
}

func TestForecastParameters(t *testing.T) {
	s := forecastServer(t)
	for query, parameters := range map[string][]string{
		"week=0": {"week"}, "week=5": {"week"}, "week=": {"week"}, "week=1&week=2": {"week"}, "week=1.0": {"week"},
		"risk=none&issued=today&min_lat=x&week=9": {"week", "min_lat", "risk", "issued"},
		"issued=2026-11-10":                       {"issued"},
	} {
		for _, kind := range []string{"", ".csv", ".geojson"} {
			wantProblem(t, do(s, http.MethodGet, forecastURL+kind+"?"+query), http.StatusBadRequest, parameters...)
		}
	}
	short := forecastSource(t)
	short.issues[0].Weeks = 2
	two := newServer(t, testOptions(t), short)
	get(t, two, http.StatusOK, forecastURL+"?week=2")
	if w := do(two, http.MethodGet, forecastURL+"?week=3"); !strings.Contains(w.Body.String(), "of 2026-11-16, has no week 3 ahead, only 1 to 2") {
		t.Errorf("beyond the issue it is %d %s", w.Code, w.Body)
	}
	for _, query := range []string{"", "?issued=2026-11-16"} {
		w := do(testServer(t), http.MethodGet, forecastURL+query)
		wantProblem(t, w, http.StatusNotFound)
		if !strings.Contains(w.Body.String(), "no forecast") {
			t.Errorf("without forecasts it is %s", w.Body)
		}
	}
}

// A countingIssues notes which issues are read, and how many at a time.
type countingIssues struct {
	*fakeSource
	read, reading, together atomic.Int64
}

func (c *countingIssues) Forecasts(ctx context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error) {
	c.read.Add(1)
	if n := c.reading.Add(1); n > c.together.Load() {
		c.together.Store(n)
	}
	defer c.reading.Add(-1)
	return c.fakeSource.Forecasts(ctx, issued, each)
}

// Earlier issues are read one at a time, and the last ones stay in memory until the data change.
func TestEarlierIssuesAreCached(t *testing.T) {
	source := forecastSource(t)
	for len(source.issues) < maxCachedIssues+2 {
		next := source.issues[len(source.issues)-1]
		next.Issued -= 7
		next.lakes = slices.Clone(next.lakes)
		source.issues = append(source.issues, next)
	}
	counting := &countingIssues{fakeSource: source}
	opts := testOptions(t)
	opts.Issues = counting
	s := newServer(t, opts, source)
	ask := func(i int) {
		t.Helper()
		day := source.issues[i].Issued.String()
		body := object(t, get(t, s, http.StatusOK, forecastURL+"?issued="+day))
		if got := body["issue"].(map[string]any)["issued_at"]; got != day {
			t.Errorf("issued=%s has the issue of %v", day, got)
		}
	}
	ask(0)
	if n := counting.read.Load(); n != 0 {
		t.Errorf("the newest issue was read %d times, want it from the snapshot", n)
	}
	done := make(chan struct{})
	for range 20 {
		go func() {
			defer func() { done <- struct{}{} }()
			do(s, http.MethodGet, forecastURL+"?issued=2026-11-09")
		}()
	}
	for range 20 {
		<-done
	}
	for i := 1; i <= maxCachedIssues; i++ {
		ask(i)
		ask(1)
	}
	if n := counting.read.Load(); n != maxCachedIssues || counting.together.Load() != 1 {
		t.Errorf("%d reads, %d at a time, want %d, one after the other", n, counting.together.Load(), maxCachedIssues)
	}
	ask(maxCachedIssues + 1)
	ask(1)
	ask(2) // was dropped
	if n := counting.read.Load(); n != maxCachedIssues+2 {
		t.Errorf("%d reads, want %d", n, maxCachedIssues+2)
	}
	source.revision.Forecasts++
	if err := s.Publish(testSnapshot(t, source)); err != nil {
		t.Fatal(err)
	}
	ask(1)
	if n := counting.read.Load(); n != maxCachedIssues+3 {
		t.Errorf("%d reads after a change of the forecasts, want %d", n, maxCachedIssues+3)
	}
	if used := s.common.opts.Memory.Used(); used != 0 {
		t.Errorf("%d bytes are still held", used)
	}
}

func TestIssuesThatCannotBeReadAre503(t *testing.T) {
	source, opts := forecastSource(t), testOptions(t)
	opts.Issues = &fakeSource{err: errors.New("secret: disk full")}
	s := newServer(t, opts, source)
	get(t, s, http.StatusOK, forecastURL)
	for _, kind := range []string{"", ".csv", ".geojson"} {
		w := do(s, http.MethodGet, forecastURL+kind+"?issued=2026-11-09")
		wantProblem(t, w, http.StatusServiceUnavailable)
		if strings.Contains(w.Body.String(), "secret") || w.Header().Get("Content-Disposition") != "" {
			t.Errorf("the problem is %s", w.Body)
		}
	}
	// A client that asks for more memory than there is gets 503 too.
	opts = testOptions(t)
	opts.Issues, opts.Memory = source, admission.NewBudget(1)
	wantProblem(t, do(newServer(t, opts, source), http.MethodGet, forecastURL+"?issued=2026-11-09"), http.StatusServiceUnavailable)
}

// The forecasts are no part of any other answer than the history: a forecast never changes what is shown as measured.
func TestForecastsChangeNothingElse(t *testing.T) {
	source := forecastSource(t)
	with := newServer(t, testOptions(t), source)
	source.issues, source.test = nil, data.ForecastTest{}
	without := newServer(t, testOptions(t), source)
	for _, target := range []string{statusURL, statusURL + ".csv", pathGeoJSON, "/api/v1/bathing-lakes/stats", "/api/v1/bathing-lakes/dates",
		"/api/v1/bathing-lakes/stats?by=risk", "/api/v1/tiles.json", "/api/v1/bathing-lakes/status?date=2026-11-08", tileURL} {
		a, b := get(t, with, http.StatusOK, target), get(t, without, http.StatusOK, target)
		if a.Body.String() != b.Body.String() {
			t.Errorf("%s is different with forecasts: %s\nwant %s", target, a.Body, b.Body)
		}
	}
}

// A snapshot with other forecasts only is published without making the large answers again.
func TestOtherForecastsArePublishedAtOnce(t *testing.T) {
	source := forecastSource(t)
	s := newServer(t, testOptions(t), source)
	first := s.common.current.Load()
	changed := *first.snap
	changed.Forecasts, changed.Revision.Forecasts = nil, 8
	if err := s.Publish(&changed); err != nil {
		t.Fatal(err)
	}
	now := s.common.current.Load()
	if now.snap != &changed || now.state.Snapshot != &changed || now.lists != first.lists {
		t.Error("other forecasts are not published, or the lists were made again")
	}
	wantProblem(t, do(s, http.MethodGet, forecastURL), http.StatusNotFound)
	source.revision.Number++
	if err := s.Publish(testSnapshot(t, source)); err != nil {
		t.Fatal(err)
	}
	if s.common.current.Load().lists == first.lists {
		t.Error("after an import the lists were not made again")
	}
}
