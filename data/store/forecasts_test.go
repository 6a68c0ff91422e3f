package store

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/forecast"
)

func readingsOf(t *testing.T, s *Store, last data.Date) []data.LakeReadings {
	t.Helper()
	var all []data.LakeReadings
	rev, err := s.Readings(t.Context(), last, func(l *data.LakeReadings) error {
		c := *l
		c.Number, c.Readings = 0, slices.Clone(l.Readings)
		all = append(all, c)
		return nil
	})
	if err != nil {
		t.Fatalf("Readings: %v", err)
	}
	if want := revisionOf(t, s); rev != want {
		t.Errorf("Readings are of revision %v, want %v", rev, want)
	}
	return all
}

// The readings are the values of satellites that are not poor, in an order that imports do not change, and the samples of a lake that has none.
func testReadings(t *testing.T, open opener) {
	s := open(t, time.Now)
	if got, err := s.ReadingSummary(t.Context()); err != nil || got.Newest.Known || got.Lakes != 0 {
		t.Errorf("ReadingSummary of an empty database = %+v, %v", got, err)
	}
	if got := readingsOf(t, s, 30_000); len(got) != 0 {
		t.Errorf("an empty database has the readings %v", got)
	}
	south := testLake("b")
	south.Point[1], south.Region = -12.25, ""
	poor := testObservation("a", 20_040, data.Satellite, 99_00)
	poor.Quality = data.Poor
	suspect := testObservation("a", 20_030, data.Satellite, 150_000)
	suspect.Quality, suspect.Details.Method = data.Suspect, `they call it "poor"`
	badSample := testObservation("c", 20_095, data.InSitu, 99_00)
	badSample.Quality = data.Poor
	second := testObservation("a", 20_010, data.Satellite, 3_00)
	second.Source = "another product"
	put(t, s, []data.Lake{south, testLake("c"), testLake("a")}, []data.Observation{
		testObservation("b", -700, data.Satellite, 0), testObservation("b", firstDay-1, data.Satellite, 0), testObservation("b", lastDay+1, data.Satellite, 0),
		testObservation("a", 20_010, data.Satellite, 7_00),
		second, poor, suspect,
		testObservation("a", 20_050, data.Satellite, data.NoChlorophyll),
		testObservation("a", 20_060, data.InSitu, 5_00),
		testObservation("a", 20_070, data.Forecast, 5_00),
		testObservation("c", 20_080, data.InSitu, 5_00), testObservation("c", 20_085, data.InSitu, 6_00), testObservation("c", 20_090, data.InSitu, data.NoChlorophyll),
		badSample, testObservation("c", 20_020, data.Satellite, data.NoChlorophyll), testObservation("c", 20_071, data.Forecast, 5_00),
	})
	want := []data.LakeReadings{
		{ID: "a", Latitude: 47.9, Region: "Bayern", Readings: []data.Reading{{Date: 20_010, Chlorophyll: 3_00}, {Date: 20_010, Chlorophyll: 7_00}, {Date: 20_030, Chlorophyll: 150_000}}},
		{ID: "b", Latitude: -12.25, Readings: []data.Reading{{Date: -700}}},
		{ID: "c", Latitude: 47.9, Region: "Bayern", Readings: []data.Reading{{Date: 20_080, Chlorophyll: 5_00}, {Date: 20_085, Chlorophyll: 6_00}}},
	}
	if got := readingsOf(t, s, 30_000); !reflect.DeepEqual(got, want) {
		t.Errorf("readings = %+v\nwant %+v", got, want)
	}
	summary, err := s.ReadingSummary(t.Context())
	if want := (data.ReadingSummary{Revision: revisionOf(t, s), Newest: data.Known(data.Date(lastDay + 1)), Lakes: 3}); err != nil || summary != want {
		t.Errorf("ReadingSummary = %+v, %v, want %+v", summary, err, want)
	}
	want[0].Readings, want = want[0].Readings[:2], want[:2]
	if got := readingsOf(t, s, 20_029); !reflect.DeepEqual(got, want) {
		t.Errorf("readings up to a date = %+v\nwant %+v", got, want)
	}
	enough := errors.New("enough")
	if _, err := s.Readings(t.Context(), 30_000, func(*data.LakeReadings) error { return enough }); err != enough {
		t.Errorf("Readings with an error of the caller = %v, want that error", err)
	}
}

