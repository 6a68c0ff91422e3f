package render

import (
	"cmp"

	"github.com/paulmach/orb/maptile"

	"limnomap/data/snapshot"
	"limnomap/render/symbol"
)

// dots paints a marker for each lake, or a symbol for each cluster of lakes.
type dots struct {
	markers  []markers // by zoom, the last for all larger ones
	clusters *clusterPainter
}

func newDots() *dots { return &dots{newMarkers(markerRadii[:]), newClusterPainter()} }

func (d *dots) at(z maptile.Zoom) *markers { return &d.markers[min(int(z), len(d.markers)-1)] }

func (d *dots) reach(_ *site, w window) int64 { return d.at(w.zoom).reach }

func (d *dots) reachBelow(_ *site, z maptile.Zoom) int64 { return d.at(z).reach }

func (d *dots) widest(_ *geometry, z maptile.Zoom) int64 { return d.at(z).reach }

// appendMarks appends values, not only their colours: they also decide which of two markers is on top. A marked lake has its
// sign instead of a marker, whose corners would be larger than the sign.
func (d *dots) appendMarks(marks []mark, l *Layer, hits []hit, _ window) []mark {
	for _, h := range hits {
		if l.mark(int(h.site)) != snapshot.NoMark {
			continue
		}
		marks = append(marks, mark{
			x: h.x &^ (markerUnits - 1), y: h.y &^ (markerUnits - 1), value: uint32(h.Chlorophyll), old: h.old,
		})
	}
	return marks
}

// rank puts the rings below the markers, and these in ascending order of value, so that a bloom is never hidden. Of equal values, old ones
// are below the others; the rest is drawn in Morton order.
func (d *dots) rank(m *mark, _ window, _ classLimits) uint64 { return rankOfValue(m) }

func (d *dots) tie(a, b *mark, w window) int {
	return cmp.Or(cmp.Compare(w.mortonOf(a), w.mortonOf(b)), cmp.Compare(a.x, b.x))
}

func (d *dots) stampOf(m *mark, w window, classes classLimits) (*stamp, int, int) {
	s, column, row := d.at(w.zoom).locate(int64(m.x), int64(m.y), w)
	return &s.byClass[symbolClass(m, classes)], column, row
}

func (d *dots) paint(dst []uint8, s *scene, w window, sc *scale, mem *memory) {
	clear(dst)
	d.clusters.paint(dst, s.clusters, w, sc)
	mem.stack.paint(dst, d, s.marks, w, sc, mem)
}

func (d *dots) paintMark(dst []uint8, m *mark, w window, sc *scale, _ *memory) {
	s, column, row := d.stampOf(m, w, sc.classes)
	s.put(dst, w, column, row, sc.inkOf(m))
}

// symbolClass returns the class whose shape the marker of m has: that of its colour.
func symbolClass(m *mark, classes classLimits) symbol.Class {
	if !m.chlorophyll().Valid() {
		return symbol.None
	}
	return symbol.Low + symbol.Class(classes.of(m.chlorophyll()))
}
