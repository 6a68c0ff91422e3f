package ingest

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
)

const (
	// maxNestingSteps bounds the time for one lake to about a second. A real shore with 14,000 islands takes a tenth of it.
	// If a lake needs more, for which its shore must be absurd, the rest of its rings are exported as polygons of their own.
	// An import of the file gives the same outline, because an outline does not say which rings are holes.
	maxNestingSteps = 100_000_000
	// fewEdges is the size of a ring that is tested edge by edge.
	fewEdges = 64
)

// A nesting finds for each ring the rings around it, without comparing each with all others.
type nesting struct {
	rings  []orb.Ring
	bounds []orb.Bound
	areas  []float64
	// cells has the rings by the cell of a square grid in which the south-west corner of their bound is. The width of a
	// level's cells is 2^level degrees, and a ring is on the first level whose cells are not narrower than its bound. So
	// of a ring around a point, this corner is in the point's cell, or in the next one to the south, west or both.
	cells  map[gridCell][]int32
	levels []int // that have rings, ascending
	bands  map[int]*latitudeBands
	steps  int
}

type gridCell struct {
	level int
	x, y  int64
}

func newNesting(rings []orb.Ring) *nesting {
	n := &nesting{
		rings: rings, bounds: make([]orb.Bound, len(rings)), areas: make([]float64, len(rings)),
		cells: make(map[gridCell][]int32), bands: make(map[int]*latitudeBands),
	}
	const lowest, highest = -30, 10 // degrees; a unit of an outline is 2^-23
	var used [highest - lowest + 1]bool
	for i, ring := range rings {
		b := ring.Bound()
		n.bounds[i], n.areas[i] = b, math.Abs(planar.Area(ring))
		level := levelOf(b, lowest, highest)
		used[level-lowest] = true
		c := cellOf(b.Min, level)
		n.cells[c] = append(n.cells[c], int32(i))
	}
	for i, is := range used {
		if is {
			n.levels = append(n.levels, lowest+i)
		}
	}
	return n
}

// levelOf returns the level of a ring with this bound.
func levelOf(b orb.Bound, lowest, highest int) int {
	_, exponent := math.Frexp(max(b.Max[0]-b.Min[0], b.Max[1]-b.Min[1])) // the width is less than 2^exponent
	return min(max(exponent, lowest), highest)
}

func cellOf(p orb.Point, level int) gridCell {
	return gridCell{level, int64(math.Floor(math.Ldexp(p[0], -level))), int64(math.Floor(math.Ldexp(p[1], -level)))}
}

// around returns how many rings are around ring i, and the smallest of them; -1 if there is none.
func (n *nesting) around(i int) (depth, smallest int) {
	smallest = -1
	middle := orb.Point{(n.rings[i][0][0] + n.rings[i][1][0]) / 2, (n.rings[i][0][1] + n.rings[i][1][1]) / 2}
	for _, level := range n.levels {
		own := cellOf(n.bounds[i].Min, level)
		for _, c := range [...]gridCell{own, {level, own.x - 1, own.y}, {level, own.x, own.y - 1}, {level, own.x - 1, own.y - 1}} {
			for _, other := range n.cells[c] {
				j := int(other)
				if n.steps++; n.steps > maxNestingSteps {
					return 0, -1
				}
				if !n.isWithin(i, j, middle) {
					continue
				}
				if depth++; smallest < 0 || n.areas[j] < n.areas[smallest] || n.areas[j] == n.areas[smallest] && j < smallest {
					smallest = j
				}
			}
		}
	}
	return depth, smallest
}

// isWithin reports whether ring i, with this point on it, is in ring j.
func (n *nesting) isWithin(i, j int, point orb.Point) bool {
	if i == j || n.areas[i] >= n.areas[j] || !n.bounds[j].Contains(n.bounds[i].Min) || !n.bounds[j].Contains(n.bounds[i].Max) {
		return false
	}
	ring := n.rings[j]
	if len(ring) < fewEdges {
		n.steps += len(ring)
		return planar.RingContains(ring, point)
	}
	if n.bands[j] == nil {
		n.steps += len(ring)
		n.bands[j] = newLatitudeBands(ring, n.bounds[j])
	}
	inside, steps := n.bands[j].contain(ring, point)
	n.steps += steps
	return inside
}

// latitudeBands have the edges of a ring by latitude, so that a point is compared with those on its parallel only.
type latitudeBands struct {
	south, height float64   // height of a band
	edges         [][]int32 // of each band, by the index of the edge's first point
}

func newLatitudeBands(ring orb.Ring, b orb.Bound) *latitudeBands {
	l := &latitudeBands{south: b.Min[1]}
	count := len(ring) / 8
	for ; ; count = (count + 3) / 4 { // fewer bands for a shore that goes from south to north and back many times
		l.height = (b.Max[1] - b.Min[1]) / float64(count)
		total := 0
		for i := range len(ring) - 1 {
			first, last := l.span(ring, i, count)
			total += last - first + 1
		}
		if total <= 8*len(ring) || count == 1 {
			break
		}
	}
	l.edges = make([][]int32, count)
	for i := range len(ring) - 1 {
		first, last := l.span(ring, i, count)
		for k := first; k <= last; k++ {
			l.edges[k] = append(l.edges[k], int32(i))
		}
	}
	return l
}

// span returns the first and the last of so many bands that an edge is in.
func (l *latitudeBands) span(ring orb.Ring, edge, count int) (first, last int) {
	first, last = l.band(ring[edge][1], count), l.band(ring[edge+1][1], count)
	return min(first, last), max(first, last)
}

// band returns the index of the band of a latitude.
func (l *latitudeBands) band(lat float64, count int) int {
	return min(max(int((lat-l.south)/l.height), 0), count-1)
}

// contain reports whether a point within the ring's bound is in the ring or on it, and how many edges were compared.
func (l *latitudeBands) contain(ring orb.Ring, p orb.Point) (inside bool, steps int) {
	edges := l.edges[l.band(p[1], len(l.edges))]
	for _, i := range edges {
		a, b := ring[i], ring[i+1]
		if x, ok := crossing(a, b, p[1]); ok {
			if x == p[0] {
				return true, len(edges)
			}
			if x > p[0] {
				inside = !inside
			}
		} else if a[1] == p[1] && b[1] == p[1] && min(a[0], b[0]) <= p[0] && p[0] <= max(a[0], b[0]) {
			return true, len(edges)
		}
	}
	return inside, len(edges)
}
