package ingest

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
)

// maxNestingSteps bounds the time for one lake to about a second. If a lake needs more, for which its shore must be absurd, the rest of its
// rings are exported as polygons of their own. An import of the file gives the same outline, because an outline does not say which rings
// are holes.
const maxNestingSteps = 100_000_000

// A nesting finds for each ring the rings around it. The edges of all rings are in bands by latitude, so that a point is compared with those
// near its parallel only.
type nesting struct {
	rings         []orb.Ring
	bounds        []orb.Bound
	areas         []float64
	south, height float64  // of the first band, and of each
	bands         [][]edge // none for a single ring
	steps         int
}

// An edge is that of a ring after a point.
type edge struct{ ring, point int32 }

func newNesting(rings []orb.Ring) *nesting {
	n := &nesting{rings: rings, bounds: make([]orb.Bound, len(rings)), areas: make([]float64, len(rings))}
	if len(rings) < 2 {
		return n
	}
	all, points := rings[0].Bound(), 0
	for i, ring := range rings {
		n.bounds[i], n.areas[i] = ring.Bound(), math.Abs(planar.Area(ring))
		all, points = all.Union(n.bounds[i]), points+len(ring)
	}
	n.south = all.Min[1]
	for count := max(points/8, 1); ; count = (count + 3) / 4 { // fewer bands for shores that go from south to north and back many times
		n.height, n.bands = (all.Max[1]-all.Min[1])/float64(count), make([][]edge, count)
		total := 0
		n.eachEdge(func(_ edge, first, last int) { total += last - first + 1 })
		if total <= 8*points || count == 1 {
			break
		}
	}
	n.eachEdge(func(e edge, first, last int) {
		for k := first; k <= last; k++ {
			n.bands[k] = append(n.bands[k], e)
		}
	})
	return n
}

// eachEdge passes each edge with the first and the last band that it is in.
func (n *nesting) eachEdge(fn func(e edge, first, last int)) {
	for i, ring := range n.rings {
		for k := range len(ring) - 1 {
			a, b := n.band(ring[k][1]), n.band(ring[k+1][1])
			fn(edge{int32(i), int32(k)}, min(a, b), max(a, b))
		}
	}
}

// band returns the index of the band of a latitude.
func (n *nesting) band(lat float64) int {
	return min(max(int((lat-n.south)/n.height), 0), len(n.bands)-1)
}

// around returns how many rings are around ring i, and the smallest of them; -1 if there is none.
func (n *nesting) around(i int) (depth, smallest int) {
	if n.bands == nil {
		return 0, -1
	}
	const onEdge = 1 << 32
	crossings := make(map[int]int) // of each larger ring, to the east of a point on ring i
	p := orb.Point{(n.rings[i][0][0] + n.rings[i][1][0]) / 2, (n.rings[i][0][1] + n.rings[i][1][1]) / 2}
	for _, e := range n.bands[n.band(p[1])] {
		if n.steps++; n.steps > maxNestingSteps {
			return 0, -1
		}
		j := int(e.ring)
		if n.areas[i] >= n.areas[j] || !n.bounds[j].Contains(n.bounds[i].Min) || !n.bounds[j].Contains(n.bounds[i].Max) {
			continue
		}
		a, b := n.rings[j][e.point], n.rings[j][e.point+1]
		x, ok := crossing(a, b, p[1])
		switch {
		case ok && x == p[0], a[1] == p[1] && b[1] == p[1] && min(a[0], b[0]) <= p[0] && p[0] <= max(a[0], b[0]):
			crossings[j] |= onEdge
		case ok && x > p[0]:
			crossings[j]++
		}
	}
	smallest = -1
	for j, c := range crossings {
		if c < onEdge && c%2 == 0 {
			continue
		}
		if depth++; smallest < 0 || n.areas[j] < n.areas[smallest] || n.areas[j] == n.areas[smallest] && j < smallest {
			smallest = j
		}
	}
	return depth, smallest
}
