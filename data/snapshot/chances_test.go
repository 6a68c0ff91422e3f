package snapshot_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/data/snapshot"
)

// A forecastMemory is a memory with an issue of the forecast.
type forecastMemory struct {
	memory
	issue data.ForecastIssue
	lakes []data.LakeForecast
}

func (m *forecastMemory) Forecasts(_ context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error) {
	for _, l := range m.lakes {
		if err := each(l); err != nil {
			return data.ForecastIssue{}, data.Revision{}, err
		}
	}
	return m.issue, m.revision, nil
}

func TestChances(t *testing.T) {
	at := func(chl, sigma float64) data.StoredForecast {
		return data.StoreForecast(forecast.Prediction{Mu: math.Log(chl), Sigma: sigma})
	}
	day := data.Date(20_000)
	m := &forecastMemory{issue: data.ForecastIssue{Issued: day, Model: forecast.Model, Weeks: 2}}
	for _, id := range []data.LakeID{"a", "b", "c", "d"} {
		m.memory.lakes = append(m.memory.lakes, data.Lake{ID: id, Name: string(id)})
	}
	m.lakes = []data.LakeForecast{
		{LakeID: "a", BasedOn: day, Weeks: [4]data.StoredForecast{at(10, 0.5), at(2, 0.5)}},
		{LakeID: "b", BasedOn: day - 60, Withheld: forecast.OldValue},
		{LakeID: "c", BasedOn: day, Weeks: [4]data.StoredForecast{at(100, 0.5)}},
		{LakeID: "d", BasedOn: day, Withheld: forecast.LastValueBetter},
	}
	limits := map[string][3]float64{"who2003": {0.5, 0.001, 1}, "uba2015": {0.209, 0, 1}}
	for id, want := range limits {
		profile, err := data.ProfileByID(id)
		if err != nil {
			t.Fatal(err)
		}
		s, err := snapshot.Load(t.Context(), m, archive(&snapshot.Options{Profile: profile}))
		if err != nil {
			t.Fatal(err)
		}
		first, err := s.Chances(1, data.RiskMedium)
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.Chances(2, data.RiskMedium)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := s.Chances(1, data.RiskMedium); again != first || first == second {
			t.Error("the probabilities of a week are not the same pointer, or those of two weeks are")
		}
		if !first.Chances() || s.Current.Values().Chances() {
			t.Error("Chances does not tell probabilities from values")
		}
		for _, test := range []struct {
			v    *snapshot.Values
			lake int
			p    float64
			ok   bool
		}{
			{first, 0, want[0], true}, {second, 0, want[1], true}, {first, 2, want[2], true},
			{first, 1, 0, false}, {second, 2, 0, false}, {first, 3, 0, false}, {s.Current.Values(), 0, 0, false},
		} {
			if p, ok := test.v.Chance(test.lake); ok != test.ok || math.Abs(p-test.p) > 0.001 {
				t.Errorf("%s: Chance(%d) = %v, %v, want %v, %v", id, test.lake, p, ok, test.p, test.ok)
			}
			if c, old := test.v.Of(test.lake); c.Valid() || old || test.v.Mark(test.lake) != snapshot.NoMark {
				t.Errorf("%s: lake %d has a value or a mark", id, test.lake)
			}
		}
		// Lake c, of 100 µg/l, most likely has a high risk: 50 (WHO 2003) or 75 µg/l (uba2015) and more.
		high, err := s.Chances(1, data.RiskHigh)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := s.Chances(1, data.RiskHigh); again != high || high == first {
			t.Error("the probabilities of a high risk are not the same pointer, or are those of a medium one")
		}
		a, _ := high.Chance(0)
		c, ok := high.Chance(2)
		if _, withheld := high.Chance(3); math.Abs(a-map[string]float64{"who2003": 0.0006, "uba2015": 0}[id]) > 0.001 ||
			math.Abs(c-map[string]float64{"who2003": 0.917, "uba2015": 0.717}[id]) > 0.001 || !ok || withheld {
			t.Errorf("%s: the probabilities of a high risk are %v and %v, %v, %v", id, a, c, ok, withheld)
		}
		for _, week := range []int{-1, 0, 3, 5} {
			if _, err := s.Chances(week, data.RiskMedium); !errors.Is(err, data.ErrNoForecast) {
				t.Errorf("Chances(%d) = %v, want %v", week, err, data.ErrNoForecast)
			}
		}
	}
	s, err := snapshot.Load(t.Context(), &m.memory, archive(nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Chances(1, data.RiskMedium); !errors.Is(err, data.ErrNoForecast) {
		t.Errorf("Chances without an issue = %v, want %v", err, data.ErrNoForecast)
	}
}
