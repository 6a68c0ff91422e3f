package render

import (
	"cmp"
	"math"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render/palettepng"
)

// smallestRadii are the radii in pixels, by zoom, of the discs of lakes whose waters are smaller: so that they are seen,
// and hit with a pointer. They are those of the markers of the style Dots, as long as those grow for a country's sake.
var smallestRadii = [...]float64{1.5, 1.5, 1.5, 2, 2, 2.5, 2.5, 3}

// waterMargin is how far beyond a water, in units, a pixel's centre may lie that it touches: the line around it, half a
// pixel, and one unit for the rounding of its place.
const waterMargin = subUnits + subUnits/2 + 1

// waters paints the water of each lake: the inside of its outline where that is known and large enough to be seen, else
// a disc of its area.
type waters struct {
	smallest []markers // by zoom, the last for all larger ones
}

func newWaters() *waters { return &waters{newMarkers(smallestRadii[:])} }

// waterRadius returns the radius in metres of a round water of that area.
func waterRadius(areaKM2 float64) float64 {
	// The surface of a middling bathing lake, for one whose area is not known.
	const middling = 0.2
	if !(areaKM2 > 0) {
		areaKM2 = middling
	}
	return 1000 * math.Sqrt(areaKM2/math.Pi)
}

// discRadius returns the radius in world units of a round water of that area at world coordinate y.
func discRadius(areaKM2 float64, y uint32) uint32 {
	const zoom0 = worldUnits / TileSize // world units per pixel there
	return uint32(min(math.Round(waterRadius(areaKM2)*groundPx(y)*zoom0), maxExtent))
}

// extent returns how far the water of p reaches from its place in world units, however it is drawn.
func (p *place) extent() int64 {
	if p.shore != nil {
		return max(int64(p.radius), p.shore.extent())
	}
	return int64(p.radius)
}

// smallestStep returns the index into smallestRadii for a zoom.
func smallestStep(z maptile.Zoom) int { return min(int(z), len(smallestRadii)-1) }

// smallestRadius returns the radius of the smallest disc in units.
func smallestRadius(z maptile.Zoom) int64 {
	return int64(smallestRadii[smallestStep(z)] * subUnits)
}

// disc returns the radius in units of a round water of p's area.
func (p *place) disc(z maptile.Zoom) int64 { return int64(p.radius >> (MaxZoom - z)) }

// radius returns the radius in units of the disc of p.
func (t *waters) radius(p *place, z maptile.Zoom) int64 {
	return max(p.disc(z), smallestRadius(z))
}

// outlined reports whether p is drawn as its outline: from the zoom on that has them, if it is as wide or as high as the
// smallest disc.
func (t *waters) outlined(p *place, z maptile.Zoom) bool {
	s := p.shore
	return s != nil && z >= data.OutlineZoom && max(s.east-s.west, s.south-s.north)>>(MaxZoom-z) >= 2*smallestRadius(z)
}

// drawnExtent returns half of the width or the height of what is drawn of p, whichever is more, in units.
func (t *waters) drawnExtent(p *place, z maptile.Zoom) int64 {
	if t.outlined(p, z) {
		return max(p.shore.east-p.shore.west, p.shore.south-p.shore.north) >> (MaxZoom - z) / 2
	}
	return t.radius(p, z)
}

// reach returns 0 for an outline whose bound lies beside w, however near its place is.
func (t *waters) reach(p *place, w window) int64 {
	if !t.outlined(p, w.zoom) {
		return max(t.radius(p, w.zoom)+waterMargin, t.smallest[smallestStep(w.zoom)].reach)
	}
	s, shift := p.shore, uint(MaxZoom-w.zoom)
	left, right := w.left-waterMargin, w.left+w.lastCentre(w.width)+waterMargin
	top, bottom := w.top-waterMargin, w.top+w.lastCentre(w.height)+waterMargin
	x, y := int64(p.x), int64(p.y)
	if (y+s.south)>>shift < top || (y+s.north)>>shift > bottom {
		return 0
	}
	// The world is periodic: the bound begins in the window, or west of it and reaches into it.
	world := int64(1) << (worldBits - shift)
	if begins := ((x+s.west)>>shift - left) & (world - 1); begins > right-left && begins+(s.east-s.west)>>shift+1 < world {
		return 0
	}
	return s.extent()>>shift + 1 + waterMargin
}

