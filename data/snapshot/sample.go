package snapshot

import (
	"limnomap/data"
	"sort"
)

// A sample is one observation in 8 bytes, without its lake and its type: memory must hold a hundred million of them.
// From the highest bit down it holds the date (so samples sort by date), the chlorophyll, the level that the source reports, the
// time of day, the quality, whether only the Source has the rest, and whether there are [sampleDetails].
type sample uint64

const (
	detailsBit   = 0
	moreBit      = detailsBit + 1 // the observation has a Source or Details, which are not in memory
	qualityShift = moreBit + 1
	qualityBits  = 2
	timeShift    = qualityShift + qualityBits
	timeBits     = 17
	levelShift   = timeShift + timeBits
	levelBits    = 3
	valueShift   = levelShift + levelBits
	valueBits    = 18
	dateShift    = valueShift + valueBits
	dateBits     = 22
	timeUnknown  = data.SecondsPerDay     // the source gave no time
	timeOtherDay = data.SecondsPerDay + 1 // the time is on another day: see sampleDetails.offset
	timeKeptBack = data.SecondsPerDay + 2 // a better source has a value in the week: see keepBack
)

// The bits suffice: a negative constant does not convert to uint.
const (
	_ = uint(1<<qualityBits - 1 - data.Poor)
	_ = uint(1<<timeBits - 1 - timeKeptBack)
	_ = uint(1<<levelBits - 1 - (data.MaxLevel - data.NoLevel))
	_ = uint(1<<valueBits - 1 - (data.MaxChlorophyll - data.NoChlorophyll))
	_ = uint(1<<dateBits - 1 - (data.MaxDate - data.MinDate))
	_ = uint(64 - dateBits - dateShift)
)

// sampleDetails are the rare parts of an observation that do not fit into a sample.
type sampleDetails struct {
	density float64 // the source's own cell count, or NoCellDensity
	lake    int32   // index of the lake in its sampleGroup
	date    data.Date
	offset  int32 // seconds from midnight UTC of date to MeasuredAt
}

// sampleOf packs o, which must pass its Check. The details are valid only if hasDetails is true; their lake is not set.
func sampleOf(o data.Observation) (s sample, d sampleDetails, hasDetails bool) {
	offset := o.TakenOffset()
	time := offset
	switch {
	case o.MeasuredAt.IsZero():
		time = timeUnknown
	case offset < 0 || offset >= data.SecondsPerDay:
		time = timeOtherDay
	}
	s = sample(o.Date-data.MinDate)<<dateShift |
		sample(o.Chlorophyll-data.NoChlorophyll)<<valueShift |
		sample(o.ReportedLevel()-data.NoLevel)<<levelShift |
		sample(time)<<timeShift |
		sample(o.Quality)<<qualityShift
	if o.Source != "" || o.Details != (data.Details{}) {
		s |= 1 << moreBit
	}
	if time != timeOtherDay && o.CellDensity == data.NoCellDensity {
		return s, sampleDetails{}, false
	}
	return s | 1<<detailsBit, sampleDetails{density: o.CellDensity, date: o.Date, offset: int32(offset)}, true
}

func (s sample) date() data.Date { return data.Date(s>>dateShift) + data.MinDate }

// from returns the smallest sample with a date of d or later.
func from(d data.Date) sample { return sample(max(d, data.MinDate)-data.MinDate) << dateShift }

// chlorophyll returns NoChlorophyll for a gap.
func (s sample) chlorophyll() data.Chlorophyll {
	return data.Chlorophyll(s>>valueShift&(1<<valueBits-1)) + data.NoChlorophyll
}

// valid reports whether s is not a gap.
func (s sample) valid() bool { return s>>valueShift&(1<<valueBits-1) != 0 }

// usable reports whether s may be a current value, if it is not too old. Its type must be [DataType.Measured].
func (s sample) usable() bool { return s.valid() && s.quality() != data.Poor }

func (s sample) quality() data.Quality { return data.Quality(s >> qualityShift & (1<<qualityBits - 1)) }

// level returns the level that the source reports, also with the flag [Scum], or NoLevel.
func (s sample) level() data.Level { return data.Level(s>>levelShift&(1<<levelBits-1)) + data.NoLevel }

