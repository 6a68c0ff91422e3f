package render

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/render/symbol"
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

// appendMarks appends values, not only their colours: they also decide which of two markers is on top. A marked lake has its
// sign instead of a marker, whose corners would be larger than the sign.
func (d *dots) appendMarks(marks []mark, l *Layer, hits []hit, _ window) []mark {
	for _, h := range hits {
		if l.mark(int(h.site)) != data.NoMark {
			continue
		}
		marks = append(marks, mark{
			x: h.x &^ (markerUnits - 1), y: h.y &^ (markerUnits - 1), value: uint32(h.Chlorophyll), old: h.old,
		})
	}
	return marks
}

// paint draws the rings first and then the markers in ascending order of value, so that a bloom is never hidden. Of equal
// values, old ones are below the others; the rest is drawn in Morton order.
func (d *dots) paint(dst []uint8, s *scene, w window, sc *scale, _ *memory) {
	clear(dst)
	slices.SortFunc(s.marks, func(a, b mark) int {
		if c := a.compareValues(&b); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(w.mortonOf(&a), w.mortonOf(&b)), cmp.Compare(a.x, b.x))
	})
	ms := d.at(w.zoom)
	for i := range s.marks {
		mark := &s.marks[i]
		m, column, row := ms.locate(int64(mark.x), int64(mark.y), w)
		m.byClass[sc.symbolClass(mark)].put(dst, w, column, row, sc.inkOf(mark), rimEntry)
	}
}

// symbolClass returns the class whose shape the marker of m has: that of its colour.
func (s *scale) symbolClass(m *mark) symbol.Class {
	if !m.chlorophyll().Valid() {
		return symbol.None
	}
	return symbol.Low + symbol.Class(s.class(m.chlorophyll()))
}
