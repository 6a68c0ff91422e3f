package data

import (
	"errors"
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"github.com/paulmach/orb/planar"
	"github.com/paulmach/orb/simplify"
)

const (
	// outlineTolerance is how far, in pixels, a simplified shore may lie from the true one: less than what the
	// rounding of an edge to a pixel's coverage makes of it.
	outlineTolerance = 0.25
	// tilePixels is a tile's width, of which there are 2^z around the world at zoom z.
	tilePixels = 256
	// thinnest is, in degrees, the width of what is no lake: a millimetre.
	thinnest = 1e-8
	// maxWhole is how many points of a ring are simplified together. It takes up to half their square in steps, where
	// a shore goes to and fro all along: without this bound some minutes, for the points that one lake may have.
	maxWhole = 4096
	// maxStretch is how many points of a longer ring are: a lake of [MaxOutlinePoints] takes a second or two then, and an
	// import that is interrupted as long to end.
	maxStretch = 512
)

// A shoreline is a lake's polygons in the plane of the map: longitude in degrees, and the Mercator ordinate in the same
// measure, so that a pixel is a square and as large everywhere. It is simplified from zoom to zoom, the finest first.
// That gives what simplifying the full shore for each zoom would: with more tolerance, a ring that is divided at its
// farthest points (Douglas and Peucker, 1973) is divided at the same ones, only less often.
type shoreline [][]shoreRing // the largest polygon first

// A shoreRing is a closed ring.
type shoreRing struct {
	points orb.Ring
	long   bool // at first more than maxWhole points
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

// simplify leaves of s what is seen at a zoom, which must be coarser with each call.
func (s *shoreline) simplify(z maptile.Zoom) error {
	tolerance := outlineTolerance * 360 / (tilePixels * math.Exp2(float64(z)))
	kept := (*s)[:0]
	for i, polygon := range *s {
		outer, seen := polygon[0].simplify(tolerance)
		for t := tolerance / 2; i == 0 && !seen; t /= 2 {
			if t < thinnest {
				return errors.New("the outer ring of the largest polygon is but a line: want one around a surface")
			}
			outer, seen = polygon[0].simplify(t)
		}
		if !seen {
			continue // with its holes, which would else be filled
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

// simplify reports in seen whether the ring is anywhere wider than the tolerance.
func (r shoreRing) simplify(tolerance float64) (simple shoreRing, seen bool) {
	most := maxWhole
	if r.long {
		// Where stretches join, zooms are not divided at the same points, and what one is off adds to what the finer ones
		// are: a half, a quarter and so on of the tolerance, one of it in all.
		tolerance /= 2
		most = maxStretch
	}
	divide := simplify.DouglasPeucker(tolerance)
	simple.long = r.long
	for rest := r.points; len(rest) > 1; {
		n := min(len(rest), most)
		// Of a clone, since the simplifier works in place.
		stretch := divide.LineString(orb.LineString(rest[:n].Clone()))
		rest = rest[n-1:] // from the last point on
		simple.points = append(simple.points[:max(len(simple.points)-1, 0)], stretch...)
	}
	return simple, len(simple.points) >= 4 // fewer go there and back
}

// rings returns what is left, without the points that close the rings.
func (s shoreline) rings() [][]outlinePoint {
	var rings [][]outlinePoint
	for _, polygon := range s {
		for _, ring := range polygon {
			points := make([]outlinePoint, len(ring.points)-1)
			for i := range points {
				points[i] = fromMercator(ring.points[i])
			}
			rings = append(rings, points)
		}
	}
	return rings
}

// mercator returns where p lies on the map. The ordinate is finite even at the poles, where floating point takes the
// tangent of almost 90 degrees.
func (p outlinePoint) mercator() orb.Point {
	d := p.degrees()
	return orb.Point{d.Lon(), math.Asinh(math.Tan(d.Lat()*math.Pi/180)) * 180 / math.Pi}
}

// fromMercator undoes mercator exactly: it errs by far less than half a unit.
func fromMercator(p orb.Point) outlinePoint {
	lat := math.Atan(math.Sinh(p[1]*math.Pi/180)) * 180 / math.Pi
	return outlinePoint{int64(math.Round(p[0] * unitsPerDegree)), int64(math.Round(lat * unitsPerDegree))}
}
