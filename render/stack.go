package render

import (
	"cmp"
	"slices"

	"limnomap/data"
)

// A stacker is a painter whose marks are stamps that lie on each other, the last one on top. Of a million lakes most marks are hidden; a
// hidden one is not part of a scene.
type stacker interface {
	// rank returns the place of a mark in the order of drawing: one of a larger rank is above.
	rank(m *mark, w window, logs *logTable) uint64
	// tie orders marks of one rank.
	tie(a, b *mark, w window) int
	// stampOf returns the stamp of a mark, and the pixel with its lake. It is nil for a mark that is no stamp: such a mark is never
	// hidden, and hides nothing.
	stampOf(m *mark, w window, logs *logTable) (s *stamp, column, row int)
}

// A stack finds the visible marks of a window and their order. It is reused.
type stack struct {
	ranks, sorted []ranked
	visible       []int32  // indexes of the marks, in the order of drawing
	covered       []uint64 // row by row, a bit for each pixel that a stamp has replaced
}

// A ranked is the index of a mark and its rank.
type ranked struct {
	rank  uint64
	index int32
}

// appendTo appends the marks that are visible in w, in the order of drawing. s.visible has their indexes until the next call.
func (s *stack) appendTo(dst []mark, by stacker, marks []mark, w window, logs *logTable) []mark {
	s.sort(by, marks, w, logs)
	s.resetCovered(w)
	s.visible = s.visible[:0]
	for _, r := range slices.Backward(s.ranks) {
		st, column, row := by.stampOf(&marks[r.index], w, logs)
		if st == nil || s.cover(st, w, column, row) {
			s.visible = append(s.visible, r.index)
		}
	}
	slices.Reverse(s.visible)
	for _, i := range s.visible {
		dst = append(dst, marks[i])
	}
	return dst
}

// sort makes s.ranks the marks in the order of drawing.
func (s *stack) sort(by stacker, marks []mark, w window, logs *logTable) {
	s.ranks = s.ranks[:0]
	all, none := ^uint64(0), uint64(0) // the bits that are set in all ranks, and in any
	for i := range marks {
		r := by.rank(&marks[i], w, logs)
		all, none = all&r, none|r
		s.ranks = append(s.ranks, ranked{r, int32(i)})
	}
	s.radixSort(all ^ none)
	for from := 0; from < len(s.ranks); {
		to := from + 1
		for to < len(s.ranks) && s.ranks[to].rank == s.ranks[from].rank {
			to++
		}
		if to-from > 1 { // nearly always in order already, which costs one comparison each
			slices.SortStableFunc(s.ranks[from:to], func(a, b ranked) int { return by.tie(&marks[a.index], &marks[b.index], w) })
		}
		from = to
	}
}

// radixSort sorts s.ranks by rank, equal ones in their order, by one byte after the other of those that are not the same in all.
func (s *stack) radixSort(differing uint64) {
	if len(s.ranks) < 64 { // fewer than it is worth to count
		slices.SortStableFunc(s.ranks, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
		return
	}
	s.sorted = slices.Grow(s.sorted[:0], len(s.ranks))[:len(s.ranks)]
	for shift := uint(0); shift < 64; shift += 8 {
		if differing>>shift&0xff == 0 {
			continue
		}
		var ends [256]int32
		for i := range s.ranks {
			ends[s.ranks[i].rank>>shift&0xff]++
		}
		at := int32(0)
		for i, n := range ends {
			ends[i], at = at, at+n
		}
		for _, r := range s.ranks {
			digit := r.rank >> shift & 0xff
			s.sorted[ends[digit]] = r
			ends[digit]++
		}
		s.ranks, s.sorted = s.sorted, s.ranks
	}
}

// resetCovered makes all pixels of w free. A row has whole words, and one more, so that a stamp may read a word past it.
func (s *stack) resetCovered(w window) {
	n := w.height*s.stride(w) + 1
	if cap(s.covered) < n {
		s.covered = make([]uint64, n)
	}
	s.covered = s.covered[:n]
	clear(s.covered)
}

func (s *stack) stride(w window) int { return (w.width + 63) / 64 }

// cover reports whether any pixel of a stamp is free, and covers those that the stamp replaces.
func (s *stack) cover(st *stamp, w window, column, row int) (visible bool) {
	left, top := column-st.half, row-st.half
	if left >= w.width || left+st.side() <= 0 {
		return false
	}
	inside := ^uint64(0) // of a row of the stamp, the pixels in w
	if left < 0 {
		inside <<= uint(-left)
	}
	if over := left + st.side() - w.width; over > 0 {
		inside &= ^uint64(0) >> (64 - uint(st.side()-over))
	}
	word, shift := left>>6, uint(left&63) // floor
	stride := s.stride(w)
	for r := max(top, 0); r < min(top+st.side(), w.height); r++ {
		touched, replaced := st.touched[r-top]&inside, st.replaced[r-top]&inside
		if touched == 0 {
			continue
		}
		at := r*stride + word
		if low := touched << shift; low != 0 {
			visible = visible || low&^s.covered[at] != 0
			s.covered[at] |= replaced << shift
		}
		if high := touched >> (64 - shift); high != 0 { // 0 if shift is 0
			visible = visible || high&^s.covered[at+1] != 0
			s.covered[at+1] |= replaced >> (64 - shift)
		}
	}
	return visible
}

// setMasks sets touched and replaced from codes.
func (s *stamp) setMasks() {
	side := s.side()
	if side > 64 {
		panic("a stamp is wider than a word") // the radii are constants
	}
	s.touched, s.replaced = make([]uint64, side), make([]uint64, side)
	for i, code := range s.codes {
		bit := uint64(1) << (i % side)
		if code > 0 {
			s.touched[i/side] |= bit
		}
		if code >= fillCode {
			s.replaced[i/side] |= bit
		}
	}
}

// valueBits is the number of bits of rankOfValue: values are at most data.MaxChlorophyll.
const valueBits = 20

// rankOfValue returns a rank in the order of values, and of equal ones with the old ones below.
func rankOfValue(m *mark) uint64 {
	r := uint64(min(m.chlorophyll(), data.MaxChlorophyll)-data.NoChlorophyll) << 1
	if !m.old {
		r |= 1
	}
	return r
}
