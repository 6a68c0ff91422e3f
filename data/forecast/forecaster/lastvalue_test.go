package forecaster_test

import (
	"fmt"
	"slices"
	"testing"

	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/data/forecast/forecaster"
	"limnomap/data/store/storetest"
)

// steady makes the values of some lakes the same at all times.
func steady(values []data.Observation, is func(lake int) bool) {
	for i := range values {
		var lake int
		if _, err := fmt.Sscanf(string(values[i].LakeID), "lake_%04d", &lake); err != nil {
			panic(err)
		}
		if is(lake) {
			values[i].Chlorophyll = data.Chlorophyll(500 + lake)
		}
	}
}

func withheldOf(all []data.LakeForecast) (ids []data.LakeID) {
	for _, f := range all {
		if f.Withheld == forecast.LastValueBetter {
			ids = append(ids, f.LakeID)
		}
	}
	return ids
}

// No lake has a forecast whose last value, or that of its region, was better in past years, also after runs without a test. A new value that
// makes no difference to that changes nothing, and forced forecasts are of all lakes.
func TestLastValueBetter(t *testing.T) {
	const lakes = 90
	s := storetest.New(t)
	values := seasons(lakes, 160, monday)
	all := lakesOf(lakes)
	for i := 1; i < lakes; i += 11 {
		all[i].Region = "steady"
	}
	steady(values, func(lake int) bool { return lake%11 == 1 || lake == 13 })
	// Of lake 23, which is in the region of the steady lakes, only ten values are known.
	values = slices.DeleteFunc(values, func(o data.Observation) bool { return o.LakeID == lakeOf(23).ID && o.Date < monday-70 })
	importAll(t, s, all, values)
	var want []data.LakeID
	for i := range lakes {
		if i%11 == 1 || i == 13 {
			want = append(want, lakeOf(i).ID)
		}
	}
	check := func(when string, r forecaster.Result, want []data.LakeID, reused int64) {
		t.Helper()
		issue, all := forecastsOf(t, s, data.Optional[data.Date]{})
		if got := withheldOf(all); !slices.Equal(got, want) {
			t.Errorf("%s the forecasts of %v are withheld, want %v", when, got, want)
		}
		if issue != r.Issue || issue.Counts.Withheld[forecast.LastValueBetter] != int64(len(want)) || issue.Counts.Lakes != int64(lakes-len(want)) || r.Reused != reused {
			t.Errorf("%s the result is %+v, and the database has %+v", when, r, issue)
		}
		for _, f := range all {
			if err := f.Check(); err != nil {
				t.Errorf("%s the forecast of %s: %v", when, f.LakeID, err)
			}
		}
	}
	r := run(t, s, nil)
	check("at first", r, want, 0)
	bad, ok := r.Test.SkillOf(forecast.Model, "steady")
	if !ok || bad.Weeks[0].RMSE <= bad.Weeks[0].Persistence || r.Test.Fault != "" {
		t.Fatalf("the test is %+v, want one region where the last value was better", r.Test)
	}
	check("without a new value", run(t, s, nil), want, lakes)

	importAll(t, s, nil, []data.Observation{observation(lakeOf(3).ID, monday-1, 7)})
	check("with one new value", run(t, s, nil), want, lakes-1)
	check("by force", run(t, s, &forecaster.Options{Force: true}), nil, 0)
	check("by force again", run(t, s, &forecaster.Options{Force: true}), nil, lakes)
	check("after the forced one", run(t, s, nil), want, 0)

	// The next week is not tested: the test of the region and the values of the lakes are enough.
	var next []data.Observation
	for _, o := range values {
		if o.Date == monday {
			o.Date += 7
			next = append(next, o)
		}
	}
	importAll(t, s, nil, next)
	later := run(t, s, nil)
	if later.Issue.Issued != monday+7 || later.Test.Date != r.Test.Date {
		t.Errorf("the next week it is %+v, want an issue without a new test", later)
	}
	check("a week later", later, want, 0)
}

// A region of which too few forecasts are known is not judged, nor are the lakes without a region.
func TestRegionsThatAreNotJudged(t *testing.T) {
	for _, c := range []struct {
		name   string
		region string
		lakes  int // of the region
		want   int // withheld
	}{
		{"a region", "Region", 9, 9},
		{"seven lakes", "Region", 7, 6},
		{"no region", "", 9, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storetest.New(t)
			lakes, values := lakesOf(90), seasons(90, 160, monday)
			steady(values, func(lake int) bool { return lake < c.lakes })
			// The last of them has too few values to be judged by itself.
			values = slices.DeleteFunc(values, func(o data.Observation) bool { return o.LakeID == lakeOf(c.lakes-1).ID && o.Date < monday-140 })
			for i := range c.lakes {
				lakes[i].Region = c.region
			}
			importAll(t, s, lakes, values)
			run(t, s, nil)
			if _, all := forecastsOf(t, s, data.Optional[data.Date]{}); len(withheldOf(all)) != c.want {
				t.Errorf("the forecasts of %v are withheld, want %d", withheldOf(all), c.want)
			}
		})
	}
}
