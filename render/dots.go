package render

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// dots paints a marker for each lake.
type dots struct {
	markers []markers // by zoom, the last for all larger ones
}

func newDots() *dots { return &dots{newMarkers(markerRadii[:])} }

func (d *dots) at(z maptile.Zoom) *markers { return &d.markers[min(int(z), len(d.markers)-1)] }

func (d *dots) reach(_ *site, w window) int64 { return d.at(w.zoom).reach }

func (d *dots) reachBelow(_ *site, z maptile.Zoom) int64 { return d.at(z).reach }

func (d *dots) widest(_ *geometry, z maptile.Zoom) int64 { return d.at(z).reach }

// appendMarks appends values, not only their colours: they also decide which of two markers is on top.
func (d *dots) appendMarks(marks []mark, _ *Layer, hits []hit, _ window) []mark {
	for _, h := range hits {
		marks = append(marks, mark{x: h.x &^ (markerUnits - 1), y: h.y &^ (markerUnits - 1), value: uint32(h.Chlorophyll)})
	}
	return marks
}

// paint draws the rings first and then the markers in ascending order of value, so that a bloom is never hidden. Markers of
// one value are drawn in Morton order.
func (d *dots) paint(dst []uint8, s *scene, w window, sc *scale, _ *memory) {
	clear(dst)
	slices.SortFunc(s.marks, func(a, b mark) int {
		if c := cmp.Compare(a.chlorophyll(), b.chlorophyll()); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(w.mortonOf(&a), w.mortonOf(&b)), cmp.Compare(a.x, b.x))
	})
	ms := d.at(w.zoom)
	for i := range s.marks {
		value := s.marks[i].chlorophyll()
		m, left, top := ms.locate(int64(s.marks[i].x), int64(s.marks[i].y), w)
		if !value.Valid() {
			stamp(dst, w, left, top, m.side(), m.ring, hollow, &sc.dark)
			continue
		}
		colour, shape := sc.colours.Index(value.Float()), m.disc
		if colour >= sc.highest {
			shape = m.large // in every colour map
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
