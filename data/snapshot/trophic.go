package snapshot

import "limnomap/data"

// The status describes a year, not a week of bloom, and needs enough values in that year.
const (
	trophicDays      = 365
	trophicMinValues = 5
	trophicMinMonths = 3
)

// trophicOf returns the status of a lake on asOf, from the satellite's passes up to then in ascending order of date: the class of
// their arithmetic mean over the trophicDays that end with asOf. Two Novembers count as two months.
func trophicOf(readings []reading, asOf data.Date) data.Trophic {
	var (
		sum    int64
		values int64
		months int
		month  = asOf + 1 // the first day of the oldest month counted so far; none yet
	)
	oldest := from(asOf - (trophicDays - 1))
	for i := len(readings) - 1; i >= 0; i-- {
		s := readings[i]
		if s < oldest {
			break
		}
		if !s.usable() {
			continue
		}
		sum += int64(s.chlorophyll())
		values++
		// Once there are enough months, more do not matter: so at most three dates are converted.
		if months < trophicMinMonths && s.date() < month {
			months++
			month = s.date().MonthStart()
		}
	}
	if values < trophicMinValues || months < trophicMinMonths {
		return data.TrophicUnknown
	}
	return data.OECDClass(sum, values)
}
