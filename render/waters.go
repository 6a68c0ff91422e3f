package render

import (
	"cmp"
	"math"

	"github.com/paulmach/orb/maptile"

	"limnomap/render/symbol"
)

// smallestRadii are the smallest radii of discs in pixels, by zoom: large enough to see and to hit with a pointer. They are
// those of the markers of the style Dots at the zooms of a country.
var smallestRadii = [...]float64{1.5, 1.5, 1.5, 2, 2, 2.5, 2.5, 3}

// wholeZoom is the zoom from which on all discs of the style Lakes have at least the smallest radius.
const wholeZoom = 9

// waterMargin is the largest distance in units of a water from the centre of a pixel that it changes: the line around it,
// half a pixel, and one unit for the rounding of its position.
const waterMargin = subUnits + subUnits/2 + 1

// Where lakes are dense, smallest discs would lie on each other, and the white rims of the upper ones would cut the others into crescents. So below
// wholeZoom they are smaller there, by the room that their neighbours leave in the field, and have no rim. crowdedRadii are their radii in pixels by the
// size of the disc in the field, from the package's smallest on: with their lines they touch those of the nearest lakes.
var crowdedRadii = func() (radii [7]float64) {
	for i := range radii {
		radii[i] = symbol.CrowdedRadius(halfwayAt(smallest + size(i)))
	}
	return radii
}()

// crowdedDiscs are the radii of smallest discs in units, by the index into smallestRadii and by the size of the disc in the field from the package's smallest on.
var crowdedDiscs = func() (discs [len(smallestRadii)][lone - smallest + 1]int64) {
	const overlap = 0.2 // of rims, in pixels
	for step, radius := range smallestRadii {
		full, crowded := symbol.Low.Shapes(radius)[0].Radius, int64(0)
		for i := range discs[step] {
			if i < len(crowdedRadii) && crowdedRadii[i] < radius {
				crowded = int64(crowdedRadii[i] * subUnits)
			}
			if discs[step][i] = crowded; halfwayAt(smallest+size(i)) >= full-overlap {
				discs[step][i] = smallestRadius(maptile.Zoom(step))
			}
		}
	}
	return discs
}()

// halfwayAt returns half of the distance in pixels to the nearest lake where there is room for a disc of size s, below wholeZoom.
func halfwayAt(s size) float64 { return s.discRadius(0) / roomPart / 2 }

// waters paints the water of each lake: the inside of its outline where that is known and large enough, else a disc of its
// area. A lake whose site is outside of its outline has a disc of the smallest size there, too, so that its own pixel has its colour.
type waters struct {
	smallest []markers // by zoom, the last for all larger ones
	crowded  []markers // by size from the package's smallest on, without a rim
	// above tells that they are above the field. Their discs are at least as large as those of the field, so that a small lake does not become smaller when a
	// reader zooms in, and at fadeZoom an outline hides the disc of its site.
	above bool
	// pixels tells that the pixels of lakes are drawn.
	pixels bool
}

func newWaters() *waters {
	return &waters{smallest: newMarkers(smallestRadii[:]), crowded: drawMarkers(crowdedRadii[:], symbol.Reach, newCrowded)}
}

// newCrowded draws the discs without a rim of a radius.
func newCrowded(c canvases, radius float64, scale int, dx, dy float64) (s sprite) {
	for _, class := range symbol.Classes() {
		s.byClass[class] = newStamp(c, class.CrowdedShapes(radius), scale, dx, dy)
	}
	return s
}

// aboveField returns waters like t that are above the field.
func (t *waters) aboveField() *waters { return &waters{t.smallest, t.crowded, true, t.pixels} }

// withPixels returns waters like t that draw the pixels of lakes.
func (t *waters) withPixels() *waters { return &waters{t.smallest, t.crowded, t.above, true} }

// waterRadius returns the radius in metres of a round water of that area.
func waterRadius(areaKM2 float64) float64 {
	// The area of a typical bathing lake, for lakes whose area is not known.
	const typical = 0.2
	if !(areaKM2 > 0) {
		areaKM2 = typical
	}
	return 1000 * math.Sqrt(areaKM2/math.Pi)
}

