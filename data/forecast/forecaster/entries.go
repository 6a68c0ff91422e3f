package forecaster

import (
	"cmp"
	"iter"
	"slices"

	"limnomap/data"
	"limnomap/data/forecast"
)

// entries are forecasts of many lakes in little memory: a part is never copied to a larger one.
type entries struct {
	parts [][]entry
	order []int32 // indexes by number, see sort
}

const entriesPart = 1 << 12

// An entry is a data.NumberedForecast in less memory.
type entry struct {
	number, input int64
	basedOn       data.Date
	withheld      uint8
	weeks         [data.ForecastWeeks]data.StoredForecast
}

func (e *entries) add(f *data.NumberedForecast) {
	n := len(e.parts)
	if n == 0 || len(e.parts[n-1]) == entriesPart {
		e.parts = append(e.parts, make([]entry, 0, entriesPart))
		n++
	}
	e.parts[n-1] = append(e.parts[n-1], entry{f.Number, f.Input, f.BasedOn, uint8(f.Withheld), f.Weeks})
}

func (e *entries) len() int {
	n := len(e.parts)
	if n == 0 {
		return 0
	}
	return (n-1)*entriesPart + len(e.parts[n-1])
}

func (e *entries) entry(i int32) *entry { return &e.parts[i/entriesPart][i%entriesPart] }

// sort puts the entries in the order of their numbers, as databases keep them. No entry is added afterwards.
func (e *entries) sort() {
	e.order = make([]int32, e.len())
	for i := range e.order {
		e.order[i] = int32(i)
	}
	slices.SortFunc(e.order, func(a, b int32) int { return cmp.Compare(e.entry(a).number, e.entry(b).number) })
}

// find returns the place of a number in the order of sort.
func (e *entries) find(number int64) (int, bool) {
	return slices.BinarySearchFunc(e.order, number, func(i int32, n int64) int { return cmp.Compare(e.entry(i).number, n) })
}

// at returns the forecast at a place in the order of sort, without the id of the lake.
func (e *entries) at(i int) data.NumberedForecast {
	f := e.entry(e.order[i])
	return data.NumberedForecast{Number: f.number, Input: f.input,
		LakeForecast: data.LakeForecast{BasedOn: f.basedOn, Withheld: forecast.Reason(f.withheld), Weeks: f.weeks}}
}

// all yields the forecasts in the order of their numbers.
func (e *entries) all() iter.Seq[data.NumberedForecast] {
	e.sort()
	return func(yield func(data.NumberedForecast) bool) {
		for i := range e.order {
			if !yield(e.at(i)) {
				return
			}
		}
	}
}
