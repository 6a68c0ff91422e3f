package render

import (
	"math"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/pixels"
)

const (
	// opacityGain is U in opacity = 1 - exp(-U * sum of g): one lake has 0.98 at its own pixel, and a hundred lakes have 1,
	// which looks the same.
	opacityGain = 4.0
	// saturated is the part of full opacity that is drawn as full.
	saturated = 0.95
	// parts is the number of steps of a pattern within a level.
	parts = 256 / shadeLevels
)

// A pattern is added to the opacity of pixels, in parts of a level, before it is rounded down to a level. It is indexed by the
// parities of row and column in the global grid, so that tiles join.
type pattern [2][2]uint8

// most is the largest number in a pattern.
const most = 14

// dither is the order in which the pixels of a 2x2 cell take the next opacity (Bayer 1973). It divides each step into four,
// so that the levels of a large blob are not visible as rings. A larger cell adds a sixth to the bytes and looks the same.
var dither = pattern{{2, 10}, {14, 6}}

// A scale has what depends on the colour map: how sums become shades, and values become colours and classes.
type scale struct {
	colours *colormap.Map
	shades  shadeTable
	shading *shading
	faded   []*shadeTable // by zoom from fadeZoom on
	classes classLimits
	faint   *[256]uint8 // of probabilities, the entries of the field within lines; nil for values
	inks    *inks
	pixels  [pixels.Codes]pixelEntry
	above   *scale // of waters above the field at fadeZoom: their lines leave it as it is
	// traces are the limits of the field below fadeZoom, and from there on.
	traces [2][traceLevels]uint8
	// shares are the entries of the shares of clusters.
	shares [upperClasses + 2]uint8
}

func newScale(m *colormap.Map, v *logTable) *scale {
	s := &scale{colours: m, shading: newShading(m, &fullRange), classes: v.classes, shares: shareEntries(m), pixels: newPixelEntries(m)}
	s.shades = *newShadeTable(s.shading, v, 1)
	faded := newShading(m, &fadedRange)
	for _, part := range fades {
		s.faded = append(s.faded, newShadeTable(faded, v, part))
	}
	s.traces = [...][traceLevels]uint8{traceLimits(s.shading), traceLimits(faded)}
	s.inks = hardInks
	above := *s
	above.inks = softInks
	s.above = &above
	return s
}

// aboveField returns the scale of waters above the field.
func (s *scale) aboveField(z maptile.Zoom) *scale {
	if z == fadeZoom {
		return s.above
	}
	return s
}

// shadesAt returns the shades of a zoom below waterZoom.
func (s *scale) shadesAt(z maptile.Zoom) *shadeTable {
	if z < fadeZoom {
		return &s.shades
	}
	return s.faded[z-fadeZoom]
}

// newShadeTable returns the entries of the style Heat by opacity and value. The field has that part of its opacity.
func newShadeTable(shades *shading, v *logTable, part float64) *shadeTable {
	t := &shadeTable{valueScale: v.perUnit}
	for i := range coverCells + 1 {
		opacity := min((1-math.Exp(-opacityGain*float64(i)/coverCells))/saturated, 1)
		t.cover[i] = uint8(math.Floor(parts * shades.levelOf(part*maxOpacity*opacity)))
		if t.cover[i]+most < parts {
			t.faint = float32(i) / coverCells
		}
	}
	for level, entries := range shades.entries {
		for cell, colour := range v.colours {
			t.entries[(level+1)*valueCells+cell] = entries[colour]
		}
	}
	return t
}

// class returns the class of c, 0 without a value.
func (s *scale) class(c data.Chlorophyll) int { return s.classes.of(c) }
