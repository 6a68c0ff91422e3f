package render

import "sort"

// Search finds the sites in an area. The codes are the Morton codes of all sites, ascending; only the given sites are
// searched, which are indexes of codes, ascending; nil means all. It divides quadrants of the world that are partly in the
// area and have many sites.
//
// Meets reports whether the area overlaps the square of side last+1 at x, y, and whether it contains all of it. Visit is
// called for ranges of sites in ascending order, and reports whether the search continues. If whole is true, all of them are
// in the area; if it is false, visit must test each.
func Search(codes []uint64, sites []int32, meets func(x, y, last uint32) (some, all bool), visit func(from, to int, whole bool) (more bool)) {
	s := search{codes, sites, meets, visit}
	n := len(codes)
	if sites != nil {
		n = len(sites)
	}
	s.quadrant(0, n, 0, worldBits)
}

type search struct {
	codes []uint64
	sites []int32
	meets func(x, y, last uint32) (some, all bool)
	visit func(from, to int, whole bool) (more bool)
}

// code returns the code of the i-th searched site.
func (s *search) code(i int) uint64 {
	if s.sites != nil {
		i = int(s.sites[i])
	}
	return s.codes[i]
}

// quadrant searches the sites from from to to. These are all that lie in the quadrant of 2^bits world coordinates whose
// first Morton code is code. It reports whether the search continues.
func (s *search) quadrant(from, to int, code uint64, bits uint) bool {
	// A handful is faster to test than to divide.
	const handful = 16
	if to-from <= handful || bits == 0 {
		return from == to || s.visit(from, to, false)
	}
	x, y := World(code)
	switch some, all := s.meets(x, y, uint32(1<<bits-1)); {
	case !some:
		return true
	case all:
		return s.visit(from, to, true)
	}
	for i := range uint64(4) {
		start, end := code+i<<(2*bits-2), to
		if i < 3 {
			next := code + (i+1)<<(2*bits-2)
			end = from + sort.Search(to-from, func(j int) bool { return s.code(from+j) >= next })
		}
		if !s.quadrant(from, end, start, bits-1) {
			return false
		}
		from = end
	}
	return true
}
