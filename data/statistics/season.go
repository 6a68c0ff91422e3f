package statistics

import (
	"slices"
	"time"

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
	// MaxBandStep is how many days at most are between the dates of two points of the band that follow each other without a gap: those of the last week of
	// a year and the first of the next.
	MaxBandStep = bandStep + 2
)

// A BandPoint is what values of a lake are usual at a time of the year.
type BandPoint struct {
	Day                     int // of the year, from 1 on
	P10, P25, P50, P75, P90 float64
	Values, Years           int // in the window
}

// In returns the date of the point in a year.
func (p *BandPoint) In(year int) data.Date {
	d := data.DateOf(time.Date(year, 1, p.Day, 0, 0, 0, 0, time.UTC))
	if p.Day > 59 && isLeap(year) {
		d++
	}
	return d
}

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// dayOfYear returns the day of the year of a date, from 1 to 365.
func dayOfYear(d data.Date) int {
	t := d.Time()
	day := t.YearDay()
	if day > 59 && isLeap(t.Year()) { // the 60th day is 29 February
		day--
	}
	return day
}

// A season has values by the day of the year.
type season struct {
	days        [yearDays + 1][]seasonValue // from 1 on
	first, last int                         // years; the windows of January and December reach beyond them
}

type seasonValue struct {
	year        int
	chlorophyll float64
}

func newSeason(values []Value) *season {
	s := &season{}
	for i, v := range values {
		year, day := yearOf(v.Date), dayOfYear(v.Date)
		if i == 0 {
			s.first, s.last = year, year
		}
		s.first, s.last = min(s.first, year), max(s.last, year)
		s.days[day] = append(s.days[day], seasonValue{year, v.Chlorophyll})
	}
	return s
}

// around returns the values of the window around a day of the year in the order of days, each with the year of the window's middle.
func (s *season) around(day int) (window []seasonValue) {
	for of := day - bandHalf; of <= day+bandHalf; of++ {
		at, years := of, 0
		switch {
		case of < 1: // of the December before
			at, years = of+yearDays, 1
		case of > yearDays: // of the next January
			at, years = of-yearDays, -1
		}
		for _, v := range s.days[at] {
			window = append(window, seasonValue{v.year + years, v.chlorophyll})
		}
	}
	return window
}

// Band returns the usual values through the year, for each week that has values of at least three years within 15 days.
func Band(values []Value) []BandPoint {
	var band []BandPoint
	s := newSeason(values)
	seen := make([]int, s.last-s.first+3) // the day for which a year was seen last
	var sorted []float64
	for day := (bandStep + 1) / 2; day <= yearDays-1; day += bandStep {
		years := 0
		sorted = sorted[:0]
		for _, v := range s.around(day) {
			if at := &seen[v.year-s.first+1]; *at != day {
				*at = day
				years++
			}
			sorted = append(sorted, v.chlorophyll)
		}
		if years < bandYears {
			continue
		}
		slices.Sort(sorted)
		band = append(band, BandPoint{day, quantile(sorted, 0.1), quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75), quantile(sorted, 0.9),
			len(sorted), years})
	}
	return band
}

// A Place is where a value stands among those of other years at its time of the year.
type Place struct {
	Percent              float64 // of the values that are lower, with half of the equal ones
	Years, Lower, Higher int     // other years with values, and those whose median in the window is lower or higher
}

// PlaceOf returns the place of a value among those of other years within 15 days of its day of the year. It is not ok with fewer than three other years.
func PlaceOf(values []Value, of Value) (p Place, ok bool) {
	var others []Value
	for _, v := range values {
		if d := v.Date - of.Date; d > yearDays/2 || d < -yearDays/2 {
			others = append(others, v)
		}
	}
	window := newSeason(others).around(dayOfYear(of.Date))
	years := make(map[int][]float64)
	below := 0.0
	for _, v := range window {
		years[v.year] = append(years[v.year], v.chlorophyll)
		switch {
		case v.chlorophyll < of.Chlorophyll:
			below++
		case v.chlorophyll == of.Chlorophyll:
			below += 0.5
		}
	}
	if len(years) < bandYears {
		return p, false
	}
	p = Place{Percent: 100 * below / float64(len(window)), Years: len(years)}
	for _, values := range years {
		slices.Sort(values)
		switch median := quantile(values, 0.5); {
		case median < of.Chlorophyll:
			p.Lower++
		case median > of.Chlorophyll:
			p.Higher++
		}
	}
	return p, true
}
