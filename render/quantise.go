package render

import (
	"math"
	"sort"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
)

const (
	// levels is how many opacities there are besides none. Opacity needs them more than colour does: with seven, all in
	// colormap.Steps colours, nine tenths of the error against an unquantised picture were the opacity's. Therefore in
	// the faint levels, up to 0.41, two neighbours of a class share a colour, and nine fit the 256 entries of a PNG's
	// palette. A tenth and eleventh would fit too; they save a decibel each of 44 and cost a twentieth of the bytes.
	levels, faintLevels = 9, 5
	// maxOpacity is the opacity at a lake's own pixel. It lets a map's labels and shores shine through.
	maxOpacity = 0.86
	// opacityGain is U in opacity = 1 - exp(-U * sum of g): one lake alone comes to 0.98 at its own pixel, and a
	// hundred come to 1, which looks the same.
	opacityGain = 4.0
	// saturated is the part of full opacity from which on it is shown as full.
	saturated = 0.97
	// levelCurve crowds the levels towards the transparent end, where the eye tells one from the next more easily:
	// level i has the opacity (i/levels)^levelCurve.
	levelCurve = 1.25
	// parts is how many parts of a level a pattern tells apart.
	parts = 256 / shadeLevels
	// ditherZoom is the smallest zoom that is dithered. Below it, the edges between levels lie two or three pixels
	// apart, where one does not see them, and dithering would cost a quarter more bytes.
	ditherZoom = 11
)

// A pattern is what is added to a pixel's opacity, in parts of a level, before it is rounded down to a level: by the
// parities of the pixel's row and column in the global grid, so that tiles join.
type pattern [2][2]uint8

// most is the most that a pattern adds.
const most = 14

// plain rounds to the nearest level.
var plain = pattern{{8, 8}, {8, 8}}

// dither is the order in which the pixels of a 2x2 cell take the next opacity (Bayer 1973). It makes four steps of one
// where a blob is so large that one would see its levels as rings. A larger cell costs a sixth more bytes and looks no
// better on a screen.
var dither = pattern{{2, 10}, {14, 6}}

// patternAt returns the pattern of a zoom.
func patternAt(z maptile.Zoom) *pattern {
	if z < ditherZoom {
		return &plain
	}
	return &dither
}

// A scale tells the shade of a pixel from its sums, for one colour map.
type scale struct {
	colours *colormap.Map
	shades  shadeTable
	// classes are the smallest values of the classes after the first.
	classes []data.Chlorophyll
	// dark tells the colours whose markers have a casing; from highest on, they are those of the highest class.
	dark    [colormap.Steps]bool
	highest int
}

func newScale(m *colormap.Map, v *values) *scale {
	s := &scale{colours: m, shades: newShadeTable(m, v)}
	for i, c := range m.Table() {
		s.dark[i] = isDark(c)
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
func newShadeTable(m *colormap.Map, v *values) shadeTable {
	t := shadeTable{valueScale: v.scale()}
	for i := range coverCells + 1 {
		opacity := 1 - math.Exp(-opacityGain*float64(i)/coverCells)
		level := levels * math.Pow(min(opacity/saturated, 1), 1/levelCurve)
		t.cover[i] = uint8(math.Floor(parts * level))
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

// A shading tells the palette's entries by level, less one, and colour.
type shading [levels][colormap.Steps]uint8

// newShading gives each shade of m an entry: neighbours in colour are neighbours there.
func newShading(m *colormap.Map) *shading {
	var s shading
	pairs := pairsOf(m)
	entry := uint8(0)
	for level := range s {
		for i := range s[level] {
			if level >= faintLevels || pairs[i] == i {
				entry++
			}
			s[level][i] = entry
		}
	}
	return &s
}

// heatPalette returns the shades of m.
func heatPalette(m *colormap.Map) *palette {
	var p palette
	for level, entries := range newShading(m) {
		for i, c := range m.Table() {
			if first := p[entries[i]]; first.A != 0 {
				c = mixed(first, c, 1, 2)
			}
			c.A = uint8(math.Round(255 * levelOpacity(level+1)))
			p[entries[i]] = c
		}
	}
	return &p
}

// class returns the class of the value of p, 0 without one.
func (s *scale) class(p *place) int {
	n := 0
	for n < len(s.classes) && p.chlorophyll >= s.classes[n] {
		n++
	}
	return n
}

// pairsOf returns for each colour of m the first of the two neighbours that it is one of. None has neighbours of
// different classes.
func pairsOf(m *colormap.Map) (pairs [colormap.Steps]int) {
	i := 0
	for _, class := range m.Legend().Classes {
		for k := range class.Colors {
			pairs[i] = i - k%2
			i++
		}
	}
	return pairs
}

// levelOpacity returns the opacity of a level.
func levelOpacity(level int) float64 {
	return maxOpacity * math.Pow(float64(level)/levels, levelCurve)
}
