package data

// Trophic is a lake's trophic status by OECD 1982.
type Trophic uint8

const (
	TrophicUnknown Trophic = iota // "unknown"
	Ultraoligotrophic
	Oligotrophic
	Mesotrophic
	Eutrophic
	Hypertrophic
)

var trophicNames = [...]string{"unknown", "ultraoligotrophic", "oligotrophic", "mesotrophic", "eutrophic", "hypertrophic"}

func (t Trophic) String() string { return trophicNames[t] }

// The status describes a year, not a week of bloom, and needs enough values in that year.
const (
	trophicDays      = 365
	trophicMinValues = 5
	trophicMinMonths = 3
)

// trophicOf returns the status of a lake on asOf, from the satellite's passes up to then in ascending order of date: the class of
// their arithmetic mean over the trophicDays that end with asOf. Two Novembers count as two months.
func trophicOf(samples []sample, asOf Date) Trophic {
	var (
		sum    int64
		values int64
		months int
		month  = asOf + 1 // the first day of the oldest month counted so far; none yet
	)
	oldest := from(asOf - (trophicDays - 1))
	for i := len(samples) - 1; i >= 0; i-- {
		s := samples[i]
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
			month = s.date().monthStart()
		}
	}
	if values < trophicMinValues || months < trophicMinMonths {
		return TrophicUnknown
	}
	return oecdClass(sum, values)
}

// oecdClass returns the class of the mean of n > 0 values with that sum, in hundredths of µg/l, by the fixed boundaries of
// OECD 1982 (Vollenweider and Kerekes: Eutrophication of Waters. Monitoring, Assessment and Control). The sum is
// compared with n times each boundary, so that a mean of 2.5 is exactly 2.5.
func oecdClass(sum, n int64) Trophic {
	switch {
	case sum <= 1_00*n:
		return Ultraoligotrophic
	case sum <= 2_50*n:
		return Oligotrophic
	case sum < 8_00*n:
		return Mesotrophic
	case sum < 25_00*n:
		return Eutrophic
	}
	return Hypertrophic
}
