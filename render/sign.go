package render

import (
	"cmp"
	"math"
	"slices"

	"github.com/fogleman/gg"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render/symbol"
)

// signs are the signs of marked lakes, by zoom, the last for all larger ones. They are drawn above all markers and waters, and are
// larger than the markers of their zoom. Their meaning does not depend on colours: all their lines are dark or white, so that they
// are visible on any map. Package symbol has their shapes.
type signs []markers

// toneCode is the code of a dark pixel of a sign; the next four have 1 to 4 quarters of white. Codes up to quarters cover that many
// quarters with the outermost line, and the codes between are those of a filling and its line, as in ink.put.
const toneCode = 2*quarters + 1

func newSigns() signs { return drawMarkers(markerRadii[:], symbol.RimPx, newSign) }

func (s signs) at(z maptile.Zoom) *markers { return &s[min(int(z), len(s)-1)] }

// newSign draws the signs of a zoom whose markers have that radius.
func newSign(radius float64, scale int, dx, dy float64) sprite {
	s := sprite{half: int(math.Ceil((radius+symbol.RimPx)*float64(scale))) + 1}
	x, y := float64(s.half)+dx, float64(s.half)+dy
	codes := func(shapes []symbol.Shape) []uint8 {
		return signCodes(shapes, func(shape symbol.Shape) []uint8 {
			return covered(s.side(), func(c *gg.Context) { shape.AddTo(c, x, y, float64(scale)); c.Fill() })
		})
	}
	s.worse = codes(symbol.Worse.Shapes(radius, false))
	s.worseDark = codes(symbol.Worse.Shapes(radius, true))
	s.closed = codes(symbol.Closed.Shapes(radius, false))
	return s
}

// signCodes returns the codes of a sign of these shapes, each of which covers that many quarters of the pixels. The first shape is the
// outermost line.
func signCodes(shapes []symbol.Shape, quartersOf func(symbol.Shape) []uint8) []uint8 {
	codes := quartersOf(shapes[0])
	var below uint8 // quarters of white in the outermost line
	if shapes[0].Paint == symbol.White {
		below = quarters
	}
	for _, shape := range shapes[1:] {
		for i, q := range quartersOf(shape) {
			if q == 0 {
				continue
			}
			white := below
			if codes[i] >= toneCode {
				white = codes[i] - toneCode
			}
			switch shape.Paint {
			case symbol.Value:
				codes[i] = quarters + q
			case symbol.White:
				codes[i] = toneCode + max(white, q)
			case symbol.Dark:
				codes[i] = toneCode + min(white, quarters-q)
			}
		}
	}
	return codes
}

// tones are the palette entries of dark with 0 to 4 quarters of white.
var tones = [quarters + 1]uint8{outlineEntry + quarters - 1, toneEntry, toneEntry + 1, toneEntry + 2, casingEntry + quarters - 1}

// appendTo appends the signs of the lakes of q that are in reach, in the order of drawing: closed lakes above others, and those of a
// higher value above those of a lower one. The remaining keys make the order complete, as that of markers.
func (s signs) appendTo(marks []mark, q *query) []mark {
	if s == nil {
		return marks
	}
	w, found := q.window, len(q.hits)
	q.searchSigns(s, q.layer.forSigns(w.zoom))
	for _, h := range q.hits[found:] {
		marks = append(marks, mark{
			x: h.x &^ (markerUnits - 1), y: h.y &^ (markerUnits - 1), value: uint32(h.Chlorophyll), sign: q.layer.mark(int(h.site)),
		})
	}
	slices.SortFunc(marks, func(a, b mark) int {
		if c := cmp.Or(cmp.Compare(a.sign, b.sign), cmp.Compare(a.chlorophyll(), b.chlorophyll())); c != 0 {
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
		sign, left, top := st.signs.at(w.zoom).locate(int64(m.x), int64(m.y), w)
		if m.sign == data.Closed {
			stampSign(dst, w, left, top, sign.side(), sign.closed, ink{}, casingEntry, &sc.dark)
			continue
		}
		k, codes := hollow, sign.worse
		if value := m.chlorophyll(); value.Valid() {
			k = sc.inkOf(sc.colours.Index(value.Float()))
		}
		if k.line == casingEntry {
			codes = sign.worseDark
		}
		stampSign(dst, w, left, top, sign.side(), codes, k, outlineEntry, &sc.dark)
	}
}

// stampSign puts a square of codes on dst. The outermost line has the entries from line on.
func stampSign(dst []uint8, w window, left, top, side int, codes []uint8, k ink, line uint8, dark *[colormap.Steps]bool) {
	from, to := max(left, 0), min(left+side, w.width)
	if from >= to {
		return
	}
	for r := max(top, 0); r < min(top+side, w.height); r++ {
		row := dst[r*w.width+from : r*w.width+to]
		for i, code := range codes[(r-top)*side+from-left:][:len(row)] {
			switch {
			case code >= toneCode:
				row[i] = tones[code-toneCode]
			case code > quarters:
				row[i] = k.fill + code - quarters - 1
			case code > 0:
				row[i] = overlay(row[i], line, int(code), dark)
			}
		}
	}
}
