package cql2

import (
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"limnomap/data/raster/crs"
)

// An Area is a point or polygons in the coordinates of a system, borders included.
type Area struct {
	system   *crs.System // nil: longitude and latitude
	polygons orb.MultiPolygon
	points   []orb.Point // its points, and the corners of its polygons
	bounds   []orb.Bound // of its polygons
	box      bool        // each polygon is its bound
}

// A Shape is the place of a record: a point, or a shore where rings is not nil.
type Shape struct {
	Point orb.Point
	Bound orb.Bound // of the shore; its east may exceed 180
	// Rings yields the rings of the shore, to be filled by the even-odd rule. They are valid until the next one.
	Rings func() iter.Seq[[]orb.Point]
	// Points is how many points the shore has at most.
	Points int
}

// BoxArea returns the area from min to max in the coordinates of a system, nil for longitude and latitude. There a box whose west is east of
// its east crosses the antimeridian.
func BoxArea(min, max orb.Point, system *crs.System) (*Area, error) {
	if min[1] > max[1] {
		return nil, fmt.Errorf("south, %v, is greater than north, %v", min[1], max[1])
	}
	if system == nil && min[0] > max[0] {
		west := orb.Bound{Min: orb.Point{-180, min[1]}, Max: max}
		east := orb.Bound{Min: min, Max: orb.Point{180, max[1]}}
		return newArea(orb.MultiPolygon{east.ToPolygon(), west.ToPolygon()}, true, nil)
	}
	if min[0] > max[0] {
		return nil, fmt.Errorf("the smallest x, %v, is greater than the greatest, %v", min[0], max[0])
	}
	return newArea(orb.MultiPolygon{orb.Bound{Min: min, Max: max}.ToPolygon()}, true, system)
}

// PolygonArea returns the area of polygons in the coordinates of a system, nil for longitude and latitude.
func PolygonArea(polygons orb.MultiPolygon, system *crs.System) (*Area, error) {
	return newArea(polygons, false, system)
}

// newArea returns the area of polygons, or of a point if it is the only one of the only ring.
func newArea(polygons orb.MultiPolygon, box bool, system *crs.System) (*Area, error) {
	a := &Area{system: system, polygons: polygons, box: box}
	for _, p := range polygons {
		if len(p) == 0 {
			return nil, errors.New("a polygon has no ring")
		}
		for _, ring := range p {
			if n := len(ring); n < 4 && n != 1 || ring[0] != ring[n-1] {
				return nil, errors.New("a ring has less than four points or does not end where it begins")
			}
			for _, point := range ring {
				if !isFinite(point) || system == nil && (math.Abs(point[0]) > 180 || math.Abs(point[1]) > 90) {
					return nil, fmt.Errorf("the position %v is not on the Earth", point)
				}
			}
			a.points = append(a.points, ring...)
		}
		a.bounds = append(a.bounds, p[0].Bound())
	}
	if len(a.points) == 0 || len(a.points) > maxPoints {
		return nil, fmt.Errorf("the area has %d points; want 1 to %d", len(a.points), maxPoints)
	}
	return a, nil
}

func isFinite(p orb.Point) bool { return !math.IsNaN(p[0]+p[1]) && !math.IsInf(p[0]+p[1], 0) }

// Contains reports whether a point of longitude and latitude is in the area.
func (a *Area) Contains(p orb.Point) bool {
	p, ok := a.project(p)
	return ok && a.contains(p)
}

func (a *Area) project(p orb.Point) (orb.Point, bool) {
	if a.system == nil {
		return p, true
	}
	x, y, ok := a.system.Project(p[0], p[1])
	return orb.Point{x, y}, ok
}

func (a *Area) contains(p orb.Point) bool {
	for i, bound := range a.bounds {
		if bound.Contains(p) && (a.box || planar.PolygonContains(a.polygons[i], p)) {
			return true
		}
	}
	return false
}

// Meets reports whether a shape and the area have a point in common.
func (a *Area) Meets(s *Shape) bool {
	if s.Rings == nil {
		return a.Contains(s.Point)
	}
	if a.system != nil {
		return a.meets(s, 0)
	}
	// A shore that crosses the antimeridian continues beyond 180 degrees.
	return a.meets(s, 0) || s.Bound.Max[0] > 180 && a.meets(s, -360)
}

// meets is like Meets, for the shore moved to the east by some degrees.
func (a *Area) meets(s *Shape, east float64) bool {
	if a.system == nil && !a.near(orb.Bound{Min: orb.Point{s.Bound.Min[0] + east, s.Bound.Min[1]}, Max: orb.Point{s.Bound.Max[0] + east, s.Bound.Max[1]}}) {
		return false
	}
	inside := make([]bool, len(a.points)) // whether a point of the area is in the lake
	for ring := range s.Rings() {
		before, begun := orb.Point{}, false
		for _, p := range ring {
			p, ok := a.project(orb.Point{p[0] + east, p[1]})
			if !ok {
				begun = false
				continue
			}
			if a.contains(p) || begun && a.crosses(before, p) {
				return true
			}
			if begun {
				for i, q := range a.points {
					if (before[1] > q[1]) != (p[1] > q[1]) && q[0] < (p[0]-before[0])*(q[1]-before[1])/(p[1]-before[1])+before[0] {
						inside[i] = !inside[i]
					}
				}
			}
			before, begun = p, true
		}
	}
	for _, in := range inside {
		if in {
			return true
		}
	}
	return false
}

// near reports whether a bound meets that of one of the polygons.
func (a *Area) near(b orb.Bound) bool {
	for _, bound := range a.bounds {
		if bound.Intersects(b) {
			return true
		}
	}
	return false
}

// crosses reports whether the line from p to q crosses a border of the area.
func (a *Area) crosses(p, q orb.Point) bool {
	line := orb.LineString{p, q}.Bound()
	for i, polygon := range a.polygons {
		if !a.bounds[i].Intersects(line) {
			continue
		}
		for _, ring := range polygon {
			for i := 1; i < len(ring); i++ {
				if side(p, q, ring[i-1])*side(p, q, ring[i]) <= 0 && side(ring[i-1], ring[i], p)*side(ring[i-1], ring[i], q) <= 0 && line.Intersects(orb.LineString{ring[i-1], ring[i]}.Bound()) {
					return true
				}
			}
		}
	}
	return false
}

// side is positive to the left of the line from p to q, and negative to its right.
func side(p, q, r orb.Point) float64 { return (q[0]-p[0])*(r[1]-p[1]) - (q[1]-p[1])*(r[0]-p[0]) }

// Cost is how many comparisons a shape costs.
func (a *Area) Cost(s *Shape) int {
	switch {
	case s.Rings == nil && a.system == nil && !a.near(s.Point.Bound()):
		return 1
	case s.Rings == nil:
		return 1 + len(a.points)/8
	case a.system == nil && !a.near(s.Bound) && !a.near(orb.Bound{Min: orb.Point{s.Bound.Min[0] - 360, s.Bound.Min[1]}, Max: orb.Point{s.Bound.Max[0] - 360, s.Bound.Max[1]}}):
		return 1
	}
	return 1 + s.Points*len(a.points)/16
}
