package demo

import (
	"errors"
	"slices"
	"testing"

	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/data/forecast/forecaster"
)

// forecastsOf returns the forecasts of an issue.
func forecastsOf(t *testing.T, s *Source, issued data.Optional[data.Date]) (data.ForecastIssue, []data.LakeForecast) {
	t.Helper()
	var all []data.LakeForecast
	issue, _, err := s.Forecasts(t.Context(), issued, func(f data.LakeForecast) error {
		all = append(all, f)
		return f.Check()
	})
	must(t, err)
	return issue, all
}

// The demo's forecasts are those of the program, made of the values up to the day of issue.
func TestForecastsAreTheModels(t *testing.T) {
	s := New(fixed(noon))
	e := s.current()
	for _, before := range []data.Date{0, 1, 17, earlier} {
		origin := passDate(e.newest) - 7*before
		issue, got := forecastsOf(t, s, data.Known(origin))
		var want []data.LakeForecast
		var counts data.ForecastCounts
		var past forecaster.Past
		for i := range e.lakes {
			l := e.readings(i)
			l.Readings = slices.DeleteFunc(l.Readings, func(r data.Reading) bool { return r.Date > origin })
			if len(l.Readings) == 0 {
				continue
			}
			f := forecaster.Forecast(&past, &l, origin, data.ForecastWeeks)
			counts.Add(&f)
			want = append(want, f)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d weeks before the newest pass the forecasts are not those of the model", before)
		}
		if issue.Issued != origin || issue.Model != forecast.Model || issue.Weeks != data.ForecastWeeks || issue.Counts != counts || counts.Lakes < 300 {
			t.Errorf("the issue of %s is %+v, want the counts %+v", origin, issue, counts)
		}
	}
	newest, _ := forecastsOf(t, s, data.Optional[data.Date]{})
	if newest.Issued != passDate(e.newest) {
		t.Errorf("the newest issue is of %s, want the day of the newest pass, %s", newest.Issued, passDate(e.newest))
	}
}

// An issue does not change when later weeks begin.
func TestAnIssueStaysAsItIs(t *testing.T) {
	day := passDate(newestPass(noon))
	_, then := forecastsOf(t, New(fixed(noon)), data.Known(day))
	_, later := forecastsOf(t, New(fixed(noon.AddDate(0, 0, 70))), data.Known(day))
	model := func(r forecast.Reason) forecast.Reason {
		if r == forecast.LastValueBetter {
			return forecast.None
		}
		return r
	}
	same, others := 0, 0
	for i := range min(len(then), len(later)) {
		if then[i].LakeID == later[i].LakeID && then[i].BasedOn == later[i].BasedOn && model(then[i].Withheld) == model(later[i].Withheld) {
			same++
			if then[i].Withheld != later[i].Withheld {
				others++
			}
		}
	}
	// The first ten weeks of the record are gone: the values may differ in the last digits, and whether the last value was better is
	// known of fewer weeks.
	if len(then) != len(later) || same != len(then) || others > len(then)/100 {
		t.Errorf("ten weeks later %d of the %d forecasts have the same last value and reason, but for %d where the last value was better", same, len(then), others)
	}
}

func TestForecastIssues(t *testing.T) {
	s := New(fixed(noon))
	issues, err := s.ForecastIssues(t.Context())
	if err != nil || len(issues) != 1+earlier {
		t.Fatalf("%d issues, %v, want %d", len(issues), err, 1+earlier)
	}
	for i, issue := range issues {
		if want := passDate(newestPass(noon)) - data.Date(7*i); issue.Issued != want {
			t.Errorf("issue %d is of %s, want %s", i, issue.Issued, want)
		}
		stored, f, err := s.LakeForecast(t.Context(), "de_be_grosser_mueggelsee", issue.Issued)
		if err != nil || stored != issue || f.LakeID != "de_be_grosser_mueggelsee" {
			t.Errorf("LakeForecast of %s = %+v, %+v, %v", issue.Issued, stored, f, err)
		}
	}
	for _, day := range []data.Date{issues[0].Issued + 1, issues[0].Issued + 7, issues[earlier].Issued - 7, issues[3].Issued + 3, -1 << 31, 1<<31 - 1} {
		if _, _, err := s.Forecasts(t.Context(), data.Known(day), func(data.LakeForecast) error { return nil }); !errors.Is(err, data.ErrNoForecast) {
			t.Errorf("Forecasts of day %d = %v, want ErrNoForecast", day, err)
		}
		if _, _, err := s.LakeForecast(t.Context(), "de_be_grosser_mueggelsee", day); !errors.Is(err, data.ErrNoForecast) {
			t.Errorf("LakeForecast of day %d = %v, want ErrNoForecast", day, err)
		}
	}
	if _, _, err := s.LakeForecast(t.Context(), "nowhere", issues[0].Issued); !errors.Is(err, data.ErrNoForecast) {
		t.Errorf("LakeForecast of an unknown lake = %v, want ErrNoForecast", err)
	}
	stop := errors.New("enough")
	if _, _, err := s.Forecasts(t.Context(), data.Optional[data.Date]{}, func(data.LakeForecast) error { return stop }); err != stop {
		t.Errorf("Forecasts with a callback that fails = %v, want its error", err)
	}
}

// In all seasons the test of the demo's forecasts says that they are worth showing, in all and in some of the states.
func TestForecastTest(t *testing.T) {
	for months := 0; months < 24; months += 5 {
		s := New(fixed(noon.AddDate(0, months, 0)))
		test, err := s.ForecastTest(t.Context())
		if err != nil || test.Fault != "" || test.Model != forecast.Model || test.Date != data.Known(passDate(s.current().newest)) {
			t.Errorf("%d months later the test is %+v, %v", months, test, err)
		}
		if all, ok := test.SkillOf(forecast.Model, ""); !ok || !all.All || all.Weeks[0].Closer() <= 0 || all.Weeks[3].Closer() < 0.1 {
			t.Errorf("%d months later the skill of all lakes is %+v", months, all)
		}
		if own, ok := test.SkillOf(forecast.Model, "Bayern"); !ok || own.Region != "Bayern" || own.Weeks[0].Lakes < 8 {
			t.Errorf("%d months later the skill in Bayern is %+v", months, own)
		}
		if err := test.Check(); err != nil {
			t.Error(err)
		}
	}
}
