package forecast

const (
	minValues  = 5
	maxAge     = 42 // days from the last value to the origin
	seasonDays = 21 // around the target's day of the year
)

// A Reason says why there is no forecast.
type Reason int

const (
	None        Reason = iota // there is one
	FewValues                 // the lake has fewer than 5 values
	OldValue                  // the last value is more than 42 days older than the origin
	OutOfSeason               // no value of a record longer than a year was within 21 days of the target's day of the year
	// LastValueBetter is never the reason of a [Filter]: only repeated forecasts say it. See package backtest.
	LastValueBetter // the lake's last value, or that of the lakes of its region, was the better forecast in past years
	NotAfterOrigin  // the target is not after the origin
)

// String returns r in words for messages.
func (r Reason) String() string {
	switch r {
	case None:
		return "not withheld"
	case FewValues:
		return "fewer than 5 values"
	case OldValue:
		return "last value older than 42 days"
	case OutOfSeason:
		return "out of season"
	case LastValueBetter:
		return "last value better in past years"
	case NotAfterOrigin:
		return "target not after the origin"
	}
	return "unknown reason"
}

// Code returns r as a word for programs; empty for None.
func (r Reason) Code() string {
	switch r {
	case FewValues:
		return "few_values"
	case OldValue:
		return "old_value"
	case OutOfSeason:
		return "out_of_season"
	case LastValueBetter:
		return "last_value_better"
	case NotAfterOrigin:
		return "not_after_origin"
	}
	return ""
}

// Withheld returns why there must be no forecast that is made on day origin for day target, or None. If there are several reasons, it
// returns the first in the order of the constants.
func (f *Filter) Withheld(origin, target int) Reason {
	switch {
	case f.count < minValues:
		return FewValues
	case origin-f.last > maxAge:
		return OldValue
	case f.last-f.first > 365 && !f.days.near(target):
		return OutOfSeason
	case target <= origin:
		return NotAfterOrigin
	}
	return None
}

// daysOfYear is a set of days of the year: bit 0 is the first of January. A year has 365 days, of which the first follows the last: the
// 366th day of a leap year is the first of the next year.
type daysOfYear [6]uint64

func (d *daysOfYear) add(day int) {
	i := dayOfYear(day) % 365
	d[i/64] |= 1 << (i % 64)
}

// near reports whether d has a day within seasonDays of a day of the year.
func (d *daysOfYear) near(day int) bool {
	i := dayOfYear(day)
	for off := -seasonDays; off <= seasonDays; off++ {
		j := (i + off + 365) % 365
		if d[j/64]>>(j%64)&1 != 0 {
			return true
		}
	}
	return false
}

// dayOfYear returns the number of days since the first of January of the same year of the Gregorian calendar.
func dayOfYear(day int) int {
	const (
		cycle   = 146097 // days of 400 years
		century = 36524
		four    = 1461
	)
	// Days since the first of March of the year 0: leap days come last in a year.
	n := ((day+719468)%cycle + cycle) % cycle
	year := min(n/century, 3)
	n -= year * century
	leap := min(n/four, 24)
	n -= leap * four
	one := min(n/365, 3)
	n -= one * 365
	// The leap day is in January's year: the year of the following March.
	year = year*100 + leap*4 + one
	if n >= 306 {
		return n - 306
	}
	isLeap := year%4 == 0 && (year%100 != 0 || year == 0)
	if isLeap {
		return n + 60
	}
	return n + 59
}