// Without any value of a satellite the newest sample is the newest value.
func testReadingsOfSamples(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, []data.Observation{
		testObservation("a", 20_010, data.InSitu, 5_00), testObservation("b", 20_003, data.InSitu, 6_00), testObservation("b", 20_020, data.InSitu, data.NoChlorophyll),
		testObservation("b", 20_030, data.Forecast, 6_00), testObservation("b", 20_040, data.Satellite, data.NoChlorophyll),
	})
	if got, err := s.ReadingSummary(t.Context()); err != nil || got.Newest != data.Known(data.Date(20_010)) {
		t.Errorf("ReadingSummary of samples = %+v, %v", got, err)
	}
	if got := readingsOf(t, s, 20_009); len(got) != 1 || got[0].ID != "b" || !slices.Equal(got[0].Readings, []data.Reading{{Date: 20_003, Chlorophyll: 6_00}}) {
		t.Errorf("readings of samples up to a date = %+v", got)
	}
	put(t, s, nil, []data.Observation{testObservation("b", 20_001, data.Satellite, 7_00)})
	if got, err := s.ReadingSummary(t.Context()); err != nil || got.Newest != data.Known(data.Date(20_001)) {
		t.Errorf("ReadingSummary with one value of a satellite = %+v, %v", got, err)
	}
	if got := readingsOf(t, s, 20_009); len(got) != 1 || got[0].ID != "b" || !slices.Equal(got[0].Readings, []data.Reading{{Date: 20_001, Chlorophyll: 7_00}}) {
		t.Errorf("readings with one value of a satellite = %+v", got)
	}
}

