package ingest

import (
	"container/heap"
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
)

const (
	// maxCells bounds the search for an interior point. Lakes need tens to hundreds of cells.
	maxCells = 1000
	// cellsAcross is the largest number of initial cells along the lake, for a long and thin one.
	cellsAcross = 32
	// goodEnough ends the search: the best point found is at least 1/goodEnough as far from the shore as any other point.
	goodEnough = 1.02
)

// interiorPoint returns approximately the point of a polygon that is farthest from its shore: in the middle of the widest
// water, even if the centroid is on land. It divides the polygon's bound into square cells, and a cell into four as long
// as it may hold a better point than the best one so far, the most promising cell first.
func interiorPoint(p orb.Polygon) orb.Point {
	// Scale longitudes so that a degree of both axes has the same length.
	middle := p.Bound().Center()
	stretch := max(math.Cos(middle.Lat()*math.Pi/180), 1e-6)
	plane := p.Clone()
	for _, ring := range plane {
		for i := range ring {
			ring[i][0] *= stretch
		}
	}
	best := middleOfChord(plane, middle.Lat())
	b := plane.Bound()
	width, height := b.Max[0]-b.Min[0], b.Max[1]-b.Min[1]
	half := max(min(width, height), max(width, height)/cellsAcross) / 2
	var cells cellHeap
	for x := b.Min[0] + half; x-half < b.Max[0]; x += 2 * half {
		for y := b.Min[1] + half; y-half < b.Max[1]; y += 2 * half {
			cells = append(cells, cellAt(plane, orb.Point{x, y}, half))
		}
	}
	heap.Init(&cells)
	for n := len(cells); n < maxCells && len(cells) > 0; n += 4 {
		c := heap.Pop(&cells).(cell)
		if c.fromShore > best.fromShore {
			best = c
		}
		if c.bestPossible() <= best.fromShore*goodEnough {
			break
		}
		half := c.half / 2
		for _, d := range [...]orb.Point{{-half, -half}, {half, -half}, {-half, half}, {half, half}} {
			heap.Push(&cells, cellAt(plane, orb.Point{c.centre[0] + d[0], c.centre[1] + d[1]}, half))
		}
	}
	for _, c := range cells { // the cells that were not divided
		if c.fromShore > best.fromShore {
			best = c
		}
	}
	return orb.Point{best.centre[0] / stretch, best.centre[1]}
}

// A cell is a square.
type cell struct {
	centre    orb.Point
	half      float64 // half its width
	fromShore float64 // the distance of the centre, negative on land
}

// bestPossible is an upper bound of the distance for all points of the cell.
func (c cell) bestPossible() float64 { return c.fromShore + c.half*math.Sqrt2 }

func cellAt(p orb.Polygon, centre orb.Point, half float64) cell {
	squared := math.Inf(1)
	inside := false
	for _, ring := range p {
		previous := ring[len(ring)-1]
		for _, point := range ring {
			squared = min(squared, planar.DistanceFromSegmentSquared(previous, point, centre))
			if x, ok := crossing(previous, point, centre[1]); ok && x > centre[0] {
				inside = !inside
			}
			previous = point
		}
	}
	distance := math.Sqrt(squared)
	if !inside {
		distance = -distance
	}
	return cell{centre, half, distance}
}

// crossing returns where the segment from a to b crosses the parallel at y. An end on the parallel counts as north of it, so
// that each ring crosses it an even number of times.
func crossing(a, b orb.Point, y float64) (x float64, ok bool) {
	if (a[1] >= y) == (b[1] >= y) {
		return 0, false
	}
	return a[0] + (b[0]-a[0])*(y-a[1])/(b[1]-a[1]), true
}

// middleOfChord returns the middle of the widest water along the parallel at y. This point is inside however thin the lake
// is; a bounded search may find none.
func middleOfChord(p orb.Polygon, y float64) cell {
	var xs []float64
	for _, ring := range p {
		previous := ring[len(ring)-1]
		for _, point := range ring {
			if x, ok := crossing(previous, point, y); ok {
				xs = append(xs, x)
			}
			previous = point
		}
	}
	slices.Sort(xs)
	middle, widest := p[0][0], -1.0
	for i := 0; i+1 < len(xs); i += 2 {
		if w := xs[i+1] - xs[i]; w > widest {
			middle, widest = orb.Point{(xs[i] + xs[i+1]) / 2, y}, w
		}
	}
	return cellAt(p, middle, 0)
}

// A cellHeap has the most promising cell on top.
type cellHeap []cell

func (h cellHeap) Len() int           { return len(h) }
func (h cellHeap) Less(i, j int) bool { return h[i].bestPossible() > h[j].bestPossible() }
func (h cellHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *cellHeap) Push(c any)        { *h = append(*h, c.(cell)) }

func (h *cellHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}
