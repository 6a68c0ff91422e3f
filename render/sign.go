package render

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/data/snapshot"
	"limnomap/render/symbol"
)

// signs are the signs of marked lakes, by zoom, the last for all larger ones. They are drawn above all markers and waters, and are
// larger than the markers of their zoom. Their meaning does not depend on colours: all their lines are dark or white, so that they
// are visible on any map. Package symbol has their shapes.
type signs []markers

func newSigns() signs { return drawMarkers(markerRadii[:], signReach, newSign) }

func signReach(radius float64) float64 { return radius + symbol.RimPx }

func (s signs) at(z maptile.Zoom) *markers { return &s[min(int(z), len(s)-1)] }

// newSign draws the signs of a zoom whose markers have that radius.
func newSign(c canvases, radius float64, scale int, dx, dy float64) (s sprite) {
	for _, class := range []symbol.Class{symbol.Medium, symbol.High} {
		s.byClass[class] = newStamp(c, symbol.Worse.Shapes(class, radius), scale, dx, dy)
	}
	s.closed = newStamp(c, symbol.Closed.Shapes(symbol.None, radius), scale, dx, dy)
	return s
}

// appendTo appends the signs of the lakes of q that are in reach, in the order of drawing: closed lakes above others, and those of a
// higher value above those of a lower one. The remaining keys make the order complete, as that of markers.
func (s signs) appendTo(marks []mark, q *query) []mark {
	if s == nil {
		return marks
	}
	w, found := q.window, len(q.hits)
	if q.filter != 0 && w.zoom < q.layer.roomy {
		q.searchSigns(s, q.thinnedSites(q.layer.markedSites(), s.at(w.zoom).reach, true))
	} else {
		q.searchSigns(s, q.layer.forSigns(w.zoom))
	}
	for _, h := range q.hits[found:] {
		marks = append(marks, mark{
			x: h.x &^ (markerUnits - 1), y: h.y &^ (markerUnits - 1), value: uint32(h.Chlorophyll), old: h.old, sign: q.layer.mark(int(h.site)),
		})
	}
	slices.SortFunc(marks, func(a, b mark) int {
		if c := cmp.Or(cmp.Compare(a.sign, b.sign), a.compareValues(&b)); c != 0 {
			return c
		}
		return cmp.Or(cmp.Compare(w.mortonOf(&a), w.mortonOf(&b)), cmp.Compare(a.x, b.x))
	})
	return marks
}

// searchSigns adds the hits of signs at these sites; nil for all.
func (q *query) searchSigns(s signs, sites []int32) {
	if sites != nil && len(sites) == 0 {
		return
	}
	q.signs = s.at(q.window.zoom)
	q.around(group{sites: sites}, q.signs.reach)
}

// paint draws the scene and then its signs.
func (st *style) paint(dst []uint8, s *scene, w window, sc *scale, mem *memory) {
	st.painter.paint(dst, s, w, sc, mem)
	for i := range s.signs {
		m := &s.signs[i]
		sign, column, row := st.signs.at(w.zoom).locate(int64(m.x), int64(m.y), w)
		k := sc.inkOf(m)
		switch m.sign {
		case snapshot.Closed:
			sign.closed.put(dst, w, column, row, &closedInk)
		case snapshot.WorseHigh:
			sign.byClass[symbol.High].put(dst, w, column, row, k)
		default:
			sign.byClass[symbol.Medium].put(dst, w, column, row, k)
		}
	}
}
