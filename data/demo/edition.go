package demo

import (
	"time"

	"limnomap/data"
)

const (
	passes    = 157 // three years of 52 weeks, and one for the anniversary of the newest week
	forecasts = 4   // weeks ahead
	// passOfDay is the time of a pass on its Monday, in UTC: satellites for water colour cross the equator at about ten in
	// the morning in solar time (Sentinel-3: 10:00), before the clouds of the afternoon.
	passOfDay = 10*time.Hour + 30*time.Minute
)

// An edition is the demo of one week: the passes up to that week and the forecasts after it.
type edition struct {
	newest data.Week // of the newest pass
	lakes  []data.LakeID
	values []data.Chlorophyll // passes+forecasts of the first lake by date, then of the next
}

func newEdition(models []model, newest data.Week) *edition {
	e := &edition{
		newest: newest,
		lakes:  make([]data.LakeID, len(models)),
		values: make([]data.Chlorophyll, len(models)*(passes+forecasts)),
	}
	var weathers []weather // by the models' region numbers
	for i := range models {
		m := &models[i]
		if m.region == len(weathers) {
			weathers = append(weathers, weatherOf(m.lake.Region, e.first(), passes))
		}
		e.lakes[i] = m.lake.ID
		own := e.values[i*(passes+forecasts):][:passes+forecasts]
		anomaly := m.satellite(e.first(), own[:passes], weathers[m.region])
		m.forecast(e.first(), own[:passes], anomaly, own[passes:])
	}
	return e
}

// first returns the week of the oldest pass.
func (e *edition) first() data.Week { return e.newest - (passes - 1) }

// observation returns the k-th oldest observation of the i-th lake: a pass, or a forecast from k = passes on.
func (e *edition) observation(i, k int) data.Observation {
	week := e.first() + data.Week(k)
	o := data.Observation{
		LakeID:      e.lakes[i],
		Date:        passDate(week),
		Chlorophyll: e.values[i*(passes+forecasts)+k],
		Level:       data.NoLevel,
		CellDensity: data.NoCellDensity,
	}
	if k < passes {
		o.Type, o.MeasuredAt = data.Satellite, passTime(week)
	} else {
		o.Type = data.Forecast // it was not measured, so MeasuredAt is zero
	}
	return o
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
