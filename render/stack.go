package render

import (
	"cmp"
	"math/bits"
	"slices"

	"limnomap/data"
)

// A stacker is a painter whose marks are stamps that lie on each other, the last one on top. Of a million lakes most marks are hidden; a
// hidden one is not part of a scene.
type stacker interface {
	// rank returns the place of a mark in the order of drawing: one of a larger rank is above.
	rank(m *mark, w window, classes classLimits) uint64
	// tie orders marks of one rank.
	tie(a, b *mark, w window) int
	// paintMark draws a mark that is no stamp.
	paintMark(dst []uint8, m *mark, w window, sc *scale, mem *memory)
	// stampOf returns the stamp of a mark, and the pixel with its lake. It is nil for a mark that is no stamp: such a mark is never
	// hidden, and hides nothing.
	stampOf(m *mark, w window, classes classLimits) (s *stamp, column, row int)
}

// A stack finds the visible marks of a window and their order. It is reused.
type stack struct {
	ranks, sorted []ranked
	visible       []int32  // indexes of the marks, in the order of drawing
	covered       []uint64 // row by row, a bit for each pixel that a stamp has replaced
	stride        int      // of the rows, in words

	free    [maxStampSide]uint64 // by row of the last covering stamp, a bit for each pixel that was free
	touches []touch              // of the visible marks, the last mark first
	ends    []int32              // of the touches of each of these, in that order
}

// A touch is a pixel that a stamp changes and no later one replaces.
type touch struct {
	at          int32
	code, outer uint8
}

// A ranked is the index of a mark and its rank.
type ranked struct {
	rank  uint64
	index int32
}

// appendTo appends the marks that are visible in w, in the order of drawing. Until the next call, paint draws them.
func (s *stack) appendTo(dst []mark, by stacker, marks []mark, w window, classes classLimits) []mark {
	s.sort(by, marks, w, classes)
	s.find(by, marks, w, classes, true)
	for _, i := range s.visible {
		dst = append(dst, marks[i])
	}
	return dst
}

// find makes s.visible the indexes of the sorted marks that are visible in w, in the order of drawing, and with touched s.touches.
func (s *stack) find(by stacker, marks []mark, w window, classes classLimits, touched bool) {
	s.resetCovered(w)
	s.visible, s.touches, s.ends = s.visible[:0], s.touches[:0], s.ends[:0]
	for _, r := range slices.Backward(s.ranks) {
		st, column, row := by.stampOf(&marks[r.index], w, classes)
		if st != nil {
			if !s.cover(st, w, column, row) {
				continue
			}
			if touched {
				s.touch(st, w, column, row)
			}
		}
		s.visible, s.ends = append(s.visible, r.index), append(s.ends, int32(len(s.touches)))
	}
	slices.Reverse(s.visible)
}

// paint draws the marks that appendTo has appended: of stamps only the visible pixels, which are one or two of most marks among many.
func (s *stack) paint(dst []uint8, by stacker, marks []mark, w window, sc *scale, mem *memory) {
	for i := range marks {
		m, last := &marks[i], len(marks)-1-i
		from, to := int32(0), s.ends[last]
		if last > 0 {
			from = s.ends[last-1]
		}
		k := sc.inkOf(m)
		if from == to { // no stamp
			by.paintMark(dst, m, w, sc, mem)
			continue
		}
		for _, t := range s.touches[from:to] {
			k.put(&dst[t.at], t.code, t.outer)
		}
	}
}

// sort makes s.ranks the marks in the order of drawing.
func (s *stack) sort(by stacker, marks []mark, w window, classes classLimits) {
	s.ranks = s.ranks[:0]
	all, none := ^uint64(0), uint64(0) // the bits that are set in all ranks, and in any
	for i := range marks {
		r := by.rank(&marks[i], w, classes)
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
	s.stride = (w.width + 63) / 64
	n := w.height*s.stride + 1
	if cap(s.covered) < n {
		s.covered = make([]uint64, n)
	}
	s.covered = s.covered[:n]
	clear(s.covered)
}

// touch appends the pixels of the last covering stamp that were free.
func (s *stack) touch(st *stamp, w window, column, row int) {
	left, top, side := column-st.half, row-st.half, st.side()
	for r := max(top, 0); r < min(top+side, w.height); r++ {
		for free := s.free[r-top]; free != 0; free &= free - 1 {
			i := bits.TrailingZeros64(free)
			s.touches = append(s.touches, touch{int32(r*w.width + left + i), st.codes[(r-top)*side+i], st.outer})
		}
	}
}

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
	for r := max(top, 0); r < min(top+st.side(), w.height); r++ {
		free := s.coverRow(r*s.stride+left>>6, uint(left&63), st.touched[r-top]&inside, st.replaced[r-top]&inside)
		s.free[r-top] = free
		visible = visible || free != 0
	}
	return visible
}

// coverRow covers the replaced pixels of a row that begins at bit shift of a word, and returns those of touched that were free. The first
// word may be the one before the row, of which it has no pixel then.
func (s *stack) coverRow(at int, shift uint, touched, replaced uint64) (free uint64) {
	if low := touched << shift; low != 0 {
		free = low &^ s.covered[at] >> shift
		s.covered[at] |= replaced << shift
	}
	if high := touched >> (64 - shift); high != 0 { // 0 if shift is
		free |= high &^ s.covered[at+1] << (64 - shift)
		s.covered[at+1] |= replaced >> (64 - shift)
	}
	return free
}

// maxStampSide is the largest width of a stamp: a row has a bit for each pixel.
const maxStampSide = 64

// setMasks sets touched and replaced from codes.
func (s *stamp) setMasks() {
	side := s.side()
	if side > maxStampSide {
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
