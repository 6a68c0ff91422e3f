package render

import (
	"math"

	"github.com/cespare/xxhash/v2"
	"github.com/paulmach/orb"

	"limnomap/data"
)

// maxExtent bounds how far a water reaches from its place, in world units: a quarter of the world. The longest lake, the
// Caspian Sea, is a seventh of that. It keeps products of two distances within 62 bits.
const maxExtent = 1 << (worldBits - 2)

// A shore is where a lake's outline lies and what tells it from others.
type shore struct {
	outline data.Outline
	hash    uint64
	// The sides of its bound in world units, x growing east and y growing south, as seen from the lake's place.
	west, east, north, south int64
}

// newShore returns the shore of a lake at x, y whose outline is o, and nil if it has none or one that reaches further
// than maxExtent, which is no lake's.
func newShore(o data.Outline, x, y uint32) *shore {
	if o == "" {
		return nil
	}
	b := o.Bound()
	s := &shore{
		outline: o, hash: xxhash.Sum64String(string(o)),
		west: eastOf(x, b.Left()), east: eastOf(x, b.Right()),
		north: southOf(y, b.Top()), south: southOf(y, b.Bottom()),
	}
	if s.east < s.west || s.extent() > maxExtent {
		return nil
	}
	return s
}

// id tells one shore from another; it is 0 without one.
func (s *shore) id() uint64 {
	if s == nil {
		return 0
	}
	return s.hash
}

// extent returns how far the shore reaches from the lake's place, to the side or up and down.
func (s *shore) extent() int64 { return max(-s.west, s.east, -s.north, s.south) }

// eastOf returns how far east of x a longitude is, by the shorter way around.
func eastOf(x uint32, lon float64) int64 {
	return int64(int32(uint32(uint64(turns(lon)*worldUnits)) - x))
}

// southOf returns how far south of y a latitude is, or the edge of the map if that lies before it.
func southOf(y uint32, lat float64) int64 {
	return int64(min(max(southing(lat), 0), math.Nextafter(1, 0))*worldUnits) - int64(y)
}

// rectangle returns the pixels of w that hold some of the bound of the shore of h.
func (s *shore) rectangle(h hit, w window) rectangle {
	shift := uint(MaxZoom - w.zoom)
	x, y := int64(h.place.x), int64(h.place.y)
	dx, dy := int64(h.x)-x>>shift, int64(h.y)-y>>shift
	return rectangleOf((x+s.west)>>shift+dx, (y+s.north)>>shift+dy, (x+s.east)>>shift+dx, (y+s.south)>>shift+dy, w)
}

// draw exchanges water and land inside the shore of h in m, a mask of w.
func (s *shore) draw(m *mask, h hit, w window, ring *[]orb.Point) {
	shift := uint(MaxZoom - w.zoom)
	x, y := int64(h.place.x), int64(h.place.y)
	// From units of the world to those of the mask.
	corner := int64(m.left) * w.step()
	dx := int64(h.x) - x>>shift - corner
	dy := int64(h.y) - y>>shift - int64(m.top)*w.step()
	end := int64(m.words) * wordPixels * w.step()
	// Most points of a large shore lie north or south of the mask, and their latitudes need no projecting. A pixel more
	// makes up for what rounding does to the bounds.
	north := latitude(float64(-subUnits-dy) * math.Exp2(float64(shift)) / worldUnits)
	south := latitude(float64(int64(m.height)*w.step()+subUnits-dy) * math.Exp2(float64(shift)) / worldUnits)

	sampling := samplingOf(w)
	for points := range s.outline.Rings(w.zoom, ring) {
		from := points[0]
		fromX, fromY := (x+eastOf(h.place.x, from.Lon()))>>shift+dx, int64(0)
		known := false // whether fromY is from's
		for _, to := range points[1:] {
			toX := (x+eastOf(h.place.x, to.Lon()))>>shift + dx
			a, b := from.Lat(), to.Lat()
			if max(a, b) < south || min(a, b) > north || min(fromX, toX) > end {
				known = false
			} else {
				if !known {
					fromY = (y+southOf(h.place.y, a))>>shift + dy
				}
				toY := (y+southOf(h.place.y, b))>>shift + dy
				m.segment(fromX, fromY, toX, toY, sampling)
				fromY, known = toY, true
			}
			from, fromX = to, toX
		}
	}
}