// A database that others wrote to may have numbers that no value has.
func TestParseReadings(t *testing.T) {
	for text, want := range map[string]data.Reading{
		"17196646400": {Date: 64},
		"17179869184": {Date: 0},
		"0":           {Date: firstDay},
		"34359626224": {Date: lastDay, Chlorophyll: data.MaxChlorophyll},
	} {
		got, err := parseReadings(nil, "17179869189,"+text)
		if err != nil || len(got) != 2 || got[0] != (data.Reading{Chlorophyll: 5}) || got[1] != want {
			t.Errorf("%s is %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"-1", "1x", "17180019185", "34359888384", "99999999999999999999999"} {
		if got, err := parseReadings(nil, text); !errors.Is(err, data.ErrImplausible) {
			t.Errorf("%s is %v, %v, want %v", text, got, err, data.ErrImplausible)
		}
	}
}

// There may be more lakes than one statement reads.
func testReadingsOfManyLakes(t *testing.T, open opener) {
	s := open(t, time.Now)
	const n = 2*readingPage + 100
	lakes, observations := make([]data.Lake, n), []data.Observation(nil)
	for i := range lakes {
		lakes[i] = testLake(fmt.Sprintf("%05d", i))
		if i%3 != 0 { // not all have values, and not the first and the last of a page
			observations = append(observations, testObservation(lakes[i].ID, 20_000, data.Satellite, data.Chlorophyll(i)))
		}
	}
	slices.Reverse(lakes) // numbers are in another order than ids
	put(t, s, lakes, observations)
	got := readingsOf(t, s, 20_000)
	if len(got) != len(observations) {
		t.Fatalf("%d lakes have readings, want %d", len(got), len(observations))
	}
	for i, o := range observations {
		if got[i].ID != o.LakeID || len(got[i].Readings) != 1 || got[i].Readings[0].Chlorophyll != o.Chlorophyll {
			t.Fatalf("readings %d are %+v, want those of %s", i, got[i], o.LakeID)
		}
	}
}

// numbersOf returns the numbers of lakes with a value.
func numbersOf(t *testing.T, s *Store) map[data.LakeID]int64 {
	t.Helper()
	numbers := make(map[data.LakeID]int64)
	_, err := s.Readings(t.Context(), 30_000, func(l *data.LakeReadings) error { numbers[l.ID] = l.Number; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return numbers
}

func forecastsOf(t *testing.T, s *Store, issued data.Optional[data.Date]) (data.ForecastIssue, []data.LakeForecast) {
	t.Helper()
	var all []data.LakeForecast
	issue, rev, err := s.Forecasts(t.Context(), issued, func(f data.LakeForecast) error { all = append(all, f); return nil })
	if err != nil {
		t.Fatalf("Forecasts: %v", err)
	}
	if want := revisionOf(t, s); rev != want {
		t.Errorf("Forecasts are of revision %v, want %v", rev, want)
	}
	return issue, all
}

// Issues of forecasts are stored, replaced, read and removed, and change no revision of the data.
func testForecasts(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("b"), testLake("a"), testLake("c")}, []data.Observation{
		testObservation("a", 20_000, data.Satellite, 1), testObservation("b", 20_000, data.Satellite, 1), testObservation("c", 20_000, data.Satellite, 1),
	})
	n, first := numbersOf(t, s), revisionOf(t, s)
	if _, _, err := s.Forecasts(t.Context(), data.Optional[data.Date]{}, nil); err != data.ErrNoForecast {
		t.Errorf("Forecasts before any = %v, want %v", err, data.ErrNoForecast)
	}
	if _, _, err := s.LakeForecast(t.Context(), "a", 20_000); err != data.ErrNoForecast {
		t.Errorf("LakeForecast before any = %v, want %v", err, data.ErrNoForecast)
	}
	issue := data.ForecastIssue{Issued: 20_000, Model: "limnomap-1", Weeks: 3, Input: 7}
	issue.Counts = data.ForecastCounts{Lakes: 1, Rows: 2}
	issue.Counts.Withheld = [...]int64{forecast.FewValues: 1, forecast.OldValue: 2, forecast.OutOfSeason: 3, forecast.LastValueBetter: 4, forecast.NotAfterOrigin: 0}
	a := data.LakeForecast{LakeID: "a", BasedOn: 19_999, Weeks: [data.ForecastWeeks]data.StoredForecast{{Chl: 12_3456, Sigma: 7001}, {}, {Chl: 1, Sigma: 1}}}
	b := data.LakeForecast{LakeID: "b", BasedOn: 19_000, Withheld: forecast.OldValue}
	write := func(issue data.ForecastIssue, gone []int64, before data.Date, forecasts ...data.LakeForecast) bool {
		t.Helper()
		var numbered []data.NumberedForecast
		for _, f := range forecasts {
			numbered = append(numbered, data.NumberedForecast{Number: n[f.LakeID], Input: -int64(f.BasedOn), LakeForecast: f})
		}
		changed, err := s.PutForecasts(t.Context(), issue, slices.Values(numbered), gone, before)
		if err != nil {
			t.Fatalf("PutForecasts: %v", err)
		}
		return changed
	}
	want := func(issue data.ForecastIssue, forecasts ...data.LakeForecast) {
		t.Helper()
		for _, day := range []data.Optional[data.Date]{{}, data.Known(issue.Issued)} {
			gotIssue, got := forecastsOf(t, s, day)
			if gotIssue != issue || !slices.Equal(got, forecasts) {
				t.Errorf("the forecasts are %+v %+v\nwant %+v %+v", gotIssue, got, issue, forecasts)
			}
		}
		for _, f := range forecasts {
			if i, got, err := s.LakeForecast(t.Context(), f.LakeID, issue.Issued); err != nil || i != issue || got != f {
				t.Errorf("LakeForecast(%s) = %+v, %+v, %v, want %+v", f.LakeID, i, got, err, f)
			}
		}
		byNumber := make(map[int64]data.NumberedForecast)
		i, err := s.NumberedForecasts(t.Context(), issue.Issued, func(f data.NumberedForecast) { byNumber[f.Number] = f })
		if err != nil || i != issue || len(byNumber) != len(forecasts) {
			t.Errorf("NumberedForecasts = %+v, %v, %v", i, byNumber, err)
		}
		for _, f := range forecasts {
			got := byNumber[n[f.LakeID]]
			got.LakeID = f.LakeID
			if got.LakeForecast != f || got.Input != -int64(f.BasedOn) {
				t.Errorf("NumberedForecasts has %+v, want %+v", got, f)
			}
		}
	}
	if !write(issue, nil, 0, b, a) {
		t.Error("the first forecasts change nothing")
	}
	want(issue, a, b)
	rev := revisionOf(t, s)
	if rev.Number != first.Number || rev.Forecasts != first.Forecasts+1 || rev.Equal(first) {
		t.Errorf("after forecasts the revision is %+v, before it was %+v", rev, first)
	}
	if write(issue, nil, 0, a, b) || revisionOf(t, s) != rev {
		t.Error("the same forecasts again change something")
	}
	a.Weeks[0].Chl++
	b.Withheld, b.Weeks[3] = forecast.None, data.StoredForecast{Chl: 5, Sigma: 6}
	c := data.LakeForecast{LakeID: "c", BasedOn: 19_999, Withheld: forecast.OutOfSeason}
	if !write(issue, nil, 0, a, b, c) {
		t.Error("other forecasts change nothing")
	}
	want(issue, a, b, c)
	c.Withheld = forecast.LastValueBetter
	if !write(issue, nil, 0, c) || write(issue, nil, 0, c) {
		t.Error("another reason changes nothing, or the same one again something")
	}
	want(issue, a, b, c)
	if !write(issue, []int64{n["b"]}, 0) {
		t.Error("a lake less changes nothing")
	}
	want(issue, a, c)
	later := issue
	later.Issued += 7
	write(later, nil, 0, b)
	want(later, b)
	if issues, err := s.ForecastIssues(t.Context()); err != nil || !slices.Equal(issues, []data.ForecastIssue{later, issue}) {
		t.Errorf("ForecastIssues = %+v, %v", issues, err)
	}
	if got, _ := forecastsOf(t, s, data.Known(issue.Issued)); got != issue {
		t.Errorf("the earlier issue is %+v, want %+v", got, issue)
	}
	if !write(later, nil, later.Issued, b) {
		t.Error("removing an issue changes nothing")
	}
	if issues, err := s.ForecastIssues(t.Context()); err != nil || !slices.Equal(issues, []data.ForecastIssue{later}) {
		t.Errorf("ForecastIssues = %+v, %v", issues, err)
	}
	if _, _, err := s.LakeForecast(t.Context(), "a", later.Issued); err != data.ErrNoForecast {
		t.Errorf("LakeForecast of a lake without one = %v", err)
	}
	// An issue of a version that did not ask whether the last value was better is of no revision, and is made again.
	err := s.db.update(t.Context(), "undo the column", func(q querier) error {
		_, err := q.exec(t.Context(), "UPDATE limnomap.forecast_issues SET last_value_better = NULL")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	later.Input, later.Counts.Withheld[forecast.LastValueBetter] = -1, 0
	want(later, b)
}

// Forecasts are written wholly or not at all.
func testNoHalfForecasts(t *testing.T, open opener) {
	s := open(t, time.Now)
	put(t, s, []data.Lake{testLake("a")}, []data.Observation{testObservation("a", 20_000, data.Satellite, 1)})
	before := revisionOf(t, s)
	good := data.NumberedForecast{Number: numbersOf(t, s)["a"], LakeForecast: data.LakeForecast{Withheld: forecast.FewValues}}
	bad := good
	bad.Number, bad.Withheld = good.Number+1, 99 // the database rejects it
	_, err := s.PutForecasts(t.Context(), data.ForecastIssue{Issued: 20_000, Weeks: 4}, slices.Values([]data.NumberedForecast{good, bad}), nil, 0)
	if err == nil {
		t.Fatal("an invalid forecast is stored")
	}
	if _, _, err := s.Forecasts(t.Context(), data.Optional[data.Date]{}, nil); err != data.ErrNoForecast || revisionOf(t, s) != before {
		t.Errorf("after a failure there are forecasts (%v), or the revision is not %v", err, before)
	}
}

func testForecastTest(t *testing.T, open opener) {
	s := open(t, time.Now)
	if got, err := s.ForecastTest(t.Context()); err != nil || !reflect.DeepEqual(got, data.ForecastTest{}) {
		t.Errorf("before any test it is %+v, %v", got, err)
	}
	week := data.WeekSkill{Lakes: 3, Pairs: 200, RMSE: 0.75, Persistence: 1, Coverage: 0.8125}
	for _, want := range []data.ForecastTest{
		{Model: "limnomap-1", Date: data.Known(data.Date(20_000)), Skill: []data.ForecastSkill{
			{All: true, Weeks: [data.ForecastWeeks]data.WeekSkill{week, week, {}, week}},
			{Region: "", Weeks: [data.ForecastWeeks]data.WeekSkill{week}},
			{Region: "Bayern", Weeks: [data.ForecastWeeks]data.WeekSkill{{}, week}},
		}},
		{Model: "limnomap-2", Fault: "worse\x00 than nothing"},
	} {
		before := revisionOf(t, s)
		if err := s.PutForecastTest(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		want.Fault = validText(want.Fault)
		if got, err := s.ForecastTest(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("the test is %+v, %v\nwant %+v", got, err, want)
		}
		if after := revisionOf(t, s); after.Number != before.Number || after.Forecasts != before.Forecasts+1 {
			t.Errorf("a test makes the revision %+v from %+v", after, before)
		}
	}
}
