package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/data/snapshot"

	"pgregory.net/rapid"
)

// An issuing is a source with forecasts that changes over time by a script.
type issuing struct {
	scripted
	issues      []data.ForecastIssue // the newest first
	forecasts   []data.LakeForecast  // of each issue
	test        data.ForecastTest
	forecastErr error
}

func (s *issuing) Forecasts(_ context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error) {
	if s.forecastErr != nil {
		return data.ForecastIssue{}, data.Revision{}, s.forecastErr
	}
	for _, issue := range s.issues {
		if issued.Known && issue.Issued != issued.Value {
			continue
		}
		for _, f := range s.forecasts {
			if err := each(f); err != nil {
				return data.ForecastIssue{}, data.Revision{}, err
			}
		}
		return issue, s.revision, nil
	}
	return data.ForecastIssue{}, s.revision, data.ErrNoForecast
}

func (s *issuing) ForecastTest(context.Context) (data.ForecastTest, error) { return s.test, nil }

// stored returns a forecast of a median in µg/l.
func stored(chl, sigma float64) data.StoredForecast {
	return data.StoredForecast{Chl: data.TenThousandths(math.Round(chl * 1e4)), Sigma: data.TenThousandths(math.Round(sigma * 1e4))}
}

// issueDay is the day of issue of the tests.
const issueDay data.Date = 20_000

// withForecasts returns a source with three lakes, of which the second has no value and the first has other observations, too.
func withForecasts(observations ...data.Observation) *issuing {
	s := &issuing{
		issues: []data.ForecastIssue{{Issued: issueDay, Model: "limnomap-1", Weeks: 4}},
		forecasts: []data.LakeForecast{
			{LakeID: "a", BasedOn: issueDay - 3, Weeks: [data.ForecastWeeks]data.StoredForecast{stored(5, 0.5), stored(6, 0.6), stored(7, 0.7)}},
			{LakeID: "c", BasedOn: issueDay - 50, Withheld: forecast.OldValue},
		},
		test: data.ForecastTest{Model: "limnomap-1", Date: data.Known[data.Date](issueDay)},
	}
	s.memory = memory{revision: data.Revision{Number: 1, Forecasts: 5}, lakes: lakes("a", "b", "c"), observations: observations}
	return s
}

// row returns an observation of lake a, some weeks after the day of issue.
func row(weeks int, kind data.DataType, chl float64) data.Observation {
	c, err := data.ChlorophyllOf(chl)
	if err != nil {
		c = data.NoChlorophyll
	}
	return data.Observation{LakeID: "a", Date: issueDay + data.Date(7*weeks), Type: kind, Chlorophyll: c, Level: data.NoLevel, CellDensity: data.NoCellDensity}
}

