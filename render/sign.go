package render

import (
	"cmp"
	"math"
	"slices"

	"github.com/fogleman/gg"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
)

// signs are the signs of marked lakes, by zoom, the last for all larger ones. They are drawn above all markers and waters, and are
// larger than the markers of their zoom. What they mean does not depend on colours: all their lines are dark or white, so that they
// are visible on any map.
//
// [data.Worse] is a disc in the colour of the value, within a dark, a white and another dark ring; dark colours are next to the white
// ring. [data.Closed] is a dark disc with a white bar, like the traffic sign for "no entry", within a white ring; it is the same for all
// values and without one.
type signs []markers

// The radii of a sign, in pixels beyond that of the coloured disc of a marker.
const (
	gapPx    = 1.7 // the inner dark ring
	ringPx   = 3.3 // the white ring
	closedPx = 3.4 // the dark disc of a closed lake
	signPx   = 4.4 // the whole sign
)

// The bar of the sign of a closed lake, as parts of the radius of the dark disc.
const (
	barLength = 0.64
	barWidth  = 0.22
)

// toneCode is the code of a dark pixel of a sign; the next four have 1 to 4 quarters of white. Codes up to quarters cover that many
// quarters with the outermost line, and the codes between are those of a filling and its line, as in ink.put.
const toneCode = 2*quarters + 1

func newSigns() signs { return drawMarkers(markerRadii[:], signPx, newSign) }

func (s signs) at(z maptile.Zoom) *markers { return &s[min(int(z), len(s)-1)] }

// newSign draws the signs of a zoom whose markers have that radius.
func newSign(radius float64, scale int, dx, dy float64) sprite {
	pixels := func(px float64) float64 { return px * float64(scale) }
	s := sprite{half: int(math.Ceil(pixels(radius+signPx))) + 1}
	side, x, y := s.side(), float64(s.half)+dx, float64(s.half)+dy
	circle := func(beyond float64) []uint8 {
		return covered(side, func(c *gg.Context) { c.DrawCircle(x, y, pixels(radius+beyond)); c.Fill() })
	}
	whole := circle(signPx)

	gap, ring := circle(gapPx), circle(ringPx)
	worse := func(disc []uint8, white func(i int) uint8) []uint8 {
		codes := slices.Clone(whole)
		for i, q := range disc {
			if q > 0 {
				codes[i] = quarters + q
			} else if ring[i] > 0 {
				codes[i] = toneCode + white(i)
			}
		}
		return codes
	}
	s.worse = worse(circle(0), func(i int) uint8 { return min(ring[i], quarters-gap[i]) })
	s.worseDark = worse(circle(outlinePx), func(i int) uint8 { return ring[i] })

	disc := circle(closedPx)
	bar := covered(side, func(c *gg.Context) {
		length, width := pixels((radius+closedPx)*barLength), pixels((radius+closedPx)*barWidth)
		c.DrawRectangle(x-length, y-width, 2*length, 2*width)
		c.Fill()
	})
	s.closed = slices.Clone(whole)
	for i, q := range disc {
		if q > 0 {
			s.closed[i] = toneCode + max(quarters-q, bar[i])
		}
	}
	return s
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
