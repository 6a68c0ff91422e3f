package data

import "sort"

// A sample is one observation without its lake and its type in 8 bytes: a hundred million of them must fit where the
// lakes do. From the highest bit down it holds the date, so that samples are in the order of their dates, then the
// chlorophyll, the source's own level, when on that day it was taken, and whether there is a remark on it.
type sample uint64

const (
	remarkBit    = 0
	momentShift  = remarkBit + 1
	momentBits   = 17
	levelShift   = momentShift + momentBits
	levelBits    = 3
	valueShift   = levelShift + levelBits
	valueBits    = 18
	dateShift    = valueShift + valueBits
	dateBits     = 22
	momentUntold = secondsPerDay     // the source did not say when
	momentFar    = secondsPerDay + 1 // on another day: the remark has it
)

// The bits suffice. A constant that is negative does not fit into an unsigned one.
const (
	_ = uint(1<<momentBits - 1 - momentFar)
	_ = uint(1<<levelBits - 1 - (maxLevel - NoLevel))
	_ = uint(1<<valueBits - 1 - (MaxChlorophyll - NoChlorophyll))
	_ = uint(1<<dateBits - 1 - (maxDate - minDate))
	_ = uint(64 - dateBits - dateShift)
)

// A remark is what few observations have, and a sample has no room for.
type remark struct {
	density float64 // the source's own cell count, or NoCellDensity
	lake    int32   // the place of its lake on the shelf
	date    Date
	offset  int32 // seconds from midnight UTC of date to when it was taken
}

// sampleOf returns o, which must pass its Check, without its lake, and the remark that it needs, if any.
func sampleOf(o Observation) (s sample, r remark, remarked bool) {
	offset := o.takenOffset()
	moment := offset
	switch {
	case o.MeasuredAt.IsZero():
		moment = momentUntold
	case offset < 0 || offset >= secondsPerDay:
		moment = momentFar
	}
	s = sample(o.Date-minDate)<<dateShift |
		sample(o.Chlorophyll-NoChlorophyll)<<valueShift |
		sample(o.Level-NoLevel)<<levelShift |
		sample(moment)<<momentShift
	if moment != momentFar && o.CellDensity == NoCellDensity {
		return s, remark{}, false
	}
	return s | 1<<remarkBit, remark{density: o.CellDensity, date: o.Date, offset: int32(offset)}, true
}

func (s sample) date() Date { return Date(s>>dateShift) + minDate }

// from returns the least sample that is not older than d.
func from(d Date) sample { return sample(max(d, minDate)-minDate) << dateShift }

// chlorophyll returns NoChlorophyll for a gap.
func (s sample) chlorophyll() Chlorophyll {
	return Chlorophyll(s>>valueShift&(1<<valueBits-1)) + NoChlorophyll
}

// valid reports whether s is not a gap.
func (s sample) valid() bool { return s>>valueShift&(1<<valueBits-1) != 0 }

// level returns the source's own, or NoLevel.
func (s sample) level() Level { return Level(s>>levelShift&(1<<levelBits-1)) + NoLevel }

func (s sample) moment() int64 { return int64(s >> momentShift & (1<<momentBits - 1)) }

func (s sample) remarked() bool { return s>>remarkBit&1 != 0 }

// A strip is the samples of one lake in ascending order of date.
type strip struct {
	samples []sample
	lake    int32    // its place on the shelf
	remarks []remark // of the whole shelf, ascending by lake and date
}

// until returns the part of s up to and on the day last.
func (s strip) until(last Date) strip {
	s.samples = s.samples[:countUntil(s.samples, last)]
	return s
}

// countUntil returns how many of a lake's samples lie up to and on the day last.
func countUntil(samples []sample, last Date) int {
	n := len(samples)
	end := from(last) + 1<<dateShift
	// The newest view is asked for most.
	if n == 0 || samples[n-1] < end {
		return n
	}
	// Most samples are a week apart, and one look is sooner done than a search.
	if k := n - 1 - int(samples[n-1].date()-last)/7; k > 0 && samples[k] >= end && samples[k-1] < end {
		return k
	}
	return sort.Search(n, func(k int) bool { return samples[k] >= end })
}

// untilValue returns s without the gaps at its end.
func (s strip) untilValue() strip {
	n := len(s.samples)
	for n > 0 && !s.samples[n-1].valid() {
		n--
	}
	s.samples = s.samples[:n]
	return s
}

// observation returns the k-th sample as an observation without lake, type and MeasuredAt, which lies beside it in Unix
// seconds: told, or midnight.
func (s strip) observation(k int) (o Observation, taken int64, told bool) {
	p := s.samples[k]
	o = Observation{Date: p.date(), Chlorophyll: p.chlorophyll(), Level: p.level(), CellDensity: NoCellDensity}
	moment := p.moment()
	told = moment != momentUntold
	if !told {
		moment = 0
	}
	if p.remarked() {
		r := s.remark(o.Date)
		o.CellDensity = r.density
		if moment == momentFar {
			moment = int64(r.offset)
		}
	}
	return o, int64(o.Date)*secondsPerDay + moment, told
}

// remark returns the remark on the sample of that date, which must have one.
func (s strip) remark(d Date) remark {
	return s.remarks[sort.Search(len(s.remarks), func(k int) bool {
		r := &s.remarks[k]
		return r.lake > s.lake || r.lake == s.lake && r.date >= d
	})]
}
