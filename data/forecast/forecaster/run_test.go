package forecaster_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/data/forecast/forecaster"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

// monday is a Monday of June 2024.
const monday data.Date = 19_884

func lakeOf(i int) data.Lake {
	id := data.LakeID(fmt.Sprintf("lake_%04d", i))
	return data.Lake{ID: id, ExternalID: string(id), Name: string(id), Point: orb.Point{10, 40 + float64(i%20)}, Region: fmt.Sprint("region ", i%3), AreaKM2: 1}
}

// seasons returns weekly values of some lakes up to a day: a season with noise, which the model can tell better than the last value does.
func seasons(lakes, weeks int, last data.Date) (all []data.Observation) {
	random := rand.New(rand.NewPCG(20, 1))
	for i := range lakes {
		id := lakeOf(i).ID
		for w := range weeks {
			date := last - data.Date(7*(weeks-1-w))
			level := 1.5 - 0.8*math.Cos(2*math.Pi*float64(date.Time().YearDay())/365.25) + 0.5*random.NormFloat64()
			if random.Float64() < 0.2 {
				continue // cloud
			}
			all = append(all, observation(id, date, math.Exp(level)))
		}
	}
	return all
}

func observation(id data.LakeID, date data.Date, chl float64) data.Observation {
	c, err := data.ChlorophyllOf(chl)
	if err != nil {
		panic(err)
	}
	return data.Observation{LakeID: id, Date: date, Type: data.Satellite, Chlorophyll: c, Level: data.NoLevel, CellDensity: data.NoCellDensity}
}