// beneath counts outlines from the smallest zoom on, since from OutlineZoom on they are drawn.
func (t *waters) beneath(p *place, z maptile.Zoom) int64 {
	return max(p.extent()>>(MaxZoom-z)+1+waterMargin, t.smallest[smallestStep(z)].reach)
}

func (t *waters) index(l *Layer, w window) *index { return l.forMarkers(w.zoom) }

func (t *waters) tiers(x *index) []tier { return x.tiers }

func (t *waters) widest(_ *index, w window) int64 {
	return t.smallest[smallestStep(w.zoom)].reach + waterMargin
}

// trace has the value of a lake even where its colour is the same as another's, since it also decides which of two
// waters lies above.
func (t *waters) trace(h hit, w window) trace {
	tr := trace{x: h.x, y: h.y, value: uint32(h.chlorophyll)}
	if t.outlined(h.place, w.zoom) {
		tr.water = h.shore.hash
	} else {
		tr.water = uint64(t.radius(h.place, w.zoom))
	}
	return tr
}

func (t *waters) palette(m *colormap.Map) *palettepng.Palette { return markPalette(m) }

// paint draws the waters class by class, the worst last, so that no lake hides a worse one of another class. Within a
// class large ones come first, so that a pond on an island is seen, and then those of higher values. Lakes without a
// value are among the first class: a large clean lake does not hide them. Among equals the layer's
// order decides, down to the shape: the sort is not stable, so another window would shuffle what was left equal.
func (t *waters) paint(dst []uint8, s *scene, w window, sc *scale, b *brush) {
	clear(dst)
	slices.SortFunc(s.hits, func(p, q hit) int {
		if c := cmp.Compare(sc.class(p.place), sc.class(q.place)); c != 0 {
			return c
		}
		if c := cmp.Compare(t.drawnExtent(q.place, w.zoom), t.drawnExtent(p.place, w.zoom)); c != 0 {
			return c
		}
		if c := cmp.Compare(p.chlorophyll, q.chlorophyll); c != 0 {
			return c
		}
		if c := compare(p.place, q.place); c != 0 {
			return c
		}
		return cmp.Compare(p.x, q.x)
	})
	for _, h := range s.hits {
		k := hollow
		if h.chlorophyll.Valid() {
			k = sc.inkOf(sc.colours.Index(h.chlorophyll.Float()))
		}
		if t.outlined(h.place, w.zoom) {
			if b.mask.reset(w, h.shore.rectangle(h, w)) {
				h.shore.draw(&b.mask, h, w, &b.ring)
				b.mask.paint(dst, w, k, &sc.dark)
			}
			continue
		}
		t.disc(dst, h, w, k, sc, b)
	}
}

// disc draws the disc of h: a marker, drawn before, if it is the smallest.
func (t *waters) disc(dst []uint8, h hit, w window, k ink, sc *scale, b *brush) {
	radius := t.radius(h.place, w.zoom)
	if radius == smallestRadius(w.zoom) {
		s, left, top := t.smallest[smallestStep(w.zoom)].locate(h, w)
		stamp(dst, w, left, top, s.side(), s.disc, k, &sc.dark)
		return
	}
	x, y := int64(h.x), int64(h.y)
	if b.mask.reset(w, rectangleOf(x-radius, y-radius, x+radius, y+radius, w)) {
		step := w.step()
		b.mask.disc(x-int64(b.mask.left)*step, y-int64(b.mask.top)*step, radius, samplingOf(w))
		b.mask.paint(dst, w, k, &sc.dark)
	}
}
