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
)

// A shoreline is a lake's polygons in the plane of the map: longitude in degrees, and the Mercator ordinate in the same
// measure, so that a pixel is a square and as large everywhere. It is simplified from zoom to zoom, the finest first.
// That gives what simplifying the full shore for each zoom would: with more tolerance, a ring that is divided at its
// farthest points (Douglas and Peucker, 1973) is divided at the same ones, only less often.
type shoreline []orb.Polygon // the largest first

func newShoreline(shores []shore) shoreline {
	s := make(shoreline, len(shores))
	most := -1.0
	for i, shore := range shores {
		for _, points := range shore {
			ring := make(orb.Ring, 0, len(points)+1)
			for _, p := range points {
				ring = append(ring, p.mercator())
			}
			s[i] = append(s[i], append(ring, ring[0]))
		}
		if area := math.Abs(planar.Area(s[i][0])); area > most {
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
		outer := simplifyRing(polygon[0], tolerance)
		for t := tolerance / 2; i == 0 && outer == nil; t /= 2 {
			if t < thinnest {
				return errors.New("the outer ring of the largest polygon is but a line: want one around a surface")
			}
			outer = simplifyRing(polygon[0], t)
		}
		if outer == nil {
			continue // with its holes, which would else be filled
		}
		rings := append(polygon[:0], outer)
		for _, hole := range polygon[1:] {
			if hole = simplifyRing(hole, tolerance); hole != nil {
				rings = append(rings, hole)
			}
		}
		kept = append(kept, rings)
	}
	*s = kept
	return nil
}

// simplifyRing returns nil for a ring that is nowhere wider than the tolerance.
func simplifyRing(ring orb.Ring, tolerance float64) orb.Ring {
	// Of a clone, since the simplifier works in place.
	ring = simplify.DouglasPeucker(tolerance).Ring(ring.Clone())
	if len(ring) < 4 {
		return nil // there and back
	}
	return ring
}

// rings returns what is left, without the points that close the rings.
func (s shoreline) rings() [][]outlinePoint {
	var rings [][]outlinePoint
	for _, polygon := range s {
		for _, ring := range polygon {
			points := make([]outlinePoint, len(ring)-1)
			for i := range points {
				points[i] = fromMercator(ring[i])
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
