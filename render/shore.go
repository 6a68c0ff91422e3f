package render

import (
	"math"

	"github.com/cespare/xxhash/v2"
	"github.com/paulmach/orb"

	"limnomap/data/outline"
)

// maxExtent bounds how far a water reaches from its site, in world units: a quarter of the world. The longest lake, the
// Caspian Sea, has a seventh of that. Products of two distances have at most 62 bits.
const maxExtent = 1 << (worldBits - 2)

// A shore is the outline of a lake. Its picture depends only on the outline, which has a hash, and on the window: the site
// is a point near it, from which the way around the world is measured.
type shore struct {
	outline outline.Outline
	hash    uint64
	x, y    uint32 // the lake's site
	// The sides of the bound in world units from the site, x growing east and y growing south.
	west, east, north, south int64
	beside                   bool // whether the site is outside of the shore, as a bathing place on the beach is
}

// newShore returns the shore of a lake at point, which is x, y in world coordinates, with outline o, nil without one. It is also
// nil for an outline that reaches further than maxExtent: an error in the data.
func newShore(o outline.Outline, point orb.Point, x, y uint32) *shore {
	if o == "" {
		return nil
	}
	b := o.Bound()
	s := &shore{
		outline: o, hash: xxhash.Sum64String(string(o)), x: x, y: y,
		west: eastOf(x, b.Left()), east: eastOf(x, b.Right()),
		north: southOf(y, b.Top()), south: southOf(y, b.Bottom()),
	}
	if s.east < s.west || s.extent() > maxExtent {
		return nil
	}
	s.beside = !o.Contains(point)
	return s
}

// id identifies a shore; it is 0 without one.
func (s *shore) id() uint64 {
	if s == nil {
		return 0
	}
	return s.hash
}

// side returns the width or the height of the bound, whichever is more, in world units.
func (s *shore) side() int64 { return max(s.east-s.west, s.south-s.north) }

// extent returns how far the shore reaches from the site, horizontally or vertically.
func (s *shore) extent() int64 { return max(-s.west, s.east, -s.north, s.south) }

// eastOf returns how far east of x a longitude is, by the shorter way around.
func eastOf(x uint32, lon float64) int64 {
	return int64(int32(uint32(uint64(turns(lon)*worldUnits)) - x))
}

// southOf returns how far south of y a latitude is, or the edge of the map if that is nearer.
func southOf(y uint32, lat float64) int64 {
	return int64(min(max(southing(lat), 0), math.Nextafter(1, 0))*worldUnits) - int64(y)
}

// rectangle returns the pixels of w that the bound of m, a mark with this shore, touches.
func (s *shore) rectangle(m *mark, w window) rectangle {
	shift := uint(MaxZoom - w.zoom)
	x, y := int64(s.x), int64(s.y)
	dx, dy := int64(m.x)-x>>shift, int64(m.y)-y>>shift
	return rectangleOf((x+s.west)>>shift+dx, (y+s.north)>>shift+dy, (x+s.east)>>shift+dx, (y+s.south)>>shift+dy, w)
}

// draw exchanges water and land inside the shore of a mark in m, a mask of w.
func (s *shore) draw(m *mask, at *mark, w window, ring *[]orb.Point) {
	shift := uint(MaxZoom - w.zoom)
	x, y := int64(s.x), int64(s.y)
	// From units of the world to those of the mask.
	corner := int64(m.left) * w.step()
	dx := int64(at.x) - x>>shift - corner
	dy := int64(at.y) - y>>shift - int64(m.top)*w.step()
	end := int64(m.words) * wordPixels * w.step()
	// Most points of a large shore are north or south of the mask: their latitudes need not be projected. One more pixel
	// allows for the rounding of the bounds.
	north := latitude(float64(-subUnits-dy) * math.Exp2(float64(shift)) / worldUnits)
	south := latitude(float64(int64(m.height)*w.step()+subUnits-dy) * math.Exp2(float64(shift)) / worldUnits)

	sampling, siteX, siteY := samplingOf(w), s.x, s.y
	for points := range s.outline.Rings(w.zoom, ring) {
		from := points[0]
		fromX, fromY := (x+eastOf(siteX, from.Lon()))>>shift+dx, int64(0)
		known := false // whether fromY is set
		for _, to := range points[1:] {
			toX := (x+eastOf(siteX, to.Lon()))>>shift + dx
			a, b := from.Lat(), to.Lat()
			if max(a, b) < south || min(a, b) > north || min(fromX, toX) > end {
				known = false
			} else {
				if !known {
					fromY = (y+southOf(siteY, a))>>shift + dy
				}
				toY := (y+southOf(siteY, b))>>shift + dy
				m.segment(fromX, fromY, toX, toY, sampling)
				fromY, known = toY, true
			}
			from, fromX = to, toX
		}
	}
}
