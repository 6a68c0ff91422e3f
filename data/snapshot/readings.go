package snapshot

import (
	"slices"
	"sort"

	"limnomap/data"
)

// groupLakes is how many lakes share a readingGroup: enough that a group's overhead is negligible, and few enough that
// growing or trimming one group moves little memory.
const groupLakes = 1 << 12

// A series holds the readings of all lakes, groupLakes of them in each group. Samples hold no pointers, so the garbage
// collector does not scan them.
type series struct {
	groups []readingGroup
	size   int // number of readings
}

// A readingGroup holds the readings of consecutive lakes, lake by lake, each lake's in ascending order of date.
type readingGroup struct {
	readings []reading
	details  []readingDetails // ascending by lake and date
	first    []int            // readings[first[i]:first[i+1]] are those of lake i; lakes after the last one with readings are left out
}

// of returns the readings of lake i.
func (s *series) of(i int) lakeReadings {
	if i/groupLakes >= len(s.groups) {
		return lakeReadings{}
	}
	return s.groups[i/groupLakes].of(i % groupLakes)
}

func (g *readingGroup) of(i int) lakeReadings {
	if i >= len(g.first) {
		return lakeReadings{}
	}
	return lakeReadings{readings: g.readings[g.first[i]:g.end(i)], lake: int32(i), details: g.details}
}

// end returns the index after the last reading of lake i.
func (g *readingGroup) end(i int) int {
	if i+1 < len(g.first) {
		return g.first[i+1]
	}
	return len(g.readings)
}

// add appends o to lake i, which must be the last lake that has readings or a later one.
func (s *series) add(i int, o data.Observation) {
	for len(s.groups) <= i/groupLakes {
		if n := len(s.groups); n > 0 {
			s.groups[n-1].clip()
		}
		s.groups = append(s.groups, readingGroup{})
	}
	s.groups[i/groupLakes].add(i%groupLakes, o)
	s.size++
}

func (g *readingGroup) add(i int, o data.Observation) {
	for len(g.first) <= i {
		g.first = append(g.first, len(g.readings))
	}
	p, d, hasDetails := readingOf(o)
	g.readings = append(g.readings, p)
	if hasDetails {
		d.lake = int32(i)
		g.details = append(g.details, d)
	}
}

// outrank makes the usable readings of lake i from the day since on unusable.
func (s *series) outrank(i int, since data.Date) {
	if i/groupLakes < len(s.groups) {
		s.groups[i/groupLakes].outrank(i%groupLakes, since)
	}
}

func (g *readingGroup) outrank(i int, since data.Date) {
	own := g.of(i).readings
	for k := len(own) - 1; k >= 0 && own[k] >= from(since); k-- {
		if own[k].usable() {
			own[k].outrank()
		}
	}
}

// outrankLast makes the reading that was added last unusable.
func (s *series) outrankLast() { s.groups[len(s.groups)-1].outrankLast() }

func (g *readingGroup) outrankLast() { g.readings[len(g.readings)-1].outrank() }

// A cut says which readings to remove.
type cut struct {
	since     data.Date      // remove readings before this date
	keepValue bool           // but keep those of each lake's newest date with a usable value
	dropped   func(lake int) // called for each lake that loses readings
}

// trim makes the cut in all lakes from lake from on.
func (s *series) trim(from int, c cut) {
	for n := from / groupLakes; n < len(s.groups); n++ {
		g := &s.groups[n]
		s.size -= len(g.readings)
		g.trim(max(from-n*groupLakes, 0), cut{c.since, c.keepValue, func(i int) { c.dropped(n*groupLakes + i) }})
		s.size += len(g.readings)
	}
}

func (g *readingGroup) trim(begin int, c cut) {
	if begin >= len(g.first) {
		return
	}
	oldest, readings := from(c.since), g.readings[:g.first[begin]]
	r, _ := slices.BinarySearchFunc(g.details, begin, func(d readingDetails, lake int) int { return int(d.lake) - lake })
	details := g.details[:r]
	for i := begin; i < len(g.first); i++ {
		own := g.of(i).readings
		g.first[i] = len(readings)
		k := sort.Search(len(own), func(k int) bool { return own[k] >= oldest })
		kept := c.since // the date of the older readings that are kept
		var older []reading
		if c.keepValue {
			older = newestUsable(own[:k])
		}
		if len(older) > 0 {
			kept = older[0].date()
		}
		lost := k - len(older)
		readings = append(append(readings, older...), own[k:]...)
		for ; r < len(g.details) && int(g.details[r].lake) == i; r++ {
			if d := g.details[r].date; d == kept || d >= c.since {
				details = append(details, g.details[r])
			}
		}
		if lost > 0 {
			c.dropped(i)
		}
	}
	g.readings, g.details = readings, details
}

// newestUsable returns the readings of the newest date that has a usable one. They are neighbours.
func newestUsable(readings []reading) []reading {
	n := len(readings)
	for n > 0 && !readings[n-1].usable() {
		n--
	}
	if n == 0 {
		return nil
	}
	date := readings[n-1].date()
	first, last := n-1, n
	for first > 0 && readings[first-1].date() == date {
		first--
	}
	for last < len(readings) && readings[last].date() == date {
		last++
	}
	return readings[first:last]
}

// clear removes all readings and keeps the memory.
func (g *readingGroup) clear() {
	g.readings, g.details, g.first = g.readings[:0], g.details[:0], g.first[:0]
}

// clip frees unused capacity.
func (s *series) clip() {
	for i := range s.groups {
		s.groups[i].clip()
	}
	s.groups = slices.Clone(s.groups)
}

func (g *readingGroup) clip() {
	g.readings, g.details, g.first = clipped(g.readings), clipped(g.details), clipped(g.first)
}

// clipped returns s with little unused capacity.
func clipped[T any](s []T) []T {
	if cap(s)-len(s) <= len(s)/16 {
		return s
	}
	return append(make([]T, 0, len(s)), s...)
}