// discRadius returns the radius in world units of a round water of that area at world coordinate y.
func discRadius(areaKM2 float64, y uint32) uint32 {
	const zoom0 = worldUnits / TileSize // world units per pixel there
	return uint32(min(math.Round(waterRadius(areaKM2)*pixelsPerMetre(y)*zoom0), maxExtent))
}

// extent returns how far the water reaches from its site in world units, as a disc and as an outline.
func (s *site) extent() int64 {
	if s.shore != nil {
		return max(int64(s.radius), s.shore.extent())
	}
	return int64(s.radius)
}

// smallestStep returns the index into smallestRadii for a zoom.
func smallestStep(z maptile.Zoom) int { return min(int(z), len(smallestRadii)-1) }

// smallestRadius returns the radius of the smallest disc in units.
func smallestRadius(z maptile.Zoom) int64 {
	return int64(smallestRadii[smallestStep(z)] * subUnits)
}

// disc returns the radius in units of a round water of the area of s.
func (s *site) disc(z maptile.Zoom) int64 { return int64(s.radius >> (MaxZoom - z)) }

// radius returns the radius in units of the disc that is drawn for s, if its value is of the highest class or not.
func (t *waters) radius(s *site, z maptile.Zoom, high bool) int64 {
	r, least := s.disc(z), smallestRadius(z)
	switch {
	case t.above:
		return max(r, least, int64(size(s.room(z, high)).discRadius(z)*subUnits))
	case z >= wholeZoom || r >= least:
		return max(r, least)
	}
	if crowded := crowdedDiscs[smallestStep(z)][s.room(z, high)-smallest]; crowded >= r {
		return crowded
	}
	return least // the water is wider
}

// extentOf returns half of the width or the height of a drawn water, whichever is more, in units.
func (t *waters) extentOf(m *mark, z maptile.Zoom) int64 {
	if m.shore != nil {
		return m.shore.side() >> (MaxZoom - z) / 2
	}
	return int64(m.radius)
}

func (t *waters) reach(p *site, w window) int64 {
	switch {
	case !p.glows(w.zoom):
		return t.reachOfDisc(p, w) + t.reachOfPixels(w.zoom)
	case p.shore.beside:
		return max(p.reachOfShore(w, waterMargin), t.smallest[smallestStep(w.zoom)].reach)
	default:
		return p.reachOfShore(w, waterMargin)
	}
}

// reachOfDisc returns how far the disc of a site reaches.
func (t *waters) reachOfDisc(p *site, w window) int64 {
	return max(t.radius(p, w.zoom, true)+waterMargin, t.smallest[smallestStep(w.zoom)].reach)
}

// reachOfPixels returns how far pixels may be from the disc of a site.
func (t *waters) reachOfPixels(z maptile.Zoom) int64 {
	if !t.pixels {
		return 0
	}
	return pixelReach >> (MaxZoom - z)
}

// reachOfShore returns how far an outline with that margin reaches from the site, and 0 for an outline whose bound is outside of w, even if its site is inside.
func (p *site) reachOfShore(w window, margin int64) int64 {
	s, shift := p.shore, uint(MaxZoom-w.zoom)
	left, right := w.left-margin, w.left+w.lastCentre(w.width)+margin
	top, bottom := w.top-margin, w.top+w.lastCentre(w.height)+margin
	x, y := int64(p.x), int64(p.y)
	if (y+s.south)>>shift < top || (y+s.north)>>shift > bottom {
		return 0
	}
	// The world is periodic: the bound begins in the window, or west of it and reaches into it.
	world := int64(1) << (worldBits - shift)
	if begins := ((x+s.west)>>shift - left) & (world - 1); begins > right-left && begins+(s.east-s.west)>>shift+1 < world {
		return 0
	}
	return s.extent()>>shift + 1 + margin
}

// reachBelow includes outlines at all zooms: they are drawn at larger ones.
func (t *waters) reachBelow(s *site, z maptile.Zoom) int64 {
	return max(s.extent()>>(MaxZoom-z)+1+waterMargin, t.smallest[smallestStep(z)].reach) + t.reachOfPixels(z)
}

func (t *waters) widest(_ *geometry, z maptile.Zoom) int64 {
	r := t.smallest[smallestStep(z)].reach
	if t.above {
		r = max(r, int64(size(lone).discRadius(z)*subUnits))
	}
	return r + waterMargin + t.reachOfPixels(z)
}

