package backtest

import (
	"iter"
	"slices"

	"limnomap/data/forecast"
)

const (
	pastDays = 3*365 + 1 // in which forecasts are repeated before the day of issue
	// The last value was the better forecast if the error of the model was clearly larger, in half a year of weeks. On the 357 lakes of the
	// public series that docs/forecast.md names, year by year, this holds for 0.9 % of 3,690 lakes and years; in the year after it the last
	// value was better again in 38 % of them, in 9 % of the others. With half as many pairs or without the margin it is no more than chance.
	leastPairs  = 26
	largerError = 1.05 // times the RMSE of the last value
)

// A Past is the filter of one lake that takes its values up to one day of issue after another, and repeats the forecasts of one week ahead of
// the Mondays before it meanwhile. It makes the same forecasts as [Pairs]. The zero value is ready for Begin, and a Past can begin again.
type Past struct {
	forecast.Filter // has the values up to the day of the last call of Advance

	values   []forecast.Value
	known    int // in the filter
	monday   int // the next one
	repeated []repetition
}

// A repetition is a forecast of one week ahead whose value came.
type repetition struct {
	origin      int
	model, last float64 // squared errors of ln chl
}

// Begin begins with a lake without values. Values must be in ascending order of days. Advance takes those up to the days of issue, of which
// the first one is given.
func (p *Past) Begin(latitude float64, values iter.Seq[forecast.Value], issued int) {
	p.Reset(latitude)
	p.values, p.known = slices.AppendSeq(p.values[:0], values), 0
	p.monday, p.repeated = mondayFrom(issued-pastDays), p.repeated[:0]
}

// Advance takes the values up to a day of issue, which is not before the last one. It reports the day of the last value, if there is one.
func (p *Past) Advance(issued int) (last int, ok bool) {
	if len(p.values) >= leastPairs { // each pair has a value of its own
		for ; p.monday <= issued; p.monday += 7 {
			p.take(p.monday)
			p.repeat(p.monday)
		}
	}
	p.take(issued)
	if p.known == 0 {
		return 0, false
	}
	return p.values[p.known-1].Day, true
}

// take takes the values up to a day.
func (p *Past) take(day int) {
	for ; p.known < len(p.values) && p.values[p.known].Day <= day; p.known++ {
		p.Add(p.values[p.known])
	}
}

// repeat repeats the forecast of a day of which the filter has the values.
func (p *Past) repeat(origin int) {
	target := origin + 7
	truth := nearest(p.values[p.known:], target)
	if truth == nil || p.Withheld(origin, target) != forecast.None {
		return
	}
	y := logOf(truth.Chl)
	model, last := p.Mu(target)-y, logOf(p.values[p.known-1].Chl)-y
	p.repeated = append(p.repeated, repetition{origin, float64(model * model), float64(last * last)})
}

// LastValueBetter reports whether the last value was the better forecast of one week ahead in the three years before the day of the last call
// of Advance. Only forecasts count whose value, if there is one, is known on that day.
func (p *Past) LastValueBetter(issued int) bool {
	var model, last float64
	pairs := 0
	for _, r := range p.repeated {
		if r.origin >= issued-pastDays && r.origin+7+truthDays <= issued {
			model += r.model
			last += r.last
			pairs++
		}
	}
	return pairs >= leastPairs && model > float64(largerError*largerError*last)
}
