package render

import (
	"math"
	"sort"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render/symbol"
)

const (
	// opacityGain is U in opacity = 1 - exp(-U * sum of g): one lake has 0.98 at its own pixel, and a hundred lakes have 1,
	// which looks the same.
	opacityGain = 4.0
	// saturated is the part of full opacity that is drawn as full.
	saturated = 0.97
	// parts is the number of steps of a pattern within a level.
	parts = 256 / shadeLevels
	// ditherZoom is the smallest zoom that is dithered: from there on single lakes are visible, and without dithering rings
	// around them. Below it, the edges between levels are two or three pixels apart and not visible, and dithering would add
	// a tenth to a quarter to the bytes.
	ditherZoom = 10
)

// A pattern is added to the opacity of pixels, in parts of a level, before it is rounded down to a level. It is indexed by the
// parities of row and column in the global grid, so that tiles join.
type pattern [2][2]uint8

// most is the largest number in a pattern.
const most = 14

// plain rounds to the nearest level.
var plain = pattern{{8, 8}, {8, 8}}

// dither is the order in which the pixels of a 2x2 cell take the next opacity (Bayer 1973). It divides each step into four,
// so that the levels of a large blob are not visible as rings. A larger cell adds a sixth to the bytes and looks the same.
var dither = pattern{{2, 10}, {14, 6}}

// patternAt returns the pattern of a zoom.
func patternAt(z maptile.Zoom) *pattern {
	if z < ditherZoom {
		return &plain
	}
	return &dither
}

// A scale has what depends on the colour map: how sums become shades, and values become colours and classes.
type scale struct {
	colours *colormap.Map
	shades  shadeTable
	// classes are the smallest values of the classes after the first.
	classes []data.Chlorophyll
	// dark reports whether the markers of a colour have a casing. The colours from highest on are those of the highest class.
	dark    [colormap.Steps]bool
	highest int
}

func newScale(m *colormap.Map, v *logTable) *scale {
	s := &scale{colours: m, shades: newShadeTable(m, v)}
	for i, c := range m.Table() {
		s.dark[i] = symbol.HasCasing(c)
	}
	classes := m.Legend().Classes
	first := 0
	for _, c := range classes[:len(classes)-1] {
		first += len(c.Colors)
		s.classes = append(s.classes, data.Chlorophyll(sort.Search(int(data.MaxChlorophyll)+1, func(c int) bool {
			return m.Index(data.Chlorophyll(c).Float()) >= first
		})))
	}
	s.highest = first
	return s
}

// newShadeTable returns the entries of the style Heat by opacity and value.
func newShadeTable(m *colormap.Map, v *logTable) shadeTable {
	t := shadeTable{valueScale: v.perUnit}
	for i := range coverCells + 1 {
		opacity := min((1-math.Exp(-opacityGain*float64(i)/coverCells))/saturated, 1)
		t.cover[i] = uint8(math.Floor(parts * levelOf(maxOpacity*opacity)))
		if t.cover[i]+most < parts {
			t.faint = float32(i) / coverCells
		}
	}
	shades := newShading(m)
	for level := range shades {
		for cell, colour := range v.colours {
			t.entries[(level+1)*valueCells+cell] = shades[level][colour]
		}
	}
	return t
}

// class returns the class of c, 0 without a value.
func (s *scale) class(c data.Chlorophyll) int {
	n := 0
	for n < len(s.classes) && c >= s.classes[n] {
		n++
	}
	return n
}
