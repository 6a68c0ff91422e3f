package data

import "sort"

// A sample is one satellite observation in 24 bytes: a hundred million of them must fit where the lakes do.
type sample struct {
	density     float64 // the source's own cell count, or NoCellDensity
	date        Date
	chlorophyll Chlorophyll // NoChlorophyll for a gap
	offset      int32       // seconds from midnight UTC of date to when it was taken
	level       Level       // the source's own, or NoLevel
}

// sampleOf returns o, which must pass its Check, without its lake.
func sampleOf(o Observation) sample {
	return sample{
		density:     o.CellDensity,
		date:        o.Date,
		chlorophyll: o.Chlorophyll,
		offset:      int32(o.takenOffset()),
		level:       o.Level,
	}
}

// taken returns when s was taken, in Unix seconds.
func (s sample) taken() int64 { return int64(s.date)*secondsPerDay + int64(s.offset) }

// A series holds the samples of all lakes, those of one lake side by side in ascending order of date: one flat array
// costs the garbage collector nothing to look through.
type series struct {
	samples []sample
	first   []int // samples[first[i]:first[i+1]] are those of lake i
}

// of returns the samples of lake i.
func (s *series) of(i int) []sample { return s.samples[s.first[i]:s.first[i+1]] }

// until returns the samples of lake i up to and on the day last.
func (s *series) until(i int, last Date) []sample {
	all := s.of(i)
	// The newest view is asked for most.
	if len(all) == 0 || all[len(all)-1].date <= last {
		return all
	}
	return all[:sort.Search(len(all), func(k int) bool { return all[k].date > last })]
}
