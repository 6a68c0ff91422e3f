package snapshot

import (
	"sort"

	"limnomap/data"
)

// A reading is one observation in 8 bytes, without its lake and its type: memory must hold a hundred million of them.
// From the highest bit down it holds the date (so readings sort by date), the chlorophyll and whether it is below a limit, the level that the source reports, the
// time of day or the period, the quality, whether only the Source has the rest, and whether there are [readingDetails].
type reading uint64

const (
	detailsBit    = 0
	moreBit       = detailsBit + 1 // the observation has a Source or Details, which are not in memory
	qualityShift  = moreBit + 1
	qualityBits   = 2
	timeShift     = qualityShift + qualityBits
	timeBits      = 17
	levelShift    = timeShift + timeBits
	levelBits     = 3
	valueShift    = levelShift + levelBits
	valueBits     = 18
	dateShift     = valueShift + valueBits
	dateBits      = 22
	timeUnknown   = data.SecondsPerDay     // the source gave no time
	timeOtherDay  = data.SecondsPerDay + 1 // the time is on another day: see readingDetails.offset
	timeOutranked = data.SecondsPerDay + 2 // a better source has a value in the week: see outrank
	timePeriod    = data.SecondsPerDay + 2 // plus its period, for a value without a time that is of a period

	// belowLimit is added to a chlorophyll that is only known to be below a limit of detection. Above 1,121 µg/l, which no limit
	// reaches, there is no room for it.
	belowLimit = data.MaxChlorophyll - data.NoChlorophyll + 1
)

// The bits suffice: a negative constant does not convert to uint.
const (
	_ = uint(1<<qualityBits - 1 - data.Poor)
	_ = uint(1<<timeBits - 1 - timePeriod - maxPeriod)
	_ = uint(1<<levelBits - 1 - (data.MaxLevel - data.NoLevel))
	_ = uint(1<<valueBits - 1 - (data.MaxChlorophyll - data.NoChlorophyll))
	_ = uint(1<<dateBits - 1 - (data.MaxDate - data.MinDate))
	_ = uint(64 - dateBits - dateShift)
)

// readingDetails are the rare parts of an observation that do not fit into a reading.
type readingDetails struct {
	density float64 // the source's own cell count, or NoCellDensity
	lake    int32   // index of the lake in its readingGroup
	date    data.Date
	offset  int32  // seconds from midnight UTC of date to MeasuredAt
	period  period // of a value with a time
}

// readingOf packs o, which must pass its Check. The details are valid only if hasDetails is true; their lake is not set.
func readingOf(o data.Observation) (s reading, d readingDetails, hasDetails bool) {
	offset := o.TakenOffset()
	time, span := offset, periodOf(&o)
	switch {
	case o.MeasuredAt.IsZero() && span != 0:
		time, span = timePeriod+int64(span), 0
	case o.MeasuredAt.IsZero():
		time = timeUnknown
	case offset < 0 || offset >= data.SecondsPerDay:
		time = timeOtherDay
	}
	value := o.Chlorophyll - data.NoChlorophyll
	if o.Details.BelowLimit && value+belowLimit < 1<<valueBits {
		value += belowLimit
	}
	s = reading(o.Date-data.MinDate)<<dateShift |
		reading(value)<<valueShift |
		reading(o.ReportedLevel()-data.NoLevel)<<levelShift |
		reading(time)<<timeShift |
		reading(o.Quality)<<qualityShift
	if o.Source != "" || o.Details != (data.Details{}) {
		s |= 1 << moreBit
	}
	if time != timeOtherDay && o.CellDensity == data.NoCellDensity && span == 0 {
		return s, readingDetails{}, false
	}
	return s | 1<<detailsBit, readingDetails{density: o.CellDensity, date: o.Date, offset: int32(offset), period: span}, true
}

func (s reading) date() data.Date { return data.Date(s>>dateShift) + data.MinDate }

// from returns the smallest reading with a date of d or later.
func from(d data.Date) reading { return reading(max(d, data.MinDate)-data.MinDate) << dateShift }

// chlorophyll returns NoChlorophyll for a gap.
func (s reading) chlorophyll() data.Chlorophyll {
	value := s.value()
	if value >= belowLimit {
		value -= belowLimit
	}
	return value + data.NoChlorophyll
}

// belowLimit reports whether the chlorophyll is only known to be below a limit of detection.
func (s reading) belowLimit() bool { return s.value() >= belowLimit }

func (s reading) value() data.Chlorophyll {
	return data.Chlorophyll(s >> valueShift & (1<<valueBits - 1))
}

// valid reports whether s is not a gap.
func (s reading) valid() bool { return s.value() != 0 }

// usable reports whether s may be a current value, if it is not too old. Its type must be [data.DataType.Measured].
func (s reading) usable() bool { return s.valid() && s.quality() != data.Poor }

func (s reading) quality() data.Quality {
	return data.Quality(s >> qualityShift & (1<<qualityBits - 1))
}

