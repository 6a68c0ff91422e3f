package statistics

import (
	"slices"

	"limnomap/data"
)

const (
	// yearDays is the number of days of a season. 29 February counts as 28 February.
	yearDays = 365
	// bandStep is how many days are between two points of the band, of which there are 52.
	bandStep = 7
	// bandHalf is how many days before and after a day of the year count for it: the band is that of a moving window of 31 days, all of whose days have the
	// same weight, and which goes on from December to January.
	bandHalf = 15
	// bandYears is the least number of years with a value in the window.
	bandYears = 3
)

// A BandPoint is what values of a lake are usual at a time of the year.
type BandPoint struct {
	Day                     int // of the year, from 1 on
	P10, P25, P50, P75, P90 float64
	Values, Years           int // in the window
}

// dayOfYear returns the day of the year of a date, from 1 to 365.
func dayOfYear(d data.Date) int {
	t := d.Time()
	day := t.YearDay()
	if leap := t.AddDate(0, 0, -day+60).Month() == 2; leap && day > 59 { // the 60th day is 29 February
		day--
	}
	return day
}

// apart returns how many days of the year are between two.
func apart(a, b int) int {
	d := max(a-b, b-a)
	return min(d, yearDays-d)
}

// around returns the values of the window around a day of the year, sorted, and their years.
func around(values []Value, day int) (sorted []float64, years map[int][]float64) {
	years = make(map[int][]float64)
	for _, v := range values {
		of := dayOfYear(v.Date)
		if apart(of, day) > bandHalf {
			continue
		}
		year := yearOf(v.Date) // that of the window's middle
		switch {
		case of-day > yearDays/2:
			year++
		case day-of > yearDays/2:
			year--
		}
		sorted, years[year] = append(sorted, v.Chlorophyll), append(years[year], v.Chlorophyll)
	}
	slices.Sort(sorted)
	return sorted, years
}

// Band returns the usual values through the year, for each week that has values of at least three years within 15 days.
func Band(values []Value) []BandPoint {
	var band []BandPoint
	for day := (bandStep + 1) / 2; day <= yearDays-1; day += bandStep {
		sorted, years := around(values, day)
		if len(years) < bandYears {
			continue
		}
		band = append(band, BandPoint{day, quantile(sorted, 0.1), quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75), quantile(sorted, 0.9),
			len(sorted), len(years)})
	}
	return band
}

// A Place is where a value stands among those of other years at its time of the year.
type Place struct {
	Percent      float64 // of the values that are lower, with half of the equal ones
	Years, Lower int     // other years with values, and those whose median in the window is lower
}

// PlaceOf returns the place of a value among those of other years within 15 days of its day of the year. It is not ok with fewer than three other years.
func PlaceOf(values []Value, of Value) (p Place, ok bool) {
	var others []Value
	for _, v := range values {
		if d := v.Date - of.Date; d > yearDays/2 || d < -yearDays/2 {
			others = append(others, v)
		}
	}
	sorted, years := around(others, dayOfYear(of.Date))
	if len(years) < bandYears {
		return p, false
	}
	below := 0.0
	for _, v := range sorted {
		switch {
		case v < of.Chlorophyll:
			below++
		case v == of.Chlorophyll:
			below += 0.5
		}
	}
	p = Place{Percent: 100 * below / float64(len(sorted)), Years: len(years)}
	for _, values := range years {
		slices.Sort(values)
		if quantile(values, 0.5) < of.Chlorophyll {
			p.Lower++
		}
	}
	return p, true
}
