package render

import (
	"math"

	"limnomap/data"
)

const (
	// logBits is the width of the fraction of a logarithm. Two values that differ by 0.01 µg/l, the precision of the
	// data, differ in their logarithm by 1.7 units at 1500 µg/l and by more below, so that no two share one.
	logBits = 18
	// floor is the concentration that smaller ones, zero among them, are drawn as: 0.5 µg/l. Zero stands for "below
	// detection", which is about 1 µg/l for inland waters, and half of the limit is the usual substitute. A smaller
	// one would let a clean lake outweigh a bloom beside it.
	floor = data.Chlorophyll(50)
	// bandRows is how many rows of a window are accumulated at a time, so that their sums stay in the processor's
	// second cache.
	bandRows = 32
	// carryEvery is after how many lakes the high half of the sums of logarithms is put aside. A lake adds at most
	// 2^28 * (1+35) * 2^21.01 < 2^54.2 to one, so 512 of them add less than 2^64.
	carryEvery = 512
)

// logOf returns ln(c/floor) in parts of 1<<logBits: less than 2^21.01.
func logOf(c data.Chlorophyll) uint32 {
	return uint32(math.Round((1 << logBits) * math.Log(float64(max(c, floor))/float64(floor))))
}

// sums are the accumulators of a band of pixels, row by row. All are whole numbers, so they do not depend on the order
// in which lakes are added. With 2^21 lakes on one pixel, the first two stay below 2^55.
type sums struct {
	width   int
	wide    []uint64 // of the wide kernel, which tells the opacity
	narrow  []uint64 // of the narrow kernel, which with the wide one is the weight
	logs    []uint64 // of weight times logarithm, less what stands in carries
	carries []uint64 // multiples of 2^32 of the same; only where carried
	carried bool
	columns []uint16 // a kernel's values at the columns of one lake
}

// reset makes s the sums of no lake over rows rows of the given width.
func (s *sums) reset(width, rows int) {
	n := width * rows
	s.width = width
	s.wide, s.narrow, s.logs = zeroed(s.wide, n), zeroed(s.narrow, n), zeroed(s.logs, n)
	s.carried = false
}

// zeroed returns a slice of n zeros, in the place of s if that is large enough.
func zeroed(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return make([]uint64, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// add adds lakes in reach of w to the sums of rows from to to of it.
func (s *sums) add(hits []hit, w window, from, to int, ks *kernels) {
	for i, h := range hits {
		if i > 0 && i%carryEvery == 0 {
			s.carry()
		}
		k := ks.of(h.ground.at(w.zoom))
		s.stamp(h, w, from, to, k.wide, s.wide, 1)
		s.stamp(h, w, from, to, k.narrow, s.narrow, narrowWeight)
	}
}

// stamp adds gain times the product of a kernel's row and column to weights, and that times the lake's logarithm to
// the logarithms.
func (s *sums) stamp(h hit, w window, from, to int, falloff []uint16, weights []uint64, gain uint64) {
	reach, step, first := int64(len(falloff)), w.step(), w.firstCentre()
	left, right := centres(int64(h.x), reach, step, first, 0, s.width)
	top, bottom := centres(int64(h.y), reach, step, first, from, to)
	if left >= right || top >= bottom {
		return
	}
	s.columns = s.columns[:0]
	for c := left; c < right; c++ {
		s.columns = append(s.columns, falloff[distance(int64(c)*step+first, int64(h.x))])
	}
	for r := top; r < bottom; r++ {
		row := gain * uint64(falloff[distance(int64(r)*step+first, int64(h.y))])
		rowLog := row * uint64(h.log)
		at := (r-from)*s.width + left
		wsum := weights[at : at+len(s.columns)]
		lsum := s.logs[at : at+len(s.columns)]
		for i, c := range s.columns {
			wsum[i] += row * uint64(c)
			lsum[i] += rowLog * uint64(c)
		}
	}
}

// carry puts the high halves of the sums of logarithms aside, to make room for more.
func (s *sums) carry() {
	if !s.carried {
		s.carries = zeroed(s.carries, len(s.logs))
		s.carried = true
	}
	for i, l := range s.logs {
		s.carries[i] += l >> 32
		s.logs[i] = l & math.MaxUint32
	}
}

// centres returns the range of pixels, within [from, to), whose centres lie less than reach from at.
func centres(at, reach, step, first int64, from, to int) (lo, hi int) {
	// The smallest c with c*step+first > at-reach, and the smallest with c*step+first >= at+reach.
	lo = int(floorDiv(at-reach-first, step)) + 1
	hi = int(floorDiv(at+reach-first-1, step)) + 1
	return max(lo, from), min(hi, to)
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// floorDiv returns a/b rounded down, for a positive b.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