// level returns the level that the source reports, also with the flag [data.Scum], or NoLevel.
func (s reading) level() data.Level { return data.Level(s>>levelShift&(1<<levelBits-1)) + data.NoLevel }

// time returns the seconds since midnight UTC, or timeUnknown, timeOtherDay, timeOutranked or more than timePeriod.
func (s reading) time() int64 { return int64(s >> timeShift & (1<<timeBits - 1)) }

func (s reading) hasDetails() bool { return s>>detailsBit&1 != 0 }

// outrank makes a reading unusable, because a better source has a value in its week. Then only the Source has its time and its quality.
func (s *reading) outrank() {
	*s &^= (1<<timeBits-1)<<timeShift | (1<<qualityBits-1)<<qualityShift
	*s |= timeOutranked<<timeShift | reading(data.Poor)<<qualityShift | 1<<moreBit
}

func (s reading) outranked() bool { return s.time() == timeOutranked }

// hasMore reports whether the observation has a Source or Details.
func (s reading) hasMore() bool { return s>>moreBit&1 != 0 }

// lakeReadings are the readings of one lake and type in ascending order of date.
type lakeReadings struct {
	readings []reading
	lake     int32            // index of the lake in its readingGroup
	details  []readingDetails // of the whole group, ascending by lake and date, those of one date in the order of the readings
}

// until returns the part of s up to and including the day last.
func (s lakeReadings) until(last data.Date) lakeReadings {
	s.readings = s.readings[:countUntil(s.readings, last)]
	return s
}

// countUntil returns how many of a lake's readings have a date up to and including last.
func countUntil(readings []reading, last data.Date) int {
	n := len(readings)
	end := from(last) + 1<<dateShift
	// Fast path: most requests are for the newest view.
	if n == 0 || readings[n-1] < end {
		return n
	}
	// Most readings are a week apart: trying the expected index is quicker than a binary search.
	if k := n - 1 - int(readings[n-1].date()-last)/7; k > 0 && readings[k] >= end && readings[k-1] < end {
		return k
	}
	return sort.Search(n, func(k int) bool { return readings[k] >= end })
}

// newest returns the index of the reading whose value counts: a usable one of the newest date that has one; -1 if there is none. If
// several sources have a value of that date, the best quality counts, of those the worst level by p, and then the highest value.
func (s lakeReadings) newest(p *data.Profile) int {
	k := len(s.readings) - 1
	for k >= 0 && !s.readings[k].usable() {
		k--
	}
	if k <= 0 || s.readings[k-1].date() < s.readings[k].date() {
		return k
	}
	best := k
	for i := k - 1; i >= 0 && s.readings[i].date() == s.readings[k].date(); i-- {
		if s.readings[i].usable() && s.countsBefore(p, i, best) {
			best = i
		}
	}
	return best
}

// countsBefore reports whether the value of reading i counts, and not that of reading k.
func (s lakeReadings) countsBefore(p *data.Profile, i, k int) bool {
	if a, b := s.readings[i].quality() == data.Suspect, s.readings[k].quality() == data.Suspect; a != b {
		return b
	}
	levelOf := func(k int) data.Level {
		o, _, _ := s.observation(k)
		level, _ := p.Classify(o)
		return level
	}
	if a, b := levelOf(i), levelOf(k); a != b {
		return a > b
	}
	return s.readings[i].chlorophyll() > s.readings[k].chlorophyll()
}

// observation unpacks the k-th reading, without lake, type, source, MeasuredAt and of Details only with BelowLimit and the period. The time in Unix seconds is returned
// separately: the source's if hasTime is true, otherwise midnight UTC.
func (s lakeReadings) observation(k int) (o data.Observation, taken int64, hasTime bool) {
	p := s.readings[k]
	o = data.Observation{Date: p.date(), Chlorophyll: p.chlorophyll(), Level: p.level(), CellDensity: data.NoCellDensity, Quality: p.quality(),
		Details: data.Details{BelowLimit: p.belowLimit()}}
	time := p.time()
	var span period
	if time > timePeriod {
		span = period(time - timePeriod)
	}
	hasTime = time != timeUnknown && span == 0
	if !hasTime {
		time = 0
	}
	if p.hasDetails() {
		d := s.detailsOf(k)
		o.CellDensity, span = d.density, max(span, d.period)
		if time == timeOtherDay {
			time = int64(d.offset)
		}
	}
	o.Details.PeriodStart, o.Details.Composite = span.start(o.Date), span.composite()
	return o, int64(o.Date)*data.SecondsPerDay + time, hasTime
}

// detailsOf returns the details of the k-th reading, which must have some.
func (s lakeReadings) detailsOf(k int) readingDetails {
	date := s.readings[k].date()
	first := sort.Search(len(s.details), func(i int) bool {
		d := &s.details[i]
		return d.lake > s.lake || d.lake == s.lake && d.date >= date
	})
	for k--; k >= 0 && s.readings[k].date() == date; k-- {
		if s.readings[k].hasDetails() {
			first++
		}
	}
	return s.details[first]
}
