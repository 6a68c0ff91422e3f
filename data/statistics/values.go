package statistics

import (
	"cmp"
	"slices"
	"time"

	"limnomap/data"
)

// A Value is the chlorophyll of a lake on a day in µg/l.
type Value struct {
	Date        data.Date
	Chlorophyll float64
}

// A Series says whose values they are.
type Series uint8

const (
	Together    Series = iota // as on the map: in a week with a sample its newest one, otherwise the newest pass of the satellite
	OfSatellite               // passes
	OfSamples
)

// ValuesOf returns the values of a series in ascending order of date, from the observations of a lake: those of ShownOf.
func ValuesOf(observations []data.Observation, series Series) []Value {
	shown := ShownOf(observations, series)
	values := make([]Value, 0, len(shown))
	for _, o := range shown {
		values = append(values, Value{o.Date, o.Chlorophyll.Float()})
	}
	return values
}

// ShownOf returns the observations of a lake that are in a series, in ascending order of date: of Together one for each week, otherwise one for each day. Only
// values that may be current count. Of several on one day it takes that of the best source (see [data.SourceOrder]), and of equal ones the highest.
func ShownOf(observations []data.Observation, series Series) []*data.Observation {
	var used []*data.Observation
	for i := range observations {
		o := &observations[i]
		if o.Usable() && (series == Together || (o.Type == data.InSitu) == (series == OfSamples)) {
			used = append(used, o)
		}
	}
	rank := func(o *data.Observation) int {
		if o.Rank == 0 { // in no order
			return 1 << 8
		}
		return int(o.Rank)
	}
	sample := func(o *data.Observation) int {
		if o.Type == data.InSitu {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(used, func(a, b *data.Observation) int {
		if series == Together {
			if c := cmp.Or(cmp.Compare(a.Date.Week(), b.Date.Week()), sample(a)-sample(b), rank(a)-rank(b), cmp.Compare(b.Date, a.Date)); c != 0 {
				return c
			}
		}
		return cmp.Or(cmp.Compare(a.Date, b.Date), rank(a)-rank(b), cmp.Compare(b.Chlorophyll, a.Chlorophyll))
	})
	same := func(a, b *data.Observation) bool { return a.Date == b.Date }
	if series == Together {
		same = func(a, b *data.Observation) bool { return a.Date.Week() == b.Date.Week() }
	}
	return slices.CompactFunc(used, same) // keeps the first
}

// yearOf returns the year of a date.
func yearOf(d data.Date) int { return d.Time().Year() }

// monthOf returns the month of a date.
func monthOf(d data.Date) time.Month { return d.Time().Month() }

// chlorophylls returns the numbers of values.
func chlorophylls(values []Value) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = v.Chlorophyll
	}
	return all
}

// quantile returns the q-quantile of sorted numbers, interpolated linearly between the two nearest as in NumPy's default.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (sorted[i+1]-sorted[i])*(at-float64(i))
}
