package outline

import (
	"errors"
	"iter"
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"github.com/paulmach/orb/planar"
	"github.com/paulmach/orb/simplify"
)

const (
	// tolerancePx is how far, in pixels, a simplified shore may be from the true one: less than the error of rounding
	// an edge to a pixel's coverage.
	tolerancePx = 0.25
	// tilePixels is the width of a tile. There are 2^z tiles around the world at zoom z.
	tilePixels = 256
	// thinnest is the width in degrees below which a ring is not a lake: a millimetre.
	thinnest = 1e-8
	// maxWhole is the number of points of a ring that are simplified together. A zigzag shore takes up to half their
	// square in steps: without this bound, minutes for the points that one lake may have.
	maxWhole = 4096
	// maxPart is the same for a longer ring, which is simplified in parts: a lake of [MaxPoints] then takes a
	// second or two, and so does interrupting an import.
	maxPart = 512
)

// A shoreline is a lake's polygons on the map: longitude in degrees and the Mercator ordinate in the same unit, so that
// pixels are squares of the same size everywhere. It is simplified zoom by zoom, the finest first. That gives the same
// result as simplifying the full shore for each zoom: with a larger tolerance, Douglas and Peucker (1973) divide a ring
// at the same farthest points, only fewer of them.
type shoreline [][]shoreRing // the largest polygon first

// A shoreRing is a closed ring.
type shoreRing struct {
	points orb.Ring
	long   bool // whether the full ring has more than maxWhole points
}

func newShoreline(shores []shore) shoreline {
	s := make(shoreline, len(shores))
	most := -1.0
	for i, shore := range shores {
		for _, points := range shore {
			ring := make(orb.Ring, 0, len(points)+1)
			for _, p := range points {
				ring = append(ring, p.mercator())
			}
			ring = append(ring, ring[0])
			s[i] = append(s[i], shoreRing{ring, len(ring) > maxWhole})
		}
		if area := math.Abs(planar.Area(s[i][0].points)); area > most {
			most = area
			s[0], s[i] = s[i], s[0]
		}
	}
	return s
}

// simplify reduces s to the rings and points visible at a zoom. The zoom must be coarser with each call.
func (s *shoreline) simplify(z maptile.Zoom) error {
	tolerance := tolerancePx * 360 / (tilePixels * math.Exp2(float64(z)))
	kept := (*s)[:0]
	for i, polygon := range *s {
		outer, seen := polygon[0].simplify(tolerance)
		for t := tolerance / 2; i == 0 && !seen; t /= 2 {
			if t < thinnest {
				return errors.New("the outer ring of the largest polygon is only a line: want a ring that encloses an area")
			}
			outer, seen = polygon[0].simplify(t)
		}
		if !seen {
			continue // and its holes, which would otherwise be filled
		}
		rings := append(polygon[:0], outer)
		for _, hole := range polygon[1:] {
			if hole, seen = hole.simplify(tolerance); seen {
				rings = append(rings, hole)
			}
		}
		kept = append(kept, rings)
	}
	*s = kept
	return nil
}

// simplify reports in seen whether the ring is wider than the tolerance anywhere.
func (r shoreRing) simplify(tolerance float64) (simple shoreRing, seen bool) {
	if r.long {
		// Where parts join, zooms are not divided at the same points, so each zoom adds its error to those of the finer
		// ones: a half, a quarter and so on of the tolerance, one tolerance in all.
		tolerance /= 2
	}
	divide := simplify.DouglasPeucker(tolerance)
	simple.long = r.long
	for part := range r.parts() {
		// A clone, because the simplifier works in place.
		simplified := divide.LineString(orb.LineString(part.Clone()))
		simple.points = append(simple.points[:max(len(simple.points)-1, 0)], simplified...)
	}
	return simple, len(simple.points) >= 4 // with fewer points it is a line there and back
}

// parts yields the parts of r that are simplified separately. Each begins with the last point of the part before.
func (r shoreRing) parts() iter.Seq[orb.Ring] {
	most := maxWhole
	if r.long {
		most = maxPart
	}
	return func(yield func(orb.Ring) bool) {
		for rest := r.points; len(rest) > 1; {
			n := min(len(rest), most)
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n-1:]
		}
	}
}

// rings returns the rings that are left, without their closing points.
func (s shoreline) rings() [][]point {
	var rings [][]point
	for _, polygon := range s {
		for _, ring := range polygon {
			points := make([]point, len(ring.points)-1)
			for i := range points {
				points[i] = fromMercator(ring.points[i])
			}
			rings = append(rings, points)
		}
	}
	return rings
}

// mercator returns the position of p on the map. The ordinate is finite even at the poles, because the tangent of the
// floating-point value next to 90 degrees is finite.
func (p point) mercator() orb.Point {
	d := p.degrees()
	return orb.Point{d.Lon(), math.Asinh(math.Tan(d.Lat()*math.Pi/180)) * 180 / math.Pi}
}

// fromMercator is the exact inverse of mercator: its error is far below half a unit.
func fromMercator(p orb.Point) point {
	lat := math.Atan(math.Sinh(p[1]*math.Pi/180)) * 180 / math.Pi
	return point{int64(math.Round(p[0] * unitsPerDegree)), int64(math.Round(lat * unitsPerDegree))}
}
