package render

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/render/palettepng"
)

// dots paints a marker for each lake.
type dots struct {
	markers []markers // by zoom, the last for all larger ones
}

func newDots() *dots { return &dots{newMarkers(markerRadii[:])} }

func (d *dots) at(z maptile.Zoom) *markers { return &d.markers[min(int(z), len(d.markers)-1)] }

func (d *dots) index(l *Layer, w window) *index { return l.forMarkers(w.zoom) }

func (d *dots) tiers(*index) []tier { return undivided }

func (d *dots) reach(_ *place, w window) int64 { return d.at(w.zoom).reach }

func (d *dots) beneath(_ *place, z maptile.Zoom) int64 { return d.at(z).reach }

func (d *dots) widest(_ *index, w window) int64 { return d.at(w.zoom).reach }

// trace has the value of a lake even where its colour is the same as another's, since it also decides which of two
// markers lies above.
func (d *dots) trace(h hit, _ window) trace {
	return trace{x: h.x &^ (markerUnits - 1), y: h.y &^ (markerUnits - 1), value: uint32(h.chlorophyll)}
}

func (d *dots) palette(m *colormap.Map) *palettepng.Palette { return markPalette(m) }

// paint draws the markers from the least to the most important: rings, then by value, so that a bloom is never hidden.
// Among equals the place decides, in Morton order, which stays the same when places are rounded to the marker's grid:
// so the picture depends on nothing that the fingerprint does not hold.
func (d *dots) paint(dst []uint8, s *scene, w window, sc *scale, _ *brush) {
	clear(dst)
	slices.SortFunc(s.hits, func(a, b hit) int {
		return cmp.Or(
			cmp.Compare(a.chlorophyll, b.chlorophyll),
			cmp.Compare(morton(a.place.x, a.place.y), morton(b.place.x, b.place.y)),
			cmp.Compare(a.x, b.x),
		)
	})
	ms := d.at(w.zoom)
	for _, h := range s.hits {
		m, left, top := ms.locate(h, w)
		if !h.chlorophyll.Valid() {
			stamp(dst, w, left, top, m.side(), m.ring, hollow, &sc.dark)
			continue
		}
		colour, shape := sc.colours.Index(h.chlorophyll.Float()), m.disc
		if colour >= sc.highest {
			shape = m.large // in every map, whichever colour stands for it
		}
		stamp(dst, w, left, top, m.side(), shape, sc.inkOf(colour), &sc.dark)
	}
}

// stamp puts a square of codes (see ink.put) on dst.
func stamp(dst []uint8, w window, left, top, side int, codes []uint8, k ink, dark *[colormap.Steps]bool) {
	from, to := max(left, 0), min(left+side, w.width)
	if from >= to {
		return
	}
	for r := max(top, 0); r < min(top+side, w.height); r++ {
		row := dst[r*w.width+from : r*w.width+to]
		for i, code := range codes[(r-top)*side+from-left:][:len(row)] {
			if code != 0 {
				k.put(&row[i], code, dark)
			}
		}
	}
}
