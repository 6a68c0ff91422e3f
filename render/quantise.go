package render

import (
	"math"
	"math/bits"
	"sort"

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
	// coverBits is the width of the table of opacities, from no lake to one lake's full weight.
	coverBits = 13
	// parts is how many parts of a level a pattern tells apart.
	parts = 16
	// ditherZoom is the smallest zoom that is dithered. Below it, the edges between levels lie two or three pixels
	// apart, where one does not see them, and dithering would cost a quarter more bytes.
	ditherZoom = 11
)

// A pattern is what is added to a pixel's opacity, in parts of a level, before it is rounded down to a level: by the
// parities of the pixel's row and column in the global grid, so that tiles join.
type pattern [2][2]uint8

// plain rounds to the nearest level.
var plain = pattern{{8, 8}, {8, 8}}

// dither is the order in which the pixels of a 2x2 cell take the next opacity (Bayer 1973). It makes four steps of one
// where a blob is so large that one would see its levels as rings. A larger cell costs a sixth more bytes and looks no
// better on a screen.
var dither = pattern{{2, 10}, {14, 6}}

// A scale tells the shade of a pixel from its sums, for one colour map.
type scale struct {
	// thresholds[i] is the smallest logarithm (see logOf) that has colour i; the one past the last has none.
	thresholds [colormap.Steps + 1]uint64
	// shades are the entries of the palette of the style Heat.
	shades *shading
	// classes are the smallest logarithms of the classes after the first.
	classes []uint64
	// dark tells the colours whose markers have a casing; from highest on, they are those of the highest class.
	dark    [colormap.Steps]bool
	highest int
}

// newScale returns the scale of m. Its thresholds are found by asking m about each value that data can hold, so that a
// lake's own pixel has the colour that m gives its value, to the hundredth.
func newScale(m *colormap.Map) *scale {
	s := &scale{shades: newShading(m)}
	for i := 1; i < colormap.Steps; i++ {
		c := sort.Search(int(data.MaxChlorophyll)+1, func(c int) bool { return m.Index(data.Chlorophyll(c).Float()) >= i })
		s.thresholds[i] = uint64(logOf(data.Chlorophyll(c)))
	}
	s.thresholds[colormap.Steps] = math.MaxUint64
	for i, c := range m.Table() {
		s.dark[i] = isDark(c)
	}
	classes := m.Legend().Classes
	first := 0
	for _, c := range classes[:len(classes)-1] {
		first += len(c.Colors)
		s.classes = append(s.classes, s.thresholds[first])
	}
	s.highest = first
	return s
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
	for n < len(s.classes) && uint64(p.log) >= s.classes[n] {
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

// coverage is a table from a pixel's sum of the wide kernel, which is at most fullWeight, to its opacity in
// parts of a level.
type coverage [1<<coverBits + 1]uint8

func newCoverage() *coverage {
	var t coverage
	for i := range t {
		opacity := 1 - math.Exp(-opacityGain*float64(i)/(1<<coverBits))
		level := levels * math.Pow(min(opacity/saturated, 1), 1/levelCurve)
		t[i] = uint8(math.Floor(parts * level))
	}
	return &t
}

// quantise writes the shades of a band of pixels, whose first row is the given one of the global grid, to dst.
func (s *scale) quantise(dst []uint8, a *sums, row int64, cover *coverage, p *pattern) {
	colour := 0
	for start := 0; start < len(dst); start += a.width {
		add := &p[row&1]
		row++
		wide := a.wide[start : start+a.width]
		for i, g := range wide {
			v := cover[min(g, fullWeight)>>(2*weightBits-coverBits)]
			level := (v + add[i&1]) / parts
			if level == 0 {
				dst[start+i] = 0
				continue
			}
			at := start + i
			hi, lo := uint64(0), a.logs[at]
			if a.carried {
				var c uint64
				lo, c = bits.Add64(lo, a.carries[at]<<32, 0)
				hi = a.carries[at]>>32 + c
			}
			colour = s.colour(hi, lo, g+a.narrow[at], colour)
			dst[at] = s.shades[level-1][colour]
		}
	}
}

// colour returns the colour of the mean logarithm (hi, lo) / weight. A neighbour's colour is mostly right as a guess,
// and two products then prove it, where a division would cost more than all the rest.
func (s *scale) colour(hi, lo, weight uint64, guess int) int {
	for less(hi, lo, s.thresholds[guess], weight) {
		guess--
	}
	for !less(hi, lo, s.thresholds[guess+1], weight) {
		guess++
	}
	return guess
}

// less reports whether (hi, lo) is less than a*b.
func less(hi, lo, a, b uint64) bool {
	h, l := bits.Mul64(a, b)
	return hi < h || hi == h && lo < l
}
