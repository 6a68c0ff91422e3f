package zonal

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Point is a position in pixel coordinates: x, y.
type Point = [2]float64

// A Polygon is rings: outer ones and holes, in any order and direction. A ring is closed, whether or not it repeats its first point at its
// end.
type Polygon [][]Point

// A Rule says which pixels belong to polygons.
type Rule int

const (
	// Full takes the pixels that lie wholly inside.
	Full Rule = iota
	// Centre takes the pixels whose centre lies inside.
	Centre
)

// tolerance is how far an edge may enter a pixel that still counts as wholly inside. Edges that run along pixels are rounded.
const tolerance = 1e-7

// NewMask returns the mask of the pixels that belong to polygons. Inside is what an odd number of rings contains, counted over all
// polygons.
//
// Centre takes the same pixels as GDAL's rasterize without ALL_TOUCHED for a raster with north at its top, also where a centre lies
// exactly on an edge. (For a raster with south at its top GDAL takes other pixels where horizontal edges pass through centres.) Full takes
// those that are inside up to 1e-7 pixels from their border. A pixel that an edge passes through is not taken, even if both sides of the
// edge are inside, as where two polygons touch.
func NewMask(polygons []Polygon, rule Rule) (*Mask, error) {
	if rule != Full && rule != Centre {
		return nil, fmt.Errorf("rule %d is neither Full nor Centre", rule)
	}
	edges, err := newEdges(polygons, rule)
	if err != nil {
		return nil, err
	}
	s := scan{rule: rule, edges: edges}
	return s.mask()
}

func checkCoordinate(p Point) error {
	for _, v := range p {
		if !(math.Abs(v) <= maxCoordinate) { // also NaN
			return fmt.Errorf("the coordinates (%g, %g) are not within ±%d pixels", p[0], p[1], maxCoordinate)
		}
	}
	return nil
}

// An edge is a part of a ring.
type edge struct {
	x0, y0, x1, y1 float64 // y0 <= y1
	first, end     int32   // the rows that it must be looked at in, end excluded
	fill           bool    // for a horizontal edge through centres: Centre takes these pixels
}

// newEdges returns the edges of polygons, ordered by first.
func newEdges(polygons []Polygon, rule Rule) ([]edge, error) {
	total := 0
	for _, rings := range polygons {
		for _, ring := range rings {
			total += len(ring)
		}
	}
	edges := make([]edge, 0, total)
	crossings := 0
	for i, rings := range polygons {
		for j, ring := range rings {
			for k, p := range ring {
				if err := checkCoordinate(p); err != nil {
					return nil, fmt.Errorf("polygon %d, ring %d, point %d: %w", i, j, k, err)
				}
			}
			reversed := signedArea(ring) < 0
			for k, b := range ring {
				a := ring[(k+len(ring)-1)%len(ring)]
				if reversed {
					a, b = b, a
				}
				e := newEdge(a, b, rule)
				if e.first >= e.end {
					continue
				}
				if crossings += int(e.end - e.first); crossings > maxCrossings {
					return nil, fmt.Errorf("polygons whose edges cross more than %d rows of pixels: %w", maxCrossings, ErrTooLarge)
				}
				edges = append(edges, e)
			}
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.first, b.first) })
	return edges, nil
}

// signedArea returns twice the area of a ring, positive if it runs clockwise on a screen.
func signedArea(ring []Point) float64 {
	var sum float64
	for k := 2; k < len(ring); k++ {
		o, a, b := ring[0], ring[k-1], ring[k]
		sum += (a[0]-o[0])*(b[1]-o[1]) - (b[0]-o[0])*(a[1]-o[1])
	}
	return sum
}

// newEdge returns the edge from a to b of a ring with a positive signed area.
func newEdge(a, b Point, rule Rule) edge {
	e := edge{x0: a[0], y0: a[1], x1: b[0], y1: b[1]}
	if a[1] > b[1] {
		e = edge{x0: b[0], y0: b[1], x1: a[0], y1: a[1]}
	}
	switch {
	case rule == Full: // all rows that it enters by more than tolerance
		e.first, e.end = int32(math.Floor(e.y0+tolerance)), int32(math.Ceil(e.y1-tolerance))
	case e.y0 < e.y1: // the rows with y0 <= centre < y1
		e.first, e.end = int32(math.Ceil(e.y0-0.5)), int32(math.Ceil(e.y1-0.5))
	case b[0] < a[0] && e.y0-0.5 == math.Floor(e.y0): // GDAL fills the edges that run leftwards through centres
		e.fill = true
		e.first = int32(math.Floor(e.y0))
		e.end = e.first + 1
	}
	return e
}

