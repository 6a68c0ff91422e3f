package data

// shelfLakes is how many lakes share a shelf: so many that shelves cost nothing, and so few that one can be made anew
// while the others stay.
const shelfLakes = 1 << 12

// A series holds the samples of all lakes, on shelves of shelfLakes lakes each. Samples hold no pointers, so that the
// garbage collector need not look through them.
type series struct{ shelves []shelf }

// A shelf holds the samples of some lakes in a row, those of one lake side by side in ascending order of date.
type shelf struct {
	samples []sample
	remarks []remark // ascending by lake and date
	first   []int    // samples[first[i]:first[i+1]] are those of lake i; of lakes behind the last observed one nothing is said
}

// of returns the samples of lake i.
func (s *series) of(i int) strip {
	if i/shelfLakes >= len(s.shelves) {
		return strip{}
	}
	sh := &s.shelves[i/shelfLakes]
	i %= shelfLakes
	if i >= len(sh.first) {
		return strip{}
	}
	end := len(sh.samples)
	if i+1 < len(sh.first) {
		end = sh.first[i+1]
	}
	return strip{samples: sh.samples[sh.first[i]:end], lake: int32(i), remarks: sh.remarks}
}

// add adds o to lake i, behind all that was added before.
func (s *series) add(i int, o Observation) {
	for len(s.shelves) <= i/shelfLakes {
		s.shelves = append(s.shelves, shelf{})
	}
	s.shelves[i/shelfLakes].add(i%shelfLakes, o)
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
