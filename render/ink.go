package render

import (
	"image/color"

	"limnomap/colormap"
	"limnomap/render/palettepng"
	"limnomap/render/symbol"
)

// quarters is the number of steps in which the edge of a mark can cover a pixel.
const quarters = 4

// Palette entries of marks, of which entry 0 is transparent. An outline and a rim, which are the outermost dark and white line of a
// symbol, cover 1 to 4 quarters of a pixel. The line within them mixes with white, and with the colour or the filling of
// waters without a value, 1 to 4 quarters of them colour. A whole pixel of an old value has an entry of its own.
const (
	outlineEntry = 1
	rimEntry     = outlineEntry + quarters
	toneEntry    = rimEntry + quarters // dark with 1 to 3 quarters of white
	fillEntry    = toneEntry + quarters - 1
	oldEntry     = fillEntry + quarters*colormap.Steps
	freeEntry    = oldEntry + colormap.Steps // from here on marks with a value use none
	hollowEntry  = 256 - 2*quarters          // the last ones of the palette
	greyEntry    = hollowEntry + quarters    // grey with 0 to 3 quarters of white
)

var (
	darkColor  = symbol.DarkColor()
	whiteColor = symbol.WhiteColor()
)

// markPalette returns the entries for the colours of m.
func markPalette(m *colormap.Map) *palettepng.Palette {
	var p palettepng.Palette
	for q := 1; q <= quarters; q++ {
		p[outlineEntry+q-1] = faded(darkColor, q)
		p[rimEntry+q-1] = faded(whiteColor, q)
		for i, c := range m.Table() {
			p[fillEntry+i*quarters+q-1] = mixed(c, darkColor, q, quarters)
		}
		hollow := colormap.NoData()
		hollow.A = uint8((symbol.HollowAlpha*q + 0xff*(quarters-q)) / quarters)
		p[hollowEntry+q-1] = hollow
	}
	for q := range quarters {
		if q > 0 {
			p[toneEntry+q-1] = mixed(whiteColor, darkColor, q, quarters)
		}
		p[greyEntry+q] = mixed(whiteColor, colormap.NoData(), q, quarters)
	}
	for i, c := range m.Table() {
		c.A = symbol.OldAlpha
		p[oldEntry+i] = c
	}
	return &p
}

func faded(c color.NRGBA, q int) color.NRGBA {
	c.A = uint8(255 * q / quarters)
	return c
}

// An ink is the palette entries of a mark.
type ink struct {
	fill    uint8               // the first one of the mixtures of the filling and the line
	whole   uint8               // of a pixel that is all filling
	line    [quarters + 1]uint8 // of the line with 0 to 4 quarters of white
	hatched bool                // whether the filling is hatched with the line where there is room
}

// The lines of marks with a value and without one.
var (
	darkLine = [...]uint8{outlineEntry + quarters - 1, toneEntry, toneEntry + 1, toneEntry + 2, rimEntry + quarters - 1}
	greyLine = [...]uint8{greyEntry, greyEntry + 1, greyEntry + 2, greyEntry + 3, rimEntry + quarters - 1}
)

// hollow is the ink of a lake without a value.
var hollow = ink{fill: hollowEntry, whole: hollowEntry + quarters - 1, line: greyLine, hatched: true}

// inkOf returns the ink of the value of m.
func (s *scale) inkOf(m *mark) ink {
	if !m.chlorophyll().Valid() {
		return hollow
	}
	colour := uint8(s.colours.Index(m.chlorophyll().Float()))
	k := ink{fill: fillEntry + colour*quarters, line: darkLine}
	k.whole = k.fill + quarters - 1
	if m.old {
		k.whole = oldEntry + colour
	}
	return k
}

// lineCode is the code of a pixel of a line; the next four codes have 1 to 4 quarters of white.
const lineCode = 2*quarters + 1

// put draws one pixel of a mark over entry *e. Code 0 changes nothing. Codes 1 to 4 cover that many quarters with the outermost line,
// whose first entry is outer. Codes 5 to 8 set 1 to 4 quarters to the filling and the rest to the line within it; for those from
// lineCode on there is no filling.
func (k *ink) put(e *uint8, code, outer uint8) {
	switch {
	case code >= lineCode:
		*e = k.line[code-lineCode]
	case code == 2*quarters:
		*e = k.whole
	case code > quarters:
		*e = k.fill + code - quarters - 1
	case code > 0:
		*e = overlay(*e, outer, int(code))
	}
}

// overlay returns the entry for a pixel of entry e after q quarters are covered by the line whose first entry is line.
func overlay(e, line uint8, q int) uint8 {
	if e == 0 {
		return line + uint8(q-1)
	}
	covered := quarters // of the pixel, by e
	if e < toneEntry {
		covered = int(e-outlineEntry)%quarters + 1
	}
	switch {
	case e >= line && e < line+quarters:
		uncovered := ((quarters-covered)*(quarters-q) + quarters/2) / quarters
		return line + uint8(quarters-uncovered-1)
	case 2*q >= quarters:
		// There are no other mixtures. The upper line replaces the lower entry where it covers at least half, and takes over
		// its cover, so that there is no gap between them.
		return line + uint8(max(q, covered)-1)
	}
	return e
}
