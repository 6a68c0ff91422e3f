package api

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/data"
)

// NearSamples passes on all observations: those that are not near a sample do not count.
func (f *fakeSource) NearSamples(_ context.Context, _ int, observation func(data.Observation) error) (data.Revision, error) {
	for _, o := range f.observations {
		if err := observation(o); err != nil {
			return data.Revision{}, err
		}
	}
	return f.revision, f.err
}

// accuracySource has 24 samples of a lake, of which a product shows twice as much, and two of another lake.
func accuracySource(t *testing.T) *fakeSource {
	f := testSource(t)
	f.observations = nil
	add := func(lake data.LakeID, n int, factor float64) {
		for k := range n {
			d := date(t, "2025-03-01") + data.Date(14*k)
			chl := 4 + 3*math.Sin(float64(k))
			for _, o := range []data.Observation{
				{Date: d, Type: data.Satellite, Source: "LWQ", Chlorophyll: data.Chlorophyll(100 * factor * chl)},
				{Date: d + 1, Type: data.InSitu, Source: "lab", Chlorophyll: data.Chlorophyll(100 * chl)},
			} {
				o.LakeID, o.Level, o.CellDensity = lake, data.NoLevel, data.NoCellDensity
				f.observations = append(f.observations, o)
			}
		}
	}
	add("de_by_clean", 24, 2)
	add(f.lakes[len(f.lakes)-1].ID, 2, 1)
	f.advisories = []data.Advisory{{ID: "a", LakeID: "de_by_clean", Kind: data.Closure, Cause: data.Cyanobacteria, Issuer: "Amt", Issued: date(t, "2025-04-01").Time(),
		ValidFrom: date(t, "2025-04-01").Time(), ValidUntil: date(t, "2025-04-10").Time()}}
	return f
}

type accuracyAnswer struct {
	By     string
	LakeID string `json:"lake_id"`
	Total  int
	Groups []struct {
		Product, Region, Class, Interval_by string
		LakeID                              string `json:"lake_id"`
		Match_ups, Lakes                    int
		Factor                              float64
		Biased                              bool
		Classes                             []int
	}
	Statements []map[string]any
	Samples    map[string]int
	Match_ups  []map[string]any
}

