package snapshot

import (
	"limnomap/data"
	"slices"
	"sort"
)

// groupLakes is how many lakes share a sampleGroup: enough that a group's overhead is negligible, and few enough that
// growing or trimming one group moves little memory.
const groupLakes = 1 << 12

// A series holds the samples of all lakes, groupLakes of them in each group. Samples hold no pointers, so the garbage
// collector does not scan them.
type series struct {
	groups []sampleGroup
	size   int // number of samples
}

// A sampleGroup holds the samples of consecutive lakes, lake by lake, each lake's in ascending order of date.
type sampleGroup struct {
	samples []sample
	details []sampleDetails // ascending by lake and date
	first   []int           // samples[first[i]:first[i+1]] are those of lake i; lakes after the last one with samples are left out
}

// of returns the samples of lake i.
func (s *series) of(i int) lakeSamples {
	if i/groupLakes >= len(s.groups) {
		return lakeSamples{}
	}
	return s.groups[i/groupLakes].of(i % groupLakes)
}

func (g *sampleGroup) of(i int) lakeSamples {
	if i >= len(g.first) {
		return lakeSamples{}
	}
	return lakeSamples{samples: g.samples[g.first[i]:g.end(i)], lake: int32(i), details: g.details}
}

// end returns the index after the last sample of lake i.
func (g *sampleGroup) end(i int) int {
	if i+1 < len(g.first) {
		return g.first[i+1]
	}
	return len(g.samples)
}

// add appends o to lake i, which must be the last lake that has samples or a later one.
func (s *series) add(i int, o data.Observation) {
	for len(s.groups) <= i/groupLakes {
		if n := len(s.groups); n > 0 {
			s.groups[n-1].clip()
		}
		s.groups = append(s.groups, sampleGroup{})
	}
	s.groups[i/groupLakes].add(i%groupLakes, o)
	s.size++
}

func (g *sampleGroup) add(i int, o data.Observation) {
	for len(g.first) <= i {
		g.first = append(g.first, len(g.samples))
	}
	p, d, hasDetails := sampleOf(o)
	g.samples = append(g.samples, p)
	if hasDetails {
		d.lake = int32(i)
		g.details = append(g.details, d)
	}
}

// keepBack makes the usable samples of lake i from the day since on unusable.
func (s *series) keepBack(i int, since data.Date) {
	if i/groupLakes < len(s.groups) {
		s.groups[i/groupLakes].keepBack(i%groupLakes, since)
	}
}

func (g *sampleGroup) keepBack(i int, since data.Date) {
	own := g.of(i).samples
	for k := len(own) - 1; k >= 0 && own[k] >= from(since); k-- {
		if own[k].usable() {
			own[k].keepBack()
		}
	}
}

// keepBackLast makes the sample that was added last unusable.
func (s *series) keepBackLast() { s.groups[len(s.groups)-1].keepBackLast() }

func (g *sampleGroup) keepBackLast() { g.samples[len(g.samples)-1].keepBack() }

// A cut says which samples to remove.
type cut struct {
	since     data.Date      // remove samples before this date
	keepValue bool           // but keep those of each lake's newest date with a usable value
	dropped   func(lake int) // called for each lake that loses samples
}

// trim makes the cut in all lakes from lake from on.
func (s *series) trim(from int, c cut) {
	for n := from / groupLakes; n < len(s.groups); n++ {
		g := &s.groups[n]
		s.size -= len(g.samples)
		g.trim(max(from-n*groupLakes, 0), cut{c.since, c.keepValue, func(i int) { c.dropped(n*groupLakes + i) }})
		s.size += len(g.samples)
	}
}

func (g *sampleGroup) trim(begin int, c cut) {
	if begin >= len(g.first) {
		return
	}
	oldest, samples := from(c.since), g.samples[:g.first[begin]]
	r, _ := slices.BinarySearchFunc(g.details, begin, func(d sampleDetails, lake int) int { return int(d.lake) - lake })
	details := g.details[:r]
	for i := begin; i < len(g.first); i++ {
		own := g.of(i).samples
		g.first[i] = len(samples)
		k := sort.Search(len(own), func(k int) bool { return own[k] >= oldest })
		kept := c.since // the date of the older samples that are kept
		var older []sample
		if c.keepValue {
			older = newestUsable(own[:k])
		}
		if len(older) > 0 {
			kept = older[0].date()
		}
		lost := k - len(older)
		samples = append(append(samples, older...), own[k:]...)
		for ; r < len(g.details) && int(g.details[r].lake) == i; r++ {
			if d := g.details[r].date; d == kept || d >= c.since {
				details = append(details, g.details[r])
			}
		}
		if lost > 0 {
			c.dropped(i)
		}
	}
	g.samples, g.details = samples, details
}

// newestUsable returns the samples of the newest date that has a usable one. They are neighbours.
func newestUsable(samples []sample) []sample {
	n := len(samples)
	for n > 0 && !samples[n-1].usable() {
		n--
	}
	if n == 0 {
		return nil
	}
	date := samples[n-1].date()
	first, last := n-1, n
	for first > 0 && samples[first-1].date() == date {
		first--
	}
	for last < len(samples) && samples[last].date() == date {
		last++
	}
	return samples[first:last]
}

// clear removes all samples and keeps the memory.
func (g *sampleGroup) clear() {
	g.samples, g.details, g.first = g.samples[:0], g.details[:0], g.first[:0]
}

// clip frees unused capacity.
func (s *series) clip() {
	for i := range s.groups {
		s.groups[i].clip()
	}
	s.groups = slices.Clone(s.groups)
}

func (g *sampleGroup) clip() {
	g.samples, g.details, g.first = clipped(g.samples), clipped(g.details), clipped(g.first)
}

// clipped returns s with little unused capacity.
func clipped[T any](s []T) []T {
	if cap(s)-len(s) <= len(s)/16 {
		return s
	}
	return append(make([]T, 0, len(s)), s...)
}