// entries describes a history.
func entries(history []data.Observation) string {
	var all []string
	for _, o := range history {
		text := fmt.Sprintf("%d %.3s %v", (o.Date-issueDay)/7, o.Type, o.Chlorophyll)
		if o.Forecast.Known() {
			text += fmt.Sprintf(" own of %d by %s", o.Forecast.Issued-issueDay, o.Source)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestAddForecasts(t *testing.T) {
	poor := row(3, data.InSitu, 9)
	poor.Quality = data.Poor
	src := withForecasts(row(-1, data.Satellite, 4), row(1, data.Satellite, -1), row(1, data.Forecast, 20), row(2, data.InSitu, 8), poor)
	snap, err := snapshot.Load(t.Context(), src, &snapshot.Options{Present: data.ByClock(data.Date(issueDay).Time)})
	if err != nil {
		t.Fatal(err)
	}
	const own1, own3 = "1 ai_ 5 own of 0 by limnomap-1", "3 ai_ 7 own of 0 by limnomap-1"
	for _, test := range []struct {
		name  string
		query data.HistoryQuery
		want  string
	}{
		// That of the second week is replaced by the sample of its day, those of the days of a gap and of a poor value are not.
		{"all", data.Newest(10), "3 in_ 9, " + own3 + ", 2 in_ 8, 1 sat null, 1 ai_ 20, " + own1 + ", -1 sat 4"},
		{"limit", data.Newest(2), "3 in_ 9, " + own3},
		{"none", data.Newest(0), ""},
		{"less than none", data.Newest(-1), ""},
		{"forecasts", data.HistoryQuery{Period: data.AllTime(), Types: data.TypesOf(data.Forecast), Limit: 10}, own3 + ", 1 ai_ 20, " + own1},
		{"samples", data.HistoryQuery{Period: data.AllTime(), Types: data.TypesOf(data.InSitu), Limit: 10}, "3 in_ 9, 2 in_ 8"},
		{"a week", data.HistoryQuery{Period: data.Period{First: issueDay + 7, Last: issueDay + 7}, Limit: 10}, "1 sat null, 1 ai_ 20, " + own1},
	} {
		history, _ := snap.History(0, test.query)
		before := slices.Clone(history)
		if got := entries(snap.AddForecasts(0, test.query, history)); got != test.want {
			t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
		}
		if !slices.Equal(history, before) {
			t.Errorf("%s: the history itself was changed", test.name)
		}
	}
	l, _ := snap.Forecasts.Of(0)
	l.LakeID = "a"
	history, _ := snap.History(0, data.Newest(10))
	issue := snap.Forecasts.Issue
	if got := entries(issue.AddForecasts(&l, data.Newest(3), history)); got != "3 in_ 9, "+own3+", 2 in_ 8" {
		t.Errorf("an issue asked for by name gives %s", got)
	}
	if got := entries(issue.AddForecasts(&l, data.Newest(4), history)); !strings.HasSuffix(got, "2 in_ 8, 2 ai_ 6 own of 0 by limnomap-1") {
		t.Errorf("an issue asked for by name gives %s, want its forecast beside the sample too", got)
	}
	for i, want := range map[int]bool{0: true, 1: false, 2: false} {
		if got := snap.AddForecasts(i, data.Newest(10), nil); (len(got) > 0) != want {
			t.Errorf("lake %d has the forecasts %s", i, entries(got))
		}
	}
	src.issues = nil
	if got := entries(load(t, src, nil).AddForecasts(0, data.Newest(1), history)); got != entries(history) {
		t.Errorf("without forecasts it is %s, want the history itself", got)
	}
	// Two weeks later the first day is over.
	later := snap.At(data.At(data.Date(issueDay + 14).Time()))
	if got := entries(later.AddForecasts(0, data.Newest(10), nil)); got != own3 || later.ForecastWeeksOver() != 1 {
		t.Errorf("after two weeks: %s, %d weeks are over; want %s and 1", got, later.ForecastWeeksOver(), own3)
	}
}

func TestForecastsOfASnapshot(t *testing.T) {
	src := withForecasts(row(-1, data.Satellite, 4))
	snap := load(t, src, nil)
	if f, ok := snap.Forecasts.Of(0); !ok || f.Weeks[1] != stored(6, 0.6) || f.BasedOn != issueDay-3 || f.WithheldIn(1) != forecast.None || f.WithheldIn(4) != forecast.OutOfSeason {
		t.Errorf("the forecast of a is %+v, %v", f, ok)
	}
	if f, ok := snap.Forecasts.Of(1); ok || f.WithheldIn(1) != forecast.FewValues {
		t.Errorf("the forecast of b is %+v, %v, want none for lack of values", f, ok)
	}
	if f, ok := snap.Forecasts.Of(2); !ok || f.WithheldIn(2) != forecast.OldValue {
		t.Errorf("the forecast of c is %+v, %v", f, ok)
	}
	if snap.Revision.Forecasts != 5 || snap.ForecastTest.Model != "limnomap-1" {
		t.Errorf("revision %+v, test %+v", snap.Revision, snap.ForecastTest)
	}
	// Lakes that were added since the load are passed over.
	src.forecasts = slices.Insert(slices.Clone(src.forecasts), 1, data.LakeForecast{LakeID: "aa", BasedOn: 3, Withheld: forecast.FewValues})
	src.forecasts = append(src.forecasts, data.LakeForecast{LakeID: "d", BasedOn: 3, Withheld: forecast.FewValues})
	again, _, err := snap.ReadForecasts(t.Context(), src, data.Known[data.Date](issueDay))
	if err != nil || again.Version != snap.Forecasts.Version {
		t.Errorf("with later lakes: %v, version %s, want %s", err, again.Version, snap.Forecasts.Version)
	}
	if f, ok := again.Of(2); !ok || f.Withheld != forecast.OldValue {
		t.Errorf("with later lakes the forecast of c is %+v", f)
	}
	if _, _, err := snap.ReadForecasts(t.Context(), src, data.Known[data.Date](issueDay-7)); !errors.Is(err, data.ErrNoForecast) {
		t.Errorf("of a day without an issue: %v, want ErrNoForecast", err)
	}
	// Each number is part of the version of the forecasts, and none of that of the snapshot.
	for name, change := range map[string]func(*issuing){
		"issue": func(s *issuing) { s.issues[0].Issued++ },
		"model": func(s *issuing) { s.issues[0].Model = "limnomap-2" },
		"value": func(s *issuing) { s.forecasts[0].Weeks[2].Sigma++ },
		"why":   func(s *issuing) { s.forecasts[1].Withheld = forecast.FewValues },
		"based": func(s *issuing) { s.forecasts[1].BasedOn++ },
		"lake":  func(s *issuing) { s.forecasts = s.forecasts[:1] },
	} {
		other := withForecasts(row(-1, data.Satellite, 4))
		change(other)
		o := load(t, other, nil)
		if o.Forecasts.Version == snap.Forecasts.Version || o.Version != snap.Version {
			t.Errorf("%s: forecasts %s, was %s; snapshot %s, was %s", name, o.Forecasts.Version, snap.Forecasts.Version, o.Version, snap.Version)
		}
	}
}

// What no program of limnomap would have stored is an error that names it.
func TestInvalidForecastsAreRefused(t *testing.T) {
	for want, change := range map[string]func(*issuing){
		`forecast of lake "a": forecast of week 2`:           func(s *issuing) { s.forecasts[0].Weeks[1].Chl = -1 },
		`with the standard deviation 0:`:                     func(s *issuing) { s.forecasts[0].Weeks[0].Sigma = 0 },
		`forecast of week 1: 1500.0001`:                      func(s *issuing) { s.forecasts[0].Weeks[0].Chl = 1500_0001 },
		`forecast of lake "c": reason 9`:                     func(s *issuing) { s.forecasts[1].Withheld = 9 },
		`not withheld, with a forecast: false`:               func(s *issuing) { s.forecasts[1].Withheld = 0 },
		`skill of forecasts in "x", week 3`:                  func(s *issuing) { s.test.Skill = skillOf("x", data.WeekSkill{Coverage: 2}) },
		`skill of forecasts in "y", week 3: {Lakes:0 Pairs:`: func(s *issuing) { s.test.Skill = skillOf("y", data.WeekSkill{RMSE: math.NaN()}) },
		`skill of forecasts in "z"`:                          func(s *issuing) { s.test.Skill = skillOf("z", data.WeekSkill{Persistence: math.Inf(1)}) },
		"the disk is full":                                   func(s *issuing) { s.forecastErr = errors.New("the disk is full") },
	} {
		src := withForecasts()
		change(src)
		if _, err := snapshot.Load(t.Context(), src, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load = %v, want an error with %s", err, want)
		}
	}
}

func skillOf(region string, third data.WeekSkill) []data.ForecastSkill {
	return []data.ForecastSkill{{Region: region, Weeks: [data.ForecastWeeks]data.WeekSkill{2: third}}}
}

// If only the forecasts have changed, nothing else is read again.
func TestWatcherReadsForecastsAlone(t *testing.T) {
	src := withForecasts(row(-1, data.Satellite, 4))
	failing := errors.New("the forecasts cannot be read")
	var snapshots []*snapshot.Snapshot
	src.script = []step{
		{3, func(*scripted) { src.issues[0].Issued += 7; src.revision.Forecasts++ }},
		{5, func(*scripted) { src.forecastErr = failing; src.revision.Forecasts++ }},
		{9, func(*scripted) { src.forecastErr = nil; src.issues, src.test.Fault = nil, "worse than the last value" }},
		{15, func(*scripted) { src.revision.Number++; src.revision.Forecasts++ }},
	}
	published, failed := watchSource(t, src, &src.scripted, 20, func(s *snapshot.Snapshot) { snapshots = append(snapshots, s) })
	expect(t, "published", published, "0s: 1", "4s: 1", "13s: 1", "16s: 2")
	if len(failed) == 0 || !strings.Contains(failed[0], failing.Error()) {
		t.Errorf("failed %q, want it told of %q", failed, failing)
	}
	if src.scanned != 2 {
		t.Errorf("the source was read %d times, want 2: only after an import", src.scanned)
	}
	first, second, third := snapshots[0], snapshots[1], snapshots[2]
	if second.Forecasts.Issue.Issued != issueDay+7 || first.Forecasts.Issue.Issued != issueDay {
		t.Errorf("the issues are of %s and %s", first.Forecasts.Issue.Issued, second.Forecasts.Issue.Issued)
	}
	if third.Forecasts != nil || third.ForecastStopped() == "" || second.ForecastStopped() != "" {
		t.Errorf("without an issue the snapshot has %v, stopped %q, before %q", third.Forecasts, third.ForecastStopped(), second.ForecastStopped())
	}
	for _, s := range snapshots[1:3] {
		if s.Version != first.Version || s.Current != first.Current || s.Revision.Number != first.Revision.Number {
			t.Errorf("other forecasts changed the snapshot %s to %s", first.Version, s.Version)
		}
	}
}

// watchSource is watch for a source that extends a scripted one, with the published snapshots.
func watchSource(t *testing.T, src snapshot.Source, script *scripted, seconds int, publish func(*snapshot.Snapshot)) (published, failed []string) {
	t.Helper()
	run := func(t *testing.T) {
		script.start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second+500*time.Millisecond)
		defer cancel()
		watcher := &snapshot.Watcher{
			Source: src,
			Publish: func(s *snapshot.Snapshot) {
				published = append(published, fmt.Sprintf("%v: %d", time.Since(script.start), s.Revision.Number))
				publish(s)
			},
			Failed: func(err error) { failed = append(failed, fmt.Sprintf("%v: %v", time.Since(script.start), err)) },
		}
		watcher.Run(ctx)
	}
	synctest.Test(t, run)
	return published, failed
}

func TestSkillOf(t *testing.T) {
	test := data.ForecastTest{Model: "m", Skill: []data.ForecastSkill{{All: true}, {Region: ""}, {Region: "Bayern"}}}
	for region, want := range map[string]data.ForecastSkill{"Bayern": test.Skill[2], "Berlin": test.Skill[0], "": test.Skill[0]} {
		if got, ok := test.SkillOf("m", region); !ok || got != want {
			t.Errorf("SkillOf(%q) = %+v, %v", region, got, ok)
		}
	}
	if _, ok := test.SkillOf("another", "Bayern"); ok {
		t.Error("the test of one model is shown for another")
	}
	if _, ok := new(data.ForecastTest).SkillOf("", "Bayern"); ok {
		t.Error("no test says something")
	}
	for _, test := range []struct {
		skill data.WeekSkill
		want  float64
	}{{data.WeekSkill{RMSE: 3, Persistence: 4}, 0.25}, {data.WeekSkill{RMSE: 5, Persistence: 4}, -0.25}, {data.WeekSkill{RMSE: 5}, 0}} {
		if got := test.skill.Closer(); got != test.want {
			t.Errorf("Closer of %+v = %v, want %v", test.skill, got, test.want)
		}
	}
}

func TestChancesAndBounds(t *testing.T) {
	who2003 := &data.Profiles()[0]
	if got := stored(10, 0.5).Chances(who2003); got != (data.Chances{Low: 5000, Medium: 4994, High: 6}) {
		t.Errorf("at the first limit the probabilities are %+v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		f := data.StoredForecast{Chl: data.TenThousandths(rapid.Int32Range(1, 1500_0000).Draw(t, "chl")), Sigma: data.TenThousandths(rapid.Int32Range(1, 10_0000).Draw(t, "sigma"))}
		profile := &data.Profiles()[rapid.IntRange(0, len(data.Profiles())-1).Draw(t, "profile")]
		c := f.Chances(profile)
		if c.Low < 0 || c.Medium < 0 || c.High < 0 || c.Low+c.Medium+c.High != 1_0000 {
			t.Errorf("the probabilities of %+v are %+v", f, c)
		}
		lower, upper := f.Bounds()
		if lower > f.Chlorophyll() || upper < f.Chlorophyll() || lower < 0 || upper > data.MaxChlorophyll {
			t.Errorf("the bounds of %+v are %v and %v around %v", f, lower, upper, f.Chlorophyll())
		}
		p := f.Prediction()
		if sum := 1 - p.Exceeds(profile.Limits[0].Float()); math.Abs(sum-c.Low.Float()) > 0.00006 {
			t.Errorf("low of %+v is %v, want %v", f, c.Low.Float(), sum)
		}
	})
}

func TestWithheldOf(t *testing.T) {
	var c data.ForecastCounts
	for _, f := range withForecasts().forecasts {
		c.Add(&f)
	}
	if c.Lakes != 1 || c.Rows != 3 || c.AllWithheld() != 1 {
		t.Errorf("counts = %+v", c)
	}
	for lakes, few := range map[int]int64{1: 0, 2: 0, 5: 3} {
		if w := c.WithheldOf(lakes); w[forecast.FewValues] != few || w[forecast.OldValue] != 1 {
			t.Errorf("of %d lakes %v are withheld, want %d for lack of values", lakes, w, few)
		}
	}
	for _, r := range data.WithheldReasons() {
		if r.Code() == "" || strings.Contains(r.Code(), " ") {
			t.Errorf("the code of %v is %q", r, r.Code())
		}
	}
}