// at returns the x of the edge at y, which is between y0 and y1. The order of the operations is that of GDAL, whose rounding decides
// which pixels are taken where an edge passes through a centre.
func (e *edge) at(y float64) float64 {
	return (y-e.y0)*(e.x1-e.x0)/(e.y1-e.y0) + e.x0
}

// crossing returns the first column whose centre is not left of the edge in row y, or false if the edge does not cross that row's centre.
func (e *edge) crossing(y int32) (int32, bool) {
	centre := float64(y) + 0.5
	if centre < e.y0 || centre >= e.y1 {
		return 0, false
	}
	return int32(math.Floor(e.at(centre) + 0.5)), true
}

// touched returns the pixels of row y that the edge enters by more than tolerance.
func (e *edge) touched(y int32) (run, bool) {
	ya, yb := max(e.y0, float64(y)+tolerance), min(e.y1, float64(y)+1-tolerance)
	if ya > yb {
		return run{}, false
	}
	xa, xb := e.x0, e.x1
	if ya > e.y0 {
		xa = e.at(ya)
	}
	if yb < e.y1 {
		xb = e.at(yb)
	}
	r := run{y, int32(math.Floor(min(xa, xb) + tolerance)), int32(math.Ceil(max(xa, xb) - tolerance))}
	return r, r.x0 < r.x1
}

// A scan goes through polygons row by row.
type scan struct {
	rule      Rule
	edges     []edge // that begin below the current row
	active    []edge // in the current row
	crossings []int32
	inside    []run
	touched   []run
	runs      []run
	count     int
}

func (s *scan) mask() (*Mask, error) {
	var y int32
	for len(s.edges) > 0 || len(s.active) > 0 {
		if len(s.active) == 0 {
			y = s.edges[0].first
		}
		for len(s.edges) > 0 && s.edges[0].first == y {
			s.active = append(s.active, s.edges[0])
			s.edges = s.edges[1:]
		}
		if err := s.row(y); err != nil {
			return nil, err
		}
		y++
		s.active = slices.DeleteFunc(s.active, func(e edge) bool { return e.end <= y })
	}
	return newMask(slices.Clip(s.runs)), nil
}

// row adds the runs of row y.
func (s *scan) row(y int32) error {
	s.crossings, s.inside, s.touched = s.crossings[:0], s.inside[:0], s.touched[:0]
	for i := range s.active {
		e := &s.active[i]
		if e.fill {
			s.inside = append(s.inside, run{y, int32(math.Floor(e.x1 + 0.5)), int32(math.Floor(e.x0 + 0.5))})
			continue
		}
		if x, ok := e.crossing(y); ok {
			s.crossings = append(s.crossings, x)
		}
		if s.rule == Full {
			if r, ok := e.touched(y); ok {
				s.touched = append(s.touched, r)
			}
		}
	}
	slices.Sort(s.crossings)
	for i := 0; i+1 < len(s.crossings); i += 2 {
		if s.crossings[i] < s.crossings[i+1] {
			s.inside = append(s.inside, run{y, s.crossings[i], s.crossings[i+1]})
		}
	}
	before := len(s.runs)
	if s.rule == Full {
		s.runs = subtract(s.runs, union(s.inside), union(s.touched))
	} else {
		s.runs = append(s.runs, union(s.inside)...)
	}
	for _, r := range s.runs[before:] {
		s.count += int(r.x1 - r.x0)
	}
	if s.count > MaxPixels {
		return fmt.Errorf("polygons with more than %d pixels: %w", MaxPixels, ErrTooLarge)
	}
	return nil
}

// union sorts the runs of a row and joins those that overlap or touch, in place.
func union(runs []run) []run {
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.x0, b.x0) })
	joined := runs[:0]
	for _, r := range runs {
		if n := len(joined); n > 0 && r.x0 <= joined[n-1].x1 {
			joined[n-1].x1 = max(joined[n-1].x1, r.x1)
		} else if r.x0 < r.x1 {
			joined = append(joined, r)
		}
	}
	return joined
}

// subtract appends the pixels of a row that are in a and not in b. Both are ordered and do not overlap.
func subtract(to, a, b []run) []run {
	for _, r := range a {
		for len(b) > 0 && b[0].x1 <= r.x0 {
			b = b[1:]
		}
		for i := 0; i < len(b) && b[i].x0 < r.x1; i++ {
			if r.x0 < b[i].x0 {
				to = append(to, run{r.y, r.x0, b[i].x0})
			}
			r.x0 = max(r.x0, b[i].x1)
		}
		if r.x0 < r.x1 {
			to = append(to, r)
		}
	}
	return to
}