// time returns the seconds since midnight UTC, or timeUnknown, timeOtherDay or timeKeptBack.
func (s sample) time() int64 { return int64(s >> timeShift & (1<<timeBits - 1)) }

func (s sample) hasDetails() bool { return s>>detailsBit&1 != 0 }

// keepBack makes a sample unusable, because a better source has a value in its week. Then only the Source has its time and its quality.
func (s *sample) keepBack() {
	*s &^= (1<<timeBits-1)<<timeShift | (1<<qualityBits-1)<<qualityShift
	*s |= timeKeptBack<<timeShift | sample(data.Poor)<<qualityShift | 1<<moreBit
}

func (s sample) keptBack() bool { return s.time() == timeKeptBack }

// hasMore reports whether the observation has a Source or Details.
func (s sample) hasMore() bool { return s>>moreBit&1 != 0 }

// lakeSamples are the samples of one lake and type in ascending order of date.
type lakeSamples struct {
	samples []sample
	lake    int32           // index of the lake in its sampleGroup
	details []sampleDetails // of the whole group, ascending by lake and date, those of one date in the order of the samples
}

// until returns the part of s up to and including the day last.
func (s lakeSamples) until(last data.Date) lakeSamples {
	s.samples = s.samples[:countUntil(s.samples, last)]
	return s
}

// countUntil returns how many of a lake's samples have a date up to and including last.
func countUntil(samples []sample, last data.Date) int {
	n := len(samples)
	end := from(last) + 1<<dateShift
	// Fast path: most requests are for the newest view.
	if n == 0 || samples[n-1] < end {
		return n
	}
	// Most samples are a week apart: trying the expected index is quicker than a binary search.
	if k := n - 1 - int(samples[n-1].date()-last)/7; k > 0 && samples[k] >= end && samples[k-1] < end {
		return k
	}
	return sort.Search(n, func(k int) bool { return samples[k] >= end })
}

// newest returns the index of the sample whose value counts: a usable one of the newest date that has one; -1 if there is none. If
// several sources have a value of that date, the best quality counts, of those the worst level by p, and then the highest value.
func (s lakeSamples) newest(p *data.Profile) int {
	k := len(s.samples) - 1
	for k >= 0 && !s.samples[k].usable() {
		k--
	}
	if k <= 0 || s.samples[k-1].date() < s.samples[k].date() {
		return k
	}
	best := k
	for i := k - 1; i >= 0 && s.samples[i].date() == s.samples[k].date(); i-- {
		if s.samples[i].usable() && s.countsBefore(p, i, best) {
			best = i
		}
	}
	return best
}

// countsBefore reports whether the value of sample i counts, and not that of sample k.
func (s lakeSamples) countsBefore(p *data.Profile, i, k int) bool {
	if a, b := s.samples[i].quality() == data.Suspect, s.samples[k].quality() == data.Suspect; a != b {
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
	return s.samples[i].chlorophyll() > s.samples[k].chlorophyll()
}

// observation unpacks the k-th sample, without lake, type, source, MeasuredAt and Details. The time in Unix seconds is returned
// separately: the source's if hasTime is true, otherwise midnight UTC.
func (s lakeSamples) observation(k int) (o data.Observation, taken int64, hasTime bool) {
	p := s.samples[k]
	o = data.Observation{Date: p.date(), Chlorophyll: p.chlorophyll(), Level: p.level(), CellDensity: data.NoCellDensity, Quality: p.quality()}
	time := p.time()
	hasTime = time != timeUnknown
	if !hasTime {
		time = 0
	}
	if p.hasDetails() {
		d := s.detailsOf(k)
		o.CellDensity = d.density
		if time == timeOtherDay {
			time = int64(d.offset)
		}
	}
	return o, int64(o.Date)*data.SecondsPerDay + time, hasTime
}

// detailsOf returns the details of the k-th sample, which must have some.
func (s lakeSamples) detailsOf(k int) sampleDetails {
	date := s.samples[k].date()
	first := sort.Search(len(s.details), func(i int) bool {
		d := &s.details[i]
		return d.lake > s.lake || d.lake == s.lake && d.date >= date
	})
	for k--; k >= 0 && s.samples[k].date() == date; k-- {
		if s.samples[k].hasDetails() {
			first++
		}
	}
	return s.details[first]
}