func accuracyOf(t *testing.T, s *Server, query string) (a accuracyAnswer) {
	t.Helper()
	if err := json.Unmarshal(get(t, s, http.StatusOK, pathAccuracy+query).Body.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAccuracy(t *testing.T) {
	f := accuracySource(t)
	opts := testOptions(t)
	opts.Historian, opts.Comparisons, opts.MatchDays, opts.Registry = f, f, 3, prometheus.NewRegistry()
	s := newServer(t, opts, f)
	a := accuracyOf(t, s, "")
	if a.By != "product" || a.Total != 1 || len(a.Groups) != 1 || a.Groups[0].Product != "LWQ" || a.Groups[0].Match_ups != 26 || a.Groups[0].Lakes != 2 || len(a.Groups[0].Classes) != 9 ||
		a.Samples != nil || a.Match_ups != nil || len(a.Statements) != 2 || a.Statements[0]["hits"] != 1. {
		t.Errorf("the products: %+v", a)
	}
	for by, want := range map[string]int{"region": 1, "class": 2, "lake": 2} {
		if a := accuracyOf(t, s, "?by="+by); a.By != by || len(a.Groups) != want {
			t.Errorf("by %s: %+v, want %d groups", by, a, want)
		}
	}
	a = accuracyOf(t, s, "?lake=de_by_clean")
	if len(a.Groups) != 1 || !a.Groups[0].Biased || math.Abs(a.Groups[0].Factor-2) > 0.01 || a.Groups[0].Interval_by != "lake" || len(a.Match_ups) != 24 || a.Samples["samples"] != 24 ||
		a.Match_ups[0]["satellite_date"] != "2025-03-01" || a.Match_ups[0]["sample_date"] != "2025-03-02" {
		t.Errorf("the lake: %+v", a)
	}
	if a = accuracyOf(t, s, "?lake="+string(f.lakes[1].ID)); len(a.Groups) != 0 || len(a.Statements) != 0 || a.Samples["samples"] != 0 {
		t.Errorf("a lake without samples: %+v", a)
	}
	const sentence = "Of 24 samples here, the satellite showed the class of"
	if body := get(t, s, http.StatusOK, pathLakes+"de_by_clean?lang=en").Body.String(); !strings.Contains(body, sentence) || !strings.Contains(body, "2.0 times those of samples") {
		t.Error("the page of the lake does not say how often the satellite was right")
	}
	get(t, s, http.StatusNotFound, pathAccuracy+"?lake=nowhere")
	get(t, s, http.StatusBadRequest, pathAccuracy+"?by=colour")
	want := `# HELP limnomap_accuracy_biased_lakes Lakes at which the values of a product are biased, by the same test of ten match-ups or more.
# TYPE limnomap_accuracy_biased_lakes gauge
limnomap_accuracy_biased_lakes{product="LWQ"} 1
`
	if err := testutil.GatherAndCompare(opts.Registry, strings.NewReader(want), "limnomap_accuracy_biased_lakes"); err != nil {
		t.Error(err)
	}
}

// An import makes the comparison anew; if that fails, the one before is answered.
func TestAccuracyIsUpdated(t *testing.T) {
	f := accuracySource(t)
	opts := testOptions(t)
	opts.Historian, opts.Comparisons, opts.MatchDays = f, f, 3
	s := newServer(t, opts, f)
	if err := s.UpdateAccuracy(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := s.common.ledgers.newest.Load()
	if err := s.UpdateAccuracy(t.Context()); err != nil || s.common.ledgers.newest.Load() != before {
		t.Errorf("it is made again without a change, %v", err)
	}
	f.observations = f.observations[:4]
	f.revision.Number++
	f.revision.ChangedAt = f.revision.ChangedAt.Add(time.Hour)
	if err := s.Publish(testSnapshot(t, f)); err != nil {
		t.Fatal(err)
	}
	f.err = fmt.Errorf("the disk is full")
	if err := s.UpdateAccuracy(t.Context()); err == nil {
		t.Error("a failure is no error")
	}
	if a := accuracyOf(t, s, ""); a.Groups[0].Match_ups != 26 {
		t.Errorf("after a failure: %+v", a)
	}
	f.err = nil
	if err := s.UpdateAccuracy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := accuracyOf(t, s, ""); a.Groups[0].Match_ups != 2 {
		t.Errorf("after an import: %+v", a)
	}
}

// Forecasts are compared with the passes that came near their day, and a day that has not come is not.
func TestAccuracyOfForecasts(t *testing.T) {
	f := accuracySource(t)
	last := f.observations[0].Date + 14*23 // of the passes, every 14 days
	stored := func(chl float64) data.StoredForecast {
		return data.StoredForecast{Chl: data.TenThousandths(10_000 * chl), Sigma: 5_000}
	}
	passes := map[data.Date]float64{}
	for _, o := range f.observations {
		if o.LakeID == "de_by_clean" && o.Type == data.Satellite {
			passes[o.Date] = o.Chlorophyll.Float()
		}
	}
	for _, issued := range []data.Date{last - 7, last - 14 - 8} { // the newest first: one week ahead is the last pass, or a day before the one before
		issue := fakeIssue{ForecastIssue: data.ForecastIssue{Issued: issued, Model: "limnomap-1", Weeks: data.ForecastWeeks}}
		came := passes[last]
		if issued < last-7 {
			came = passes[last-14]
		}
		issue.lakes = []data.LakeForecast{{LakeID: "de_by_clean", BasedOn: issued, Weeks: [data.ForecastWeeks]data.StoredForecast{stored(came), stored(5), stored(7), stored(9)}}}
		f.issues = append(f.issues, issue)
	}
	opts := testOptions(t)
	opts.Historian, opts.Comparisons, opts.Issues, opts.MatchDays = f, f, f, 3
	s := newServer(t, opts, f)
	l, err := s.common.updateLedger(t.Context(), s.common.current.Load().snap)
	if err != nil {
		t.Fatal(err)
	}
	if one := l.Forecasts[0]; one.Count != 2 || one.Within != 2 || one.Covered != 2 || one.RMSE() > 0.01 || math.Abs(one.Factor()-1) > 0.01 {
		t.Errorf("one week ahead: %+v", one)
	}
	if three := l.Forecasts[2]; three.Count != 1 || l.Forecasts[1].Count != 0 {
		t.Errorf("two and three weeks ahead: %+v, %+v", l.Forecasts[1], three)
	}
	if body := get(t, s, http.StatusOK, pathAccuracy).Body.String(); !strings.Contains(body, `"forecasts":[{"week":1,"forecasts":2,"factor":1,`) {
		t.Errorf("the answer is %s", body)
	}
	if body := get(t, s, http.StatusOK, pathAccuracy+"?lake=de_by_clean").Body.String(); !strings.Contains(body, `"forecasts":[{"week":1,"forecasts":2,"factor":1,`) {
		t.Errorf("of the lake the answer is %s", body)
	}
	if body := get(t, s, http.StatusOK, pathAccuracy+"?lake="+string(f.lakes[1].ID)).Body.String(); !strings.Contains(body, `"forecasts":[]`) {
		t.Errorf("of a lake without forecasts the answer is %s", body)
	}
}
