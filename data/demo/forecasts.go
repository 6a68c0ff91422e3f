package demo

import (
	"context"
	"runtime"
	"slices"

	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/data/forecast/forecaster"
	"limnomap/data/inorder"
)

// earlier is how many passes before the newest one have an issue of the forecast: those of a year.
const earlier = 52

// An issue is the forecasts that were made on the day of a pass.
type issue struct {
	data.ForecastIssue
	lakes []data.LakeForecast // of the lakes that had a value, by id
}

// A forecastTest is the test of the forecasts, or why there is none.
type forecastTest struct {
	data.ForecastTest
	err error
}

// issues makes the issues of n passes, the newest first, of which the first is skip passes before the newest pass.
func (e *edition) issues(skip, n int) []issue {
	all := make([]issue, n)
	origins := make([]data.Date, n) // the oldest first
	for k := range n {
		week := e.newest - data.Week(skip+k)
		origins[n-1-k] = passDate(week)
		all[k].ForecastIssue = data.ForecastIssue{Issued: passDate(week), Model: forecast.Model, Weeks: data.ForecastWeeks, Input: int64(week)}
	}
	type made struct {
		issue int
		data.LakeForecast
	}
	makeForecasts := func(i int) (lake []made, err error) {
		var p forecaster.Past
		l := e.readings(i)
		forecaster.Forecasts(&p, &l, origins, data.ForecastWeeks, func(origin int, f data.LakeForecast) {
			lake = append(lake, made{n - 1 - origin, f})
		})
		return lake, nil
	}
	err := inorder.Run(context.Background(), runtime.GOMAXPROCS(0), 8, e.indices, makeForecasts, func(_ int, lake []made) error {
		for i := range lake {
			one := &all[lake[i].issue]
			one.lakes = append(one.lakes, lake[i].LakeForecast)
			one.Counts.Add(&lake[i].LakeForecast)
		}
		return nil
	})
	if err != nil {
		panic(err) // not possible: nothing above returns an error
	}
	return all
}

// indices yields the indices of all lakes.
func (e *edition) indices(yield func(int) bool) {
	for i := range e.lakes {
		if !yield(i) {
			return
		}
	}
}

// readings returns the values of the i-th lake.
func (e *edition) readings(i int) data.LakeReadings {
	lake := &e.models[i].lake
	l := data.LakeReadings{ID: lake.ID, Latitude: lake.Point.Lat(), Region: lake.Region}
	for k, c := range e.passesOf(i) {
		if c.Valid() {
			l.Readings = append(l.Readings, data.Reading{Date: passDate(e.first() + data.Week(k)), Chlorophyll: c})
		}
	}
	return l
}

// testedOf is of how many lakes one is tested: with all, the test would take longer than everything else at the start of the demo.
const testedOf = 3

// testForecasts tests the forecasts with the edition's own past.
func (e *edition) testForecasts() forecastTest {
	var t forecastTest
	lakes := func(yield func(*data.LakeReadings) bool) {
		for i := range e.lakes {
			if i%testedOf != 0 {
				continue
			}
			if l := e.readings(i); !yield(&l) {
				return
			}
		}
	}
	t.ForecastTest, t.err = forecaster.Test(context.Background(), lakes)
	t.Date = data.Known(passDate(e.newest))
	return t
}

// issueOf returns the issue of a day, that of the newest pass if it is absent.
func (e *edition) issueOf(issued data.Optional[data.Date]) (*issue, error) {
	if !issued.Known || issued.Value == passDate(e.newest) {
		i := e.newestIssue()
		return &i, nil
	}
	week := issued.Value.Week()
	if issued.Value != passDate(week) || week >= e.newest || week < e.newest-earlier {
		return nil, data.ErrNoForecast
	}
	return &e.earlierIssues()[e.newest-week-1], nil
}

// Forecasts passes the forecasts of the issue of a day, that of the newest pass if it is absent.
func (s *Source) Forecasts(ctx context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error) {
	e := s.current()
	i, err := e.issueOf(issued)
	if err != nil {
		return data.ForecastIssue{}, revision(e.newest), err
	}
	for _, f := range i.lakes {
		if err := each(f); err != nil {
			return data.ForecastIssue{}, data.Revision{}, err
		}
	}
	return i.ForecastIssue, revision(e.newest), ctx.Err()
}

// LakeForecast returns the forecast of one lake of the issue of a day.
func (s *Source) LakeForecast(ctx context.Context, id data.LakeID, issued data.Date) (data.ForecastIssue, data.LakeForecast, error) {
	i, err := s.current().issueOf(data.Known(issued))
	if err != nil {
		return data.ForecastIssue{}, data.LakeForecast{}, err
	}
	k := slices.IndexFunc(i.lakes, func(f data.LakeForecast) bool { return f.LakeID == id })
	if k < 0 {
		return data.ForecastIssue{}, data.LakeForecast{}, data.ErrNoForecast
	}
	return i.ForecastIssue, i.lakes[k], ctx.Err()
}

// ForecastIssues returns the issues of the newest pass and of those of the year before.
func (s *Source) ForecastIssues(ctx context.Context) ([]data.ForecastIssue, error) {
	e := s.current()
	issues := []data.ForecastIssue{e.newestIssue().ForecastIssue}
	for _, i := range e.earlierIssues() {
		issues = append(issues, i.ForecastIssue)
	}
	return issues, ctx.Err()
}

// ForecastTest returns the test of the forecasts with the demo's own past.
func (s *Source) ForecastTest(context.Context) (data.ForecastTest, error) {
	t := s.current().test()
	return t.ForecastTest, t.err
}
