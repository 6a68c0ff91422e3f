package data

import (
	"slices"
	"sort"
)

// shelfLakes is how many lakes share a shelf: so many that shelves cost nothing, and so few that one can be made anew
// while the others stay.
const shelfLakes = 1 << 12

// A series holds the samples of all lakes, on shelves of shelfLakes lakes each. Samples hold no pointers, so that the
// garbage collector need not look through them.
type series struct {
	shelves []shelf
	size    int // how many samples it holds
}

// A shelf holds the samples of some lakes in a row, those of one lake side by side in ascending order of date.
type shelf struct {
	samples []sample
	remarks []remark // ascending by lake and date
	first   []int    // samples[first[i]:first[i+1]] are those of lake i; lakes behind the last observed one have none
}

// of returns the samples of lake i.
func (s *series) of(i int) strip {
	if i/shelfLakes >= len(s.shelves) {
		return strip{}
	}
	return s.shelves[i/shelfLakes].of(i % shelfLakes)
}

func (sh *shelf) of(i int) strip {
	if i >= len(sh.first) {
		return strip{}
	}
	return strip{samples: sh.samples[sh.first[i]:sh.end(i)], lake: int32(i), remarks: sh.remarks}
}

// end returns where the samples of lake i end.
func (sh *shelf) end(i int) int {
	if i+1 < len(sh.first) {
		return sh.first[i+1]
	}
	return len(sh.samples)
}

// add adds o to lake i, behind all that was added before.
func (s *series) add(i int, o Observation) {
	for len(s.shelves) <= i/shelfLakes {
		if n := len(s.shelves); n > 0 {
			s.shelves[n-1].clip()
		}
		s.shelves = append(s.shelves, shelf{})
	}
	s.shelves[i/shelfLakes].add(i%shelfLakes, o)
	s.size++
}

func (sh *shelf) add(i int, o Observation) {
	for len(sh.first) <= i {
		sh.first = append(sh.first, len(sh.samples))
	}
	p, r, remarked := sampleOf(o)
	sh.samples = append(sh.samples, p)
	if remarked {
		r.lake = int32(i)
		sh.remarks = append(sh.remarks, r)
	}
}

// A cut says which samples go.
type cut struct {
	since     Date           // those of an older date
	keepValue bool           // except for each lake's newest one with a value
	dropped   func(lake int) // is told of each lake that loses any
}

// trim makes the cut in all lakes from lake from on.
func (s *series) trim(from int, c cut) {
	for n := from / shelfLakes; n < len(s.shelves); n++ {
		sh := &s.shelves[n]
		s.size -= len(sh.samples)
		sh.trim(max(from-n*shelfLakes, 0), cut{c.since, c.keepValue, func(i int) { c.dropped(n*shelfLakes + i) }})
		s.size += len(sh.samples)
	}
}

func (sh *shelf) trim(begin int, c cut) {
	if begin >= len(sh.first) {
		return
	}
	oldest, samples := from(c.since), sh.samples[:sh.first[begin]]
	r, _ := slices.BinarySearchFunc(sh.remarks, begin, func(r remark, lake int) int { return int(r.lake) - lake })
	remarks := sh.remarks[:r]
	for i := begin; i < len(sh.first); i++ {
		own := sh.of(i).samples
		sh.first[i] = len(samples)
		k := sort.Search(len(own), func(k int) bool { return own[k] >= oldest })
		kept := c.since // the day of the older sample that stays
		lost := k
		if older := (strip{samples: own[:k]}).untilValue().samples; c.keepValue && len(older) > 0 {
			samples = append(samples, older[len(older)-1])
			kept = older[len(older)-1].date()
			lost--
		}
		samples = append(samples, own[k:]...)
		for ; r < len(sh.remarks) && int(sh.remarks[r].lake) == i; r++ {
			if d := sh.remarks[r].date; d == kept || d >= c.since {
				remarks = append(remarks, sh.remarks[r])
			}
		}
		if lost > 0 {
			c.dropped(i)
		}
	}
	sh.samples, sh.remarks = samples, remarks
}

// clip gives back the room that sh does not use.
func (s *series) clip() {
	for i := range s.shelves {
		s.shelves[i].clip()
	}
	s.shelves = slices.Clone(s.shelves)
}

func (sh *shelf) clip() {
	sh.samples, sh.remarks, sh.first = clipped(sh.samples), clipped(sh.remarks), clipped(sh.first)
}

// clipped returns s with hardly more room than it takes.
func clipped[T any](s []T) []T {
	if cap(s)-len(s) <= len(s)/16 {
		return s
	}
	return append(make([]T, 0, len(s)), s...)
}
