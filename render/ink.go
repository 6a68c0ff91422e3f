package render

import (
	"image/color"

	"limnomap/colormap"
	"limnomap/render/palettepng"
	"limnomap/render/symbol"
)

// quarters is the number of steps in which the edge of a mark can cover a pixel.
const quarters = 4

// Palette entries of the styles Dots and Lakes. Entry 0 is transparent. Then come the three kinds of line that cover 1 to 4
// quarters of a pixel; for each colour its mixtures with its line, 1 to 4 quarters of them colour; the same for the
// filling of waters without a value; and the mixtures of an outline and a casing, 1 to 3 quarters of them casing, for signs.
const (
	outlineEntry = 1
	casingEntry  = outlineEntry + quarters
	ringEntry    = casingEntry + quarters
	fillEntry    = ringEntry + quarters
	hollowEntry  = fillEntry + quarters*colormap.Steps
	toneEntry    = hollowEntry + quarters
	freeEntry    = toneEntry + quarters - 1 // the first one that marks do not use
)

// outlineColor is that of lines around light marks, casingColor that of lines around dark ones.
var (
	outlineColor = symbol.DarkColor()
	casingColor  = symbol.WhiteColor()
)

// hollowAlpha is the opacity of a water without a value.
const hollowAlpha = 0x59

// markPalette returns the entries for the colours of m.
func markPalette(m *colormap.Map) *palettepng.Palette {
	var p palettepng.Palette
	for q := 1; q <= quarters; q++ {
		p[outlineEntry+q-1] = faded(outlineColor, q)
		p[casingEntry+q-1] = faded(casingColor, q)
		p[ringEntry+q-1] = faded(colormap.NoData(), q)
		for i, c := range m.Table() {
			line := outlineColor
			if symbol.HasCasing(c) {
				line = casingColor
			}
			p[fillEntry+i*quarters+q-1] = mixed(c, line, q, quarters)
		}
		hollow := colormap.NoData()
		hollow.A = uint8((hollowAlpha*q + 0xff*(quarters-q)) / quarters)
		p[hollowEntry+q-1] = hollow
	}
	for q := 1; q < quarters; q++ {
		p[toneEntry+q-1] = mixed(casingColor, outlineColor, q, quarters)
	}
	return &p
}

func faded(c color.NRGBA, q int) color.NRGBA {
	c.A = uint8(255 * q / quarters)
	return c
}

// An ink is the first palette entries of the line and of the filling of a mark, and whether the filling is hatched with the
// line where there is room.
type ink struct {
	line, fill uint8
	hatched    bool
}

// inkOf returns the ink of marks with that colour.
func (s *scale) inkOf(colour int) ink {
	fill := uint8(fillEntry + colour*quarters)
	return ink{line: lineOf(fill, &s.dark), fill: fill}
}

// hollow is the ink of a water without a value.
var hollow = ink{line: ringEntry, fill: hollowEntry, hatched: true}

// lineOf returns the first entry of the line around the filling of entry e.
func lineOf(e uint8, dark *[colormap.Steps]bool) uint8 {
	switch {
	case e >= hollowEntry:
		return ringEntry
	case dark[(e-fillEntry)/quarters]:
		return casingEntry
	}
	return outlineEntry
}

// put draws one pixel of a mark over entry *e. Code 0 changes nothing. Codes 1 to 4 cover that many quarters with the line.
// Codes 5 to 8 set 1 to 4 quarters to the filling and the rest to the line.
func (k ink) put(e *uint8, code uint8, dark *[colormap.Steps]bool) {
	switch {
	case code > quarters:
		*e = k.fill + code - quarters - 1
	case code > 0:
		*e = overlay(*e, k.line, int(code), dark)
	}
}

// overlay returns the entry for a pixel of entry e after q quarters are covered by the line whose first entry is line.
func overlay(e, line uint8, q int, dark *[colormap.Steps]bool) uint8 {
	// left returns how many of n quarters remain uncovered.
	left := func(n int) int { return (n*(quarters-q) + quarters/2) / quarters }
	if e >= fillEntry && line == lineOf(e, dark) {
		// The colour mixes with its own line; if nothing of it remains, the pixel is all line.
		colour, share := (e-fillEntry)/quarters*quarters, left(int(e-fillEntry)%quarters+1)
		if share > 0 {
			return fillEntry + colour + uint8(share-1)
		}
		return line + quarters - 1
	}
	if e == 0 {
		return line + uint8(q-1)
	}
	covered := quarters // of the pixel, by e
	if e < fillEntry {
		covered = int(e-outlineEntry)%quarters + 1
	}
	switch {
	case e >= line && e < line+quarters:
		return line + uint8(quarters-left(quarters-covered)-1)
	case 2*q >= quarters:
		// There are no other mixtures. The upper line replaces the lower entry where it covers at least half, and takes over
		// its cover, so that there is no gap between them.
		return line + uint8(max(q, covered)-1)
	}
	return e
}
