package demo

import (
	"sync"
	"time"

	"limnomap/data"
)

const (
	passes = 157 // three years of 52 weeks, and one for the anniversary of the newest week
	// passOfDay is the time of a pass on its Monday, in UTC: satellites for water colour cross the equator at about ten in
	// the morning in solar time (Sentinel-3: 10:00), before the clouds of the afternoon.
	passOfDay = 10*time.Hour + 30*time.Minute
)

// An edition is the demo of one week: the passes up to that week.
type edition struct {
	newest data.Week // of the newest pass
	lakes  []data.LakeID
	values []data.Chlorophyll // passes of the first lake by date, then of the next
	models []model

	newestIssue   func() issue        // of the newest pass
	earlierIssues func() []issue      // of the passes of the year before, the newest first
	test          func() forecastTest // of the forecasts
}

func newEdition(models []model, newest data.Week) *edition {
	e := &edition{
		newest: newest,
		lakes:  make([]data.LakeID, len(models)),
		values: make([]data.Chlorophyll, len(models)*passes),
		models: models,
	}
	e.newestIssue = sync.OnceValue(func() issue { return e.issues(0, 1)[0] })
	e.earlierIssues = sync.OnceValue(func() []issue { return e.issues(1, earlier) })
	e.test = sync.OnceValue(e.testForecasts)
	var weathers []weather // by the models' region numbers
	for i := range models {
		m := &models[i]
		if m.region == len(weathers) {
			weathers = append(weathers, weatherOf(m.lake.Region, e.first(), passes))
		}
		e.lakes[i] = m.lake.ID
		m.satellite(e.first(), e.passesOf(i), weathers[m.region])
	}
	return e
}

// first returns the week of the oldest pass.
func (e *edition) first() data.Week { return e.newest - (passes - 1) }

// passesOf returns the values of the i-th lake.
func (e *edition) passesOf(i int) []data.Chlorophyll { return e.values[i*passes:][:passes] }

// observation returns the k-th oldest pass of the i-th lake.
func (e *edition) observation(i, k int) data.Observation {
	week := e.first() + data.Week(k)
	return data.Observation{
		LakeID:      e.lakes[i],
		Date:        passDate(week),
		Type:        data.Satellite,
		MeasuredAt:  passTime(week),
		Chlorophyll: e.passesOf(i)[k],
		Level:       data.NoLevel,
		CellDensity: data.NoCellDensity,
	}
}

// newestPass returns the newest week with a pass at or before now.
func newestPass(now time.Time) data.Week {
	w := data.DateOf(now).Week()
	if now.Before(passTime(w)) {
		w--
	}
	return w
}

// passDate returns the day of the week on which the satellite passes.
func passDate(w data.Week) data.Date { return w.Monday() }

func passTime(w data.Week) time.Time { return passDate(w).Time().Add(passOfDay) }
