package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"limnomap/data/outline"
	"limnomap/data/store"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// A shape is the geometry of a feature: a point, or polygons with their outline and a point in their middle.
type shape struct {
	point    orb.Point
	polygons orb.MultiPolygon
	outline  outline.Outline
}

// parseShape returns nil for null. If the given outline belongs to the polygons, it is used, because an export's outline has
// more information on coarser zooms than the polygons. Any other outline is ignored.
func parseShape(g *geometry, given outline.Outline) (*shape, error) {
	switch {
	case string(g.other) == "null":
		return nil, nil
	case g.other != nil:
		return nil, fmt.Errorf("%s: want a geometry as an object", quoteJSON(g.other))
	}
	if g.crs != nil {
		if err := checkCRS(g.crs); err != nil {
			return nil, err
		}
	}
	var kind string
	if json.Unmarshal(g.kind, &kind) != nil {
		return nil, errors.New("geometry has no type: want Point, Polygon or MultiPolygon")
	}
	s := new(shape)
	c := &g.coordinates
	var err error
	switch kind {
	case "Point":
		s.point, err = c.position()
	case "Polygon":
		s.polygons = make(orb.MultiPolygon, 1)
		s.polygons[0], err = c.polygon()
	case "MultiPolygon":
		s.polygons, err = list(c, "polygon", c.polygon)
	default:
		return nil, fmt.Errorf("geometry %.40q: want Point, Polygon or MultiPolygon", kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	switch {
	case s.polygons == nil:
	case isShoreOf(s.polygons, given):
		s.outline, s.point = given, s.middle()
	default:
		if s.outline, err = outline.New(s.polygons); err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		if s.point = s.middle(); !s.pointInWater() {
			return nil, fmt.Errorf("%s: there is no water in the middle of polygon %d: want holes and polygons that do not cover each other", kind, s.largest()+1)
		}
	}
	return s, nil
}

// largest returns the index of the polygon with the largest area.
func (s *shape) largest() int {
	largest, most := 0, -1.0
	for i, p := range s.polygons {
		if area := geo.Area(p); area > most {
			largest, most = i, area
		}
	}
	return largest
}

// middle returns the middle of the largest polygon.
func (s *shape) middle() orb.Point { return interiorPoint(s.polygons[s.largest()]) }

// pointInWater reports whether the shape's point is in water when drawn by the even-odd rule. It is not if a polygon is there
// twice, or if a hole covers it all.
func (s *shape) pointInWater() bool {
	var rings orb.Polygon
	for _, p := range s.polygons {
		rings = append(rings, p...)
	}
	return cellAt(rings, s.point, 0).fromShore > 0
}

// lakePoint returns the point of the lake on the map.
func (s *shape) lakePoint() orb.Point {
	if s.polygons == nil {
		return s.point
	}
	p := s.point
	// Rounded to a tenth of a metre, more precise than any lake is known, and with a longitude from -180 to 180.
	return orb.Point{math.Remainder(math.Round(p[0]*1e6)/1e6, 360), math.Round(p[1]*1e6) / 1e6}
}

// areaKM2 returns the area of the polygons, rounded to a square metre.
func (s *shape) areaKM2() float64 { return math.Round(geo.Area(s.polygons)) / 1e6 }

// near reports whether p may be the point of a lake with this shape.
func (s *shape) near(p orb.Point) bool {
	b := s.point.Bound()
	if s.outline != "" {
		b = s.outline.Bound()
	}
	return store.NearOutline(b, p)
}
