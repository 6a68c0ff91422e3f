package snapshot

import (
	"cmp"

	"limnomap/data"
)

// The status describes a year, not a week of bloom, and needs enough values in that year.
const (
	trophicDays      = 365
	trophicMinValues = 5
	trophicMinMonths = 3
)

// A coverage is what a series of a lake, its passes or its samples, has in the trophicDays that end with a day.
type coverage struct {
	sum    int64 // of its values, in hundredths of µg/l
	values int64
	months int // with a value; two Novembers count as two
}

// suffices reports whether the values describe a year.
func (c coverage) suffices() bool {
	return c.values >= trophicMinValues && c.months >= trophicMinMonths
}

// coverageOf returns the coverage of readings up to asOf, in ascending order of date. It counts months up to a number: fewer dates are
// converted.
func coverageOf(readings []reading, asOf data.Date, months int) (c coverage) {
	month := asOf + 1 // the first day of the oldest month counted so far; none yet
	oldest := from(asOf - (trophicDays - 1))
	for i := len(readings) - 1; i >= 0; i-- {
		s := readings[i]
		if s < oldest {
			break
		}
		if !s.usable() {
			continue
		}
		c.sum += int64(s.chlorophyll())
		c.values++
		if c.months < months && s.date() < month {
			c.months++
			month = s.date().MonthStart()
		}
	}
	return c
}

// trophicOf returns the status of a lake on asOf, and by which series, of the passes and samples up to then: the class of the arithmetic
// mean of that which has values in more months, of equals the one with more values, of equals the passes. Without a status, the series
// is that of passes.
func trophicOf(passes, samples []reading, asOf data.Date) (data.Trophic, data.DataType) {
	pass := coverageOf(passes, asOf, trophicMinMonths)
	best, by := pass, data.Satellite
	if sample := coverageOf(samples, asOf, trophicMinMonths); sample.suffices() {
		const all = 13 // months that 365 days can touch
		pass.months, sample.months = coverageOf(passes, asOf, all).months, coverageOf(samples, asOf, all).months
		if !pass.suffices() || cmp.Or(cmp.Compare(sample.months, pass.months), cmp.Compare(sample.values, pass.values)) > 0 {
			best, by = sample, data.InSitu
		}
	}
	if !best.suffices() {
		return data.TrophicUnknown, data.Satellite
	}
	return data.OECDClass(best.sum, best.values), by
}
