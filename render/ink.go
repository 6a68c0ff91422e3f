package render

import (
	"image/color"

	"limnomap/colormap"
	"limnomap/render/palettepng"
)

// quarters is how many parts of a pixel's area the edge of a mark is told in.
const quarters = 4

// Entries of the palette of the styles that draw a mark for each lake, besides the transparent one: the three kinds of
// line at 1 to 4 quarters of a pixel, then for each colour its mixtures with the line around it, 1 to 4 quarters colour,
// and last the same of what fills a water without a value.
const (
	outlineEntry = 1
	casingEntry  = outlineEntry + quarters
	ringEntry    = casingEntry + quarters
	fillEntry    = ringEntry + quarters
	hollowEntry  = fillEntry + quarters*colormap.Steps
)

// outlineColor sets a mark off from the map: dark, so that the light end of a colour map, which in some maps means
// a bloom, is seen on a white page. casingColor does it for the dark end, which in others does, on a dark page.
var (
	outlineColor = color.NRGBA{0x26, 0x32, 0x38, 0xff}
	casingColor  = color.NRGBA{0xff, 0xff, 0xff, 0xff}
)

// hollowAlpha is how much a water without a value hides of the map beneath it.
const hollowAlpha = 0x59

// darkest is the relative luminance below which a colour has a casing: there its contrast with a dark grey page
// (#2b2b2b) is less than 2.5 to 1. In the default map it parts the red of the highest class from all else.
const darkest = 0.135

// isDark reports whether a mark of colour c has a casing. Relative luminance after WCAG 2.2.
func isDark(c color.NRGBA) bool {
	return 0.2126*linear(float64(c.R))+0.7152*linear(float64(c.G))+0.0722*linear(float64(c.B)) < darkest
}

// markPalette returns the entries for the colours of m.
func markPalette(m *colormap.Map) *palettepng.Palette {
	var p palettepng.Palette
	for q := 1; q <= quarters; q++ {
		p[outlineEntry+q-1] = faded(outlineColor, q)
		p[casingEntry+q-1] = faded(casingColor, q)
		p[ringEntry+q-1] = faded(colormap.NoData(), q)
		for i, c := range m.Table() {
			line := outlineColor
			if isDark(c) {
				line = casingColor
			}
			p[fillEntry+i*quarters+q-1] = mixed(c, line, q, quarters)
		}
		hollow := colormap.NoData()
		hollow.A = uint8((hollowAlpha*q + 0xff*(quarters-q)) / quarters)
		p[hollowEntry+q-1] = hollow
	}
	return &p
}

func faded(c color.NRGBA, q int) color.NRGBA {
	c.A = uint8(255 * q / quarters)
	return c
}

// An ink is what a mark is drawn with: the first entries of its line and of its filling, and whether that is hatched with
// the line where there is room.
type ink struct {
	line, fill uint8
	hatched    bool
}

// inkOf returns the ink of a colour's mark.
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

// put draws one pixel of a mark, whose entry is *e. Code 0 leaves it alone, 1 to 4 put so many quarters of the line over
// it, 5 to 8 set it to 1 to 4 quarters filling, the rest being the line.
func (k ink) put(e *uint8, code uint8, dark *[colormap.Steps]bool) {
	switch {
	case code > quarters:
		*e = k.fill + code - quarters - 1
	case code > 0:
		*e = overlay(*e, k.line, int(code), dark)
	}
}

// overlay returns the entry for a pixel of entry e of which q quarters are covered by the line whose entries start at
// line.
func overlay(e, line uint8, q int, dark *[colormap.Steps]bool) uint8 {
	// left returns how many of n quarters stay uncovered.
	left := func(n int) int { return (n*(quarters-q) + quarters/2) / quarters }
	if e >= fillEntry && line == lineOf(e, dark) {
		// A colour that shows less of itself is a mixture with its line; nothing of it left is all line.
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
		// Other kinds have no mixture: the upper one shows where it covers half, and takes the lower one's cover too,
		// so that there is no hole between them.
		return line + uint8(max(q, covered)-1)
	}
	return e
}
