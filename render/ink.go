package render

import (
	"image/color"
	"math"

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

// fadeWaters makes waters in p that part of opaque ones, and the rest as they are in the field: as opaque as that, and without lines.
func fadeWaters(p *palettepng.Palette, m *colormap.Map, part float64) {
	between := func(from, to float64) uint8 { return uint8(math.Round(from + (to-from)*part)) }
	for e := outlineEntry; e < fillEntry; e++ {
		p[e].A = between(0, float64(p[e].A))
	}
	for i, c := range m.Table() {
		for q := 1; q <= quarters; q++ {
			line := &p[fillEntry+i*quarters+q-1]
			*line = color.NRGBA{
				between(float64(c.R), float64(line.R)), between(float64(c.G), float64(line.G)), between(float64(c.B), float64(line.B)),
				between(0xff*maxOpacity, 0xff),
			}
		}
	}
	for q := range quarters {
		p[hollowEntry+q].A = between(symbol.HollowAlpha, float64(p[hollowEntry+q].A))
		p[greyEntry+q].A = between(float64(symbol.HollowAlpha*(quarters-q))/quarters, 0xff)
	}
}

func faded(c color.NRGBA, q int) color.NRGBA {
	c.A = uint8(255 * q / quarters)
	return c
}

// The codes of pixels of a mark. Code 0 changes nothing. Codes 1 to 4 cover that many quarters with the outermost line. The others replace
// the pixel: from fillCode on it has 1 to 4 quarters of the filling and the rest of the line within, and from lineCode on
// there is no filling, and 0 to 4 quarters are white.
const (
	fillCode  = quarters + 1
	wholeCode = fillCode + quarters - 1
	lineCode  = wholeCode + 1
	codes     = lineCode + quarters + 1
)

// An ink is the palette entries of a mark by code.
type ink struct {
	entries [codes]uint8
	hatched *hatching // of the filling where there is room; nil for none
	stripe  uint8     // the entry of its lines
	soft    bool      // whether lines change only transparent pixels
}

// newInk returns the ink of a filling whose mixtures with the line begin with entry fill, and that has the entry whole where a pixel is all
// filling.
func newInk(fill, whole uint8, line [quarters + 1]uint8) (k ink) {
	for q := range uint8(quarters) {
		k.entries[fillCode+q] = fill + q
	}
	k.entries[wholeCode] = whole
	copy(k.entries[lineCode:], line[:])
	return k
}

// The lines of marks with a value and without one, with 0 to 4 quarters of white.
var (
	darkLine = [...]uint8{outlineEntry + quarters - 1, toneEntry, toneEntry + 1, toneEntry + 2, rimEntry + quarters - 1}
	greyLine = [...]uint8{greyEntry, greyEntry + 1, greyEntry + 2, greyEntry + 3, rimEntry + quarters - 1}
)

// inks are the inks of a lake without a value, and by colour those of fresh and old values, and those of a lake without a probability and of
// probabilities.
type inks struct {
	hollow, absent ink
	values         [colormap.Steps][2]ink
	chances        [colormap.Steps]ink
}

func newInks(soft bool) *inks {
	var k inks
	k.hollow = newInk(hollowEntry, hollowEntry+quarters-1, greyLine)
	k.hollow.soft = soft
	k.absent = k.hollow
	k.hollow.hatched, k.hollow.stripe = &hollowHatching, k.hollow.entries[lineCode]
	k.absent.hatched, k.absent.stripe = &absentHatching, k.hollow.stripe
	for i := range k.values {
		fill := fillEntry + uint8(i)*quarters
		k.values[i] = [...]ink{newInk(fill, fill+quarters-1, darkLine), newInk(fill, oldEntry+uint8(i), darkLine)}
		k.values[i][0].soft, k.values[i][1].soft = soft, soft
		k.chances[i] = k.values[i][0]
		// The lines have the entries that old values have elsewhere.
		k.chances[i].hatched, k.chances[i].stripe = &chanceHatching, oldEntry+uint8(i)
	}
	return &k
}

// The inks of all colour maps.
var (
	hardInks, softInks = newInks(false), newInks(true)
	closedInk          = newInk(0, 0, darkLine) // of the sign of a closed lake, which has no filling
)

// inkOf returns the ink of the value of m.
func (s *scale) inkOf(m *mark) *ink {
	if s.faint != nil {
		if !m.chlorophyll().Valid() {
			return &s.inks.absent
		}
		return &s.inks.chances[s.colours.Index(m.chlorophyll().Float())]
	}
	if !m.chlorophyll().Valid() {
		return &s.inks.hollow
	}
	k := &s.inks.values[s.colours.Index(m.chlorophyll().Float())]
	if m.old {
		return &k[1]
	}
	return &k[0]
}

// put draws one pixel of a mark over entry *e. The outermost line has the entries from outer on.
func (k *ink) put(e *uint8, code, outer uint8) {
	switch {
	case k.soft && *e != 0 && !filled(code):
	case code >= fillCode:
		*e = k.entries[code]
	case code > 0:
		*e = overlay(*e, outer, code)
	}
}

// filled reports whether a pixel of a code has some filling.
func filled(code uint8) bool { return code >= fillCode && code <= wholeCode }

// overlay returns the entry for a pixel of entry e after q quarters are covered by the line whose first entry is line.
func overlay(e, line, q uint8) uint8 {
	if e == 0 {
		return line + q - 1
	}
	covered := uint8(quarters) // of the pixel, by e
	if e < toneEntry {
		covered = (e-outlineEntry)%quarters + 1
	}
	switch {
	case e >= line && e < line+quarters:
		uncovered := ((quarters-covered)*(quarters-q) + quarters/2) / quarters
		return line + quarters - uncovered - 1
	case 2*q >= quarters:
		// There are no other mixtures. The upper line replaces the lower entry where it covers at least half, and takes over
		// its cover, so that there is no gap between them.
		return line + max(q, covered) - 1
	}
	return e
}
