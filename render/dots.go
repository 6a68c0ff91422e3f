package render

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// quarters is how many parts of a pixel's area a marker's edge is told in.
const quarters = 4

// Entries of the palette of dots, besides the transparent one: the three kinds of line at 1 to 4 quarters of a pixel,
// then for each colour its mixtures with the line around it, 1 to 4 quarters colour.
const (
	outlineEntry = 1
	casingEntry  = outlineEntry + quarters
	ringEntry    = casingEntry + quarters
	fillEntry    = ringEntry + quarters
)

// outlineColor sets a marker off from the map: dark, so that the light end of a colour map, which in some maps means
// a bloom, is seen on a white page. casingColor does it for the dark end, which in others does, on a dark page.
var (
	outlineColor = color.NRGBA{0x26, 0x32, 0x38, 0xff}
	casingColor  = color.NRGBA{0xff, 0xff, 0xff, 0xff}
)

// darkest is the relative luminance below which a colour has a casing: there its contrast with a dark grey page
// (#2b2b2b) is less than 2.5 to 1. In the default map it parts the red of the highest class from all else.
const darkest = 0.135

// isDark reports whether a marker of colour c has a casing. Relative luminance after WCAG 2.2, which takes sRGB's
// transfer function for the power of 2.2 that it is nearly.
func isDark(c color.NRGBA) bool {
	linear := func(v uint8) float64 { return math.Pow(float64(v)/0xff, 2.2) }
	return 0.2126*linear(c.R)+0.7152*linear(c.G)+0.0722*linear(c.B) < darkest
}

// dots paints a marker for each lake.
type dots struct {
	markers []markers // by zoom, the last for all larger ones
}

func newDots() *dots { return &dots{newMarkers()} }

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

// lineOf returns the first entry of the line around the colour of entry e.
func lineOf(e uint8, dark *[colormap.Steps]bool) uint8 {
	if dark[(e-fillEntry)/quarters] {
		return casingEntry
	}
	return outlineEntry
}

func (d *dots) at(z maptile.Zoom) *markers { return &d.markers[min(int(z), len(d.markers)-1)] }

func (d *dots) index(l *Layer, w window) *index { return l.forMarkers(w.zoom) }

func (d *dots) reach(_ *index, _ *place, w window) int64 { return d.at(w.zoom).reach }

func (d *dots) widest(_ *index, w window) int64 { return d.at(w.zoom).reach }

// trace has the value of a lake even where its colour is the same as another's, since it also decides which of two
// markers lies above.
func (d *dots) trace(h hit, _ window) trace {
	return trace{x: h.x &^ (markerUnits - 1), y: h.y &^ (markerUnits - 1), value: uint32(h.chlorophyll)}
}

func (d *dots) palette(m *colormap.Map) *palette {
	var p palette
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
	}
	return &p
}

func faded(c color.NRGBA, q int) color.NRGBA {
	c.A = uint8(255 * q / quarters)
	return c
}

// paint draws the markers from the least to the most important: rings, then by value, so that a bloom is never hidden.
// Among equals the place decides, in Morton order, which stays the same when places are rounded to the marker's grid:
// so the picture depends on nothing that the fingerprint does not hold.
func (d *dots) paint(dst []uint8, s *scene, w window, sc *scale, _ *brush) {
	clear(dst)
	slices.SortFunc(s.hits, func(a, b hit) int {
		return cmp.Or(
			cmp.Compare(a.chlorophyll, b.chlorophyll),
			cmp.Compare(morton(a.place.x, a.place.y), morton(b.place.x, b.place.y)),
			cmp.Compare(a.x, b.x),
		)
	})
	ms := d.at(w.zoom)
	for _, h := range s.hits {
		m, left, top := ms.locate(h, w)
		if !h.chlorophyll.Valid() {
			stamp(dst, w, left, top, m.side(), m.ring, ringEntry, 0, &sc.dark)
			continue
		}
		colour, shape := sc.colours.Index(h.chlorophyll.Float()), m.disc
		if colour >= sc.highest {
			shape = m.large // in every map, whichever colour stands for it
		}
		fill := fillEntry + uint8(colour)*quarters
		stamp(dst, w, left, top, m.side(), shape, lineOf(fill, &sc.dark), fill, &sc.dark)
	}
}

// stamp puts a square of codes (see sprite) on dst: lines of the entries from line on, colours of those from fill on.
func stamp(dst []uint8, w window, left, top, side int, codes []uint8, line, fill uint8, dark *[colormap.Steps]bool) {
	for r := max(top, 0); r < min(top+side, w.height); r++ {
		for c := max(left, 0); c < min(left+side, w.width); c++ {
			at := r*w.width + c
			switch code := codes[(r-top)*side+c-left]; {
			case code > quarters:
				dst[at] = fill + code - quarters - 1
			case code > 0:
				dst[at] = overlay(dst[at], line, int(code), dark)
			}
		}
	}
}