func importAll(t testing.TB, s *store.Store, lakes []data.Lake, observations []data.Observation) {
	t.Helper()
	err := s.Import(t.Context(), func(tx store.Tx) error {
		if _, err := tx.PutLakes(t.Context(), lakes, store.LakeColumns{}); err != nil {
			return err
		}
		_, err := tx.PutObservations(t.Context(), observations, store.ObservationColumns{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func lakesOf(n int) []data.Lake {
	lakes := make([]data.Lake, n)
	for i := range lakes {
		lakes[i] = lakeOf(i)
	}
	return lakes
}

func run(t testing.TB, s *store.Store, opts *forecaster.Options) forecaster.Result {
	t.Helper()
	r, err := forecaster.Run(t.Context(), s, opts)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return r
}

func forecastsOf(t testing.TB, s *store.Store, issued data.Optional[data.Date]) (data.ForecastIssue, []data.LakeForecast) {
	t.Helper()
	var all []data.LakeForecast
	issue, _, err := s.Forecasts(t.Context(), issued, func(f data.LakeForecast) error { all = append(all, f); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return issue, all
}

// The stored forecasts are those of the model for each lake, and the reasons of the others are counted.
func TestRun(t *testing.T) {
	s := storetest.New(t)
	values := seasons(40, 160, monday)
	values = append(values, observation(lakeOf(40).ID, monday, 5)) // few values
	for w := range 30 {                                            // an old value
		values = append(values, observation(lakeOf(41).ID, monday-43-data.Date(7*w), 5))
	}
	for year := range 3 { // no value between November and May, and the last one of early May
		for day := range 25 {
			values = append(values, observation(lakeOf(42).ID, monday-40-data.Date(365*year+7*day), 5))
		}
	}
	importAll(t, s, lakesOf(44), values)
	r := run(t, s, nil)
	issue, all := forecastsOf(t, s, data.Optional[data.Date]{})
	if issue != r.Issue || issue.Issued != monday || issue.Model != forecast.Model || issue.Weeks != 4 || !r.Changed || r.Reused != 0 {
		t.Errorf("the result is %+v, and the database has %+v", r, issue)
	}
	if len(all) != 43 {
		t.Fatalf("%d lakes have a forecast or a reason, want 43: the last has no value", len(all))
	}
	counts := data.ForecastCounts{}
	for _, f := range all {
		counts.Add(&f)
		var own []data.Observation
		for _, o := range values {
			if o.LakeID == f.LakeID {
				own = append(own, o)
			}
		}
		slices.SortFunc(own, func(a, b data.Observation) int { return int(a.Date - b.Date) })
		var lake data.Lake
		for _, l := range lakesOf(44) {
			if l.ID == f.LakeID {
				lake = l
			}
		}
		filter := forecast.New(lake.Point.Lat())
		for _, o := range own {
			filter.Add(forecast.Value{Day: int(o.Date), Chl: o.Chlorophyll.Float()})
		}
		if last := own[len(own)-1].Date; f.BasedOn != last {
			t.Errorf("the forecast of %s is based on %s, want %s", f.LakeID, f.BasedOn, last)
		}
		for week, w := range f.Weeks {
			target := int(monday) + 7*(week+1)
			if reason := filter.Withheld(int(monday), target); w.Known() != (reason == forecast.None) {
				t.Errorf("the forecast of %s for week %d is %+v, want %s", f.LakeID, week+1, w, reason)
			} else if w.Known() {
				p := filter.Predict(target)
				if math.Abs(w.Chl.Float()-p.Chl()) > 0.5001e-4 || math.Abs(w.Sigma.Float()-p.Sigma) > 0.5001e-4 {
					t.Errorf("the forecast of %s for week %d is %v ± %v, want %v ± %v", f.LakeID, week+1, w.Chl.Float(), w.Sigma.Float(), p.Chl(), p.Sigma)
				}
			}
		}
	}
	if issue.Counts != counts || counts.Withheld[forecast.FewValues] != 1 || counts.Withheld[forecast.OldValue] != 1 || counts.Withheld[forecast.OutOfSeason] != 1 || counts.Lakes != 40 {
		t.Errorf("the counts are %+v, want %+v with one of each reason", issue.Counts, counts)
	}
	// The sample of a test has values in three years and regions.
	if skill := r.Test.Skill; len(skill) != 4 || !skill[0].All || skill[0].Weeks[0].Pairs < 1000 || r.Test.Fault != "" {
		t.Errorf("the test is %+v, want one of all lakes and of three regions", r.Test)
	}
	if stored, err := s.ForecastTest(t.Context()); err != nil || stored.Date != data.Known(monday) || len(stored.Skill) != 4 {
		t.Errorf("the stored test is %+v, %v", stored, err)
	}
}

// Values after the origin make no difference to a single bit.
func TestNoLeak(t *testing.T) {
	const origin = monday - 70
	all := seasons(30, 160, monday)
	known := slices.DeleteFunc(slices.Clone(all), func(o data.Observation) bool { return o.Date > origin })
	opts := &forecaster.Options{Origin: data.Known(origin), Force: true}
	whole, cut := storetest.New(t), storetest.New(t)
	importAll(t, whole, lakesOf(30), all)
	importAll(t, cut, lakesOf(30), known)
	a, b := run(t, whole, opts), run(t, cut, opts)
	_, fromAll := forecastsOf(t, whole, data.Known[data.Date](origin))
	_, fromKnown := forecastsOf(t, cut, data.Known[data.Date](origin))
	if !slices.Equal(fromAll, fromKnown) || a.Issue.Counts != b.Issue.Counts || a.Issue.Counts.Lakes == 0 {
		t.Errorf("forecasts of %s change with later values:\n%+v\n%+v", origin, fromAll, fromKnown)
	}
	if fmt.Sprint(a.Test) != fmt.Sprint(b.Test) {
		t.Errorf("the test changes with later values:\n%+v\n%+v", a.Test, b.Test)
	}
}

// The order of imports and the number of goroutines make no difference.
func TestOrderMakesNoDifference(t *testing.T) {
	values := seasons(50, 120, monday)
	for i := range 200 { // another product on the same days
		o := values[i*7]
		o.Source, o.Chlorophyll = "another", o.Chlorophyll/2+1
		values = append(values, o)
	}
	var first []data.LakeForecast
	for round := range 4 {
		s := storetest.New(t)
		rand.New(rand.NewPCG(3, uint64(round))).Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		half := len(values) / 2
		lakes := lakesOf(50)
		if round == 1 {
			slices.Reverse(lakes)
		}
		importAll(t, s, lakes, values[:half])
		importAll(t, s, nil, values[half:])
		run(t, s, &forecaster.Options{Workers: []int{2, 1, 3, 7}[round], Force: true})
		_, all := forecastsOf(t, s, data.Optional[data.Date]{})
		if round == 0 {
			first = all
		} else if !slices.Equal(all, first) {
			t.Errorf("round %d has other forecasts", round)
		}
	}
}

// What has not changed since the last run of the same day is not computed again.
func TestAgain(t *testing.T) {
	s := storetest.New(t)
	values := seasons(30, 160, monday)
	importAll(t, s, lakesOf(30), values)
	first := run(t, s, nil)
	if again := run(t, s, nil); again.Changed || again.Reused != 30 || again.Issue != first.Issue {
		t.Errorf("again it is %+v, want nothing changed", again)
	}
	// One lake has another value of an earlier day, another one a sample.
	sample := observation(lakeOf(3).ID, monday-3, 400)
	sample.Type = data.InSitu
	importAll(t, s, nil, []data.Observation{observation(lakeOf(7).ID, monday-1, 400), sample})
	_, before := forecastsOf(t, s, data.Optional[data.Date]{})
	r := run(t, s, nil)
	if !r.Changed || r.Reused != 29 || r.Issue.Counts.Lakes != first.Issue.Counts.Lakes {
		t.Errorf("with one new value it is %+v, want 29 lakes reused", r)
	}
	_, after := forecastsOf(t, s, data.Optional[data.Date]{})
	for i := range after {
		if (after[i] != before[i]) != (after[i].LakeID == lakeOf(7).ID) {
			t.Errorf("the forecast of %s was %+v and is %+v", after[i].LakeID, before[i], after[i])
		}
	}
	// Other weeks are another forecast.
	if r := run(t, s, &forecaster.Options{Weeks: 2}); r.Reused != 0 || r.Issue.Counts.Rows != 60 {
		t.Errorf("for two weeks it is %+v, want 60 rows", r)
	}
	// A lake that moved to the south has another summer, and one whose values are gone no forecast.
	south := lakeOf(9)
	south.Point[1] = -40
	gap := slices.DeleteFunc(slices.Clone(values), func(o data.Observation) bool { return o.LakeID != lakeOf(11).ID })
	for i := range gap {
		gap[i].Chlorophyll = data.NoChlorophyll
	}
	importAll(t, s, []data.Lake{south}, gap)
	r = run(t, s, &forecaster.Options{Weeks: 2})
	if _, all := forecastsOf(t, s, data.Optional[data.Date]{}); r.Reused != 28 || len(all) != 29 {
		t.Errorf("after a lake moved and one lost its values it is %+v with %d lakes, want 28 reused and 29", r, len(all))
	}
}

// Earlier issues are kept for a time.
func TestKeep(t *testing.T) {
	s := storetest.New(t)
	importAll(t, s, lakesOf(5), seasons(5, 160, monday))
	for weeks := 20; weeks >= 0; weeks-- {
		run(t, s, &forecaster.Options{Origin: data.Known(monday - data.Date(7*weeks)), Keep: 70, Force: true})
	}
	issues, err := s.ForecastIssues(t.Context())
	if err != nil || len(issues) != 11 || issues[0].Issued != monday || issues[10].Issued != monday-70 {
		t.Errorf("%d issues are kept, %v, want those of ten weeks before %s: %+v", len(issues), err, monday, issues)
	}
}

// Forecasts that are not worth showing are not written, unless they are forced.
func TestNotWorth(t *testing.T) {
	s := storetest.New(t)
	var values []data.Observation
	for i := range 20 {
		for w := range 160 { // the last value is always right
			values = append(values, observation(lakeOf(i).ID, monday-data.Date(7*w), 5+float64(i)))
		}
	}
	importAll(t, s, lakesOf(20), values)
	if _, err := forecaster.Run(t.Context(), s, &forecaster.Options{DryRun: true}); !errors.Is(err, forecaster.ErrNotWorth) {
		t.Errorf("a dry run returns %v, want %v", err, forecaster.ErrNotWorth)
	}
	if test, err := s.ForecastTest(t.Context()); err != nil || test.Model != "" {
		t.Errorf("a dry run stored the test %+v, %v", test, err)
	}
	for range 2 {
		if _, err := forecaster.Run(t.Context(), s, nil); !errors.Is(err, forecaster.ErrNotWorth) {
			t.Errorf("Run = %v, want %v", err, forecaster.ErrNotWorth)
		}
	}
	if test, err := s.ForecastTest(t.Context()); err != nil || test.Fault == "" {
		t.Errorf("the stored test is %+v, %v, want a fault", test, err)
	}
	if issues, err := s.ForecastIssues(t.Context()); err != nil || len(issues) != 0 {
		t.Errorf("the issues are %+v, %v, want none", issues, err)
	}
	if r := run(t, s, &forecaster.Options{Force: true}); r.Issue.Counts.Lakes != 20 || !r.Changed {
		t.Errorf("forced it is %+v", r)
	}
}

// Nothing is written by a run that is interrupted, or fails.
func TestInterrupted(t *testing.T) {
	s := storetest.New(t)
	importAll(t, s, lakesOf(200), seasons(200, 110, monday))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := forecaster.Run(ctx, s, &forecaster.Options{Progress: func(float64) { cancel() }, Force: true})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted it returns %v", err)
	}
	failure := errors.New("the disk is full")
	_, err = forecaster.Run(t.Context(), s, &forecaster.Options{Force: true, Each: func(data.ForecastIssue, data.LakeForecast) error { return failure }})
	if err != failure {
		t.Errorf("with an error it returns %v, want %v", err, failure)
	}
	if issues, err := s.ForecastIssues(t.Context()); err != nil || len(issues) != 0 {
		t.Errorf("the issues are %+v, %v, want none", issues, err)
	}
}

func TestOptions(t *testing.T) {
	s := storetest.New(t)
	if _, err := forecaster.Run(t.Context(), s, nil); !errors.Is(err, forecaster.ErrNoValues) {
		t.Errorf("without values it returns %v, want %v", err, forecaster.ErrNoValues)
	}
	importAll(t, s, lakesOf(1), seasons(1, 10, monday))
	for want, opts := range map[string]*forecaster.Options{
		"horizon of 5 weeks":         {Weeks: 5},
		"origin 1790-07-26":          {Origin: data.Known[data.Date](-1<<16 - 1)},
		"origin 2149-06-07":          {Origin: data.Known[data.Date](1 << 16)},
		"keep forecasts for -1 days": {Keep: -1},
	} {
		if _, err := forecaster.Run(t.Context(), s, opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one with %q", err, want)
		}
	}
	if r := run(t, s, &forecaster.Options{Origin: data.Known(monday + 43)}); r.Issue.Counts.Withheld[forecast.OldValue] != 1 {
		t.Errorf("43 days after the last value it is %+v, want it withheld", r.Issue)
	}
}

// Lakes with samples only have forecasts of these, if past years say that they are worth showing, and a lake with one value of a satellite has none.
func TestSamplesAlone(t *testing.T) {
	s := storetest.New(t)
	values := seasons(20, 160, monday)
	for i := range values {
		values[i].Type = data.InSitu
	}
	importAll(t, s, lakesOf(20), values)
	r := run(t, s, nil)
	if c := r.Issue.Counts; r.Issue.Issued != monday || c.Lakes+c.Withheld[forecast.LastValueBetter] != 20 || c.Lakes < 18 || len(r.Test.Skill) == 0 || r.Test.Fault != "" {
		t.Errorf("of samples the result is %+v", r)
	}
	importAll(t, s, nil, []data.Observation{observation(lakeOf(3).ID, monday, 5)})
	if c := run(t, s, nil).Issue.Counts; c.Withheld[forecast.FewValues] != 1 {
		t.Errorf("with one value of a satellite the counts are %+v, want one lake with few values", c)
	}
}