// appendMarks appends values, not only their colours: they also decide which of two waters is on top.
func (t *waters) appendMarks(marks []mark, l *Layer, hits []hit, w window) []mark {
	for _, h := range hits {
		m, s := mark{x: h.x, y: h.y, value: uint32(h.Chlorophyll), old: h.old}, &l.sites[h.site]
		if s.glows(w.zoom) {
			outline := m
			outline.shore = s.shore
			if t.pixels {
				outline.pixels = l.pixels[int(l.lakes[h.site])]
			}
			marks = append(marks, outline)
			if !s.shore.beside || t.above && w.zoom == fadeZoom && h.Valid() {
				continue
			}
			m.radius = uint32(smallestRadius(w.zoom))
		} else {
			m.radius = uint32(t.radius(s, w.zoom, l.isHigh(h.value)))
			if t.pixels {
				m.pixels = l.pixels[int(l.lakes[h.site])]
				if !t.touches(&m, s, w) {
					continue
				}
			}
		}
		marks = append(marks, m)
	}
	return marks
}

func (t *waters) paint(dst []uint8, s *scene, w window, sc *scale, mem *memory) {
	clear(dst)
	mem.stack.paint(dst, t, s.marks, w, sc, mem)
}

// rank puts the waters in ascending order of class, so that no lake hides a worse one of another class. Within a class large ones are
// below, so that a pond on an island is visible, and then those of lower values. Lakes without a value belong to the first class: a large
// clean lake does not hide them.
func (t *waters) rank(m *mark, w window, classes classLimits) uint64 {
	const largest = 1<<31 - 1
	r := uint64(classes.of(m.chlorophyll()))
	r = r<<31 | uint64(largest-t.extentOf(m, w.zoom))
	return r<<valueBits | rankOfValue(m)
}

// tie makes the order complete: other windows must draw the same.
func (t *waters) tie(a, b *mark, w window) int {
	return cmp.Or(cmp.Compare(w.mortonOf(a), w.mortonOf(b)), cmp.Compare(a.shore.id(), b.shore.id()), cmp.Compare(a.x, b.x))
}

func (t *waters) stampOf(m *mark, w window, classes classLimits) (*stamp, int, int) {
	if m.shore != nil || m.pixels != nil {
		return nil, 0, 0
	}
	class, of := symbol.Low, &t.smallest[smallestStep(w.zoom)]
	switch radius, least := int64(m.radius), smallestRadius(w.zoom); {
	case radius > least:
		return nil, 0, 0
	case radius < least:
		class, of = symbolClass(m, classes), t.crowdedOf(radius)
	}
	s, column, row := of.locate(int64(m.x), int64(m.y), w)
	return &s.byClass[class], column, row
}

// crowdedOf returns the markers of a radius in units.
func (t *waters) crowdedOf(radius int64) *markers {
	i := 0
	for i < len(t.crowded)-1 && int64(crowdedRadii[i]*subUnits) < radius {
		i++
	}
	return &t.crowded[i]
}

func (t *waters) paintMark(dst []uint8, m *mark, w window, sc *scale, mem *memory) {
	k := sc.inkOf(m)
	if sc.faint != nil && !m.hatchable(w.zoom) {
		plain := *k
		plain.hatched, k = nil, &plain
	}
	if m.pixels != nil {
		t.paintPixels(dst, m, w, sc, mem)
	} else if s, column, row := t.stampOf(m, w, sc.classes); s != nil {
		s.put(dst, w, column, row, k)
	} else if m.shore == nil {
		t.disc(dst, m, w, k, &mem.mask)
	} else if mem.mask.draw(m, w, &mem.ring) {
		mem.mask.paint(dst, w, k)
	}
}

// disc draws the disc of m.
func (t *waters) disc(dst []uint8, m *mark, w window, k *ink, water *mask) {
	x, y, radius := int64(m.x), int64(m.y), int64(m.radius)
	if water.reset(w, rectangleOf(x-radius, y-radius, x+radius, y+radius, w)) {
		step := w.step()
		water.disc(x-int64(water.left)*step, y-int64(water.top)*step, radius, samplingOf(w))
		water.paint(dst, w, k)
	}
}
