package features

import (
	"math"
	"strconv"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
	"github.com/paulmach/orb/planar"

	"limnomap/api/coordinates"
	"limnomap/api/cql2"
)

// appendGeometry appends a shape as a geometry of GeoJSON in the coordinates of a system, null where it has none.
func appendGeometry(b []byte, s *cql2.Shape, in *coordinates.System) []byte {
	if s == nil {
		return append(b, "null"...)
	}
	start := len(b)
	ok := true
	if s.Rings == nil {
		b, ok = AppendPoint(append(b, `{"type":"Point","coordinates":`...), s.Point, in)
	} else {
		b = append(b, `{"type":"MultiPolygon","coordinates":[`...)
		for i, polygon := range polygonsOf(s) {
			b = appendOpen(b, i)
			for j, ring := range polygon {
				b = appendOpen(b, j)
				for k, p := range ring {
					if k > 0 {
						b = append(b, ',')
					}
					var known bool
					b, known = AppendPoint(b, p, in)
					ok = ok && known
				}
				b = append(b, ']')
			}
			b = append(b, ']')
		}
		b = append(b, ']')
	}
	if !ok { // too far from the area of the system
		return append(b[:start], "null"...)
	}
	return append(b, '}')
}

// appendOpen appends the bracket of the i-th entry of an array.
func appendOpen(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return append(b, '[')
}

// AppendPoint appends the coordinates of a point in a system. It reports false for one too far from the area of the system.
func AppendPoint(b []byte, p orb.Point, s *coordinates.System) ([]byte, bool) {
	x, y, ok := s.Project(p)
	b = appendNumber(append(b, '['), x, s.Decimals())
	b = appendNumber(append(b, ','), y, s.Decimals())
	return append(b, ']'), ok
}

func appendNumber(b []byte, n float64, decimals int) []byte {
	unit := math.Pow10(decimals)
	return strconv.AppendFloat(b, math.Round(n*unit)/unit, 'f', -1, 64)
}

// polygonsOf returns the polygons of a shore, cut at the antimeridian (RFC 7946, section 3.1.9), outer rings counterclockwise.
func polygonsOf(s *cql2.Shape) orb.MultiPolygon {
	var all orb.MultiPolygon
	for points := range s.Rings() {
		ring := append(orb.Ring(nil), points...)
		if last := len(all) - 1; last >= 0 && isHole(all[last], ring[0]) {
			all[last] = append(all[last], ring)
		} else {
			all = append(all, orb.Polygon{ring})
		}
	}
	if s.Bound.Max[0] > 180 {
		east := clip.MultiPolygon(orb.Bound{Min: orb.Point{180, -90}, Max: orb.Point{540, 90}}, all.Clone())
		for _, polygon := range east {
			for _, ring := range polygon {
				for i := range ring {
					ring[i][0] -= 360
				}
			}
		}
		all = append(clip.MultiPolygon(orb.Bound{Min: orb.Point{-180, -90}, Max: orb.Point{180, 90}}, all), east...)
	}
	for _, polygon := range all {
		for i, ring := range polygon {
			if outer := i == 0; (ring.Orientation() == orb.CCW) != outer {
				ring.Reverse()
			}
		}
	}
	return all
}

// isHole reports whether a ring that begins at p is a hole of a polygon: its holes follow it, and no ring is in a hole of the same polygon.
func isHole(polygon orb.Polygon, p orb.Point) bool {
	if !planar.RingContains(polygon[0], p) {
		return false
	}
	for _, hole := range polygon[1:] {
		if planar.RingContains(hole, p) {
			return false
		}
	}
	return true
}
