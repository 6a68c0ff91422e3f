package render

import (
	"image/color"
	"math"

	"limnomap/colormap"
	"limnomap/render/palettepng"
)

const (
	// levels is how many opacities there are besides none. Opacity needs many: with few, most of the error against an
	// unquantised picture is the opacity's. Each further level saves half a decibel of 45 and costs 3 % of the bytes.
	levels = 12
	// faintest and maxOpacity are the opacities of the first and the last level; the others lie between them at equal
	// distances. An eye sees equal steps of opacity as equal, on white and on dark maps. The first step alone is
	// smaller, because around a lone blob it is a line on a plain ground. The last one, a lake's own, lets a map's
	// labels and shores shine through.
	faintest, maxOpacity = 0.05, 0.86
	// unseen is how far, in CIE76, a pixel's colour may lie from its own because neighbours share an entry of the
	// palette: two thirds of what is just noticeable side by side. The fainter a level, the less its colours differ on
	// the screen: of 32 colours the first level keeps 3 and the middle ones 16.
	unseen = 1.5
)

// A shading tells the palette's entries by level, less one, and colour.
type shading [levels][colormap.Steps]uint8

// newShading gives each shade of m an entry: neighbours in colour are neighbours there. At the last level every colour
// has one of its own. At the others neighbours share one as far as that is unseen, or, where the colours of m lie so
// far apart that the entries do not suffice, as little further as they do.
func newShading(m *colormap.Map) *shading {
	// Ends at the latest when each class has one colour at all levels but the last.
	for difference := unseen; ; difference *= 1.05 {
		if s, ok := shadingWithin(m, difference); ok {
			return s
		}
	}
}

// shadingWithin returns the shading of m in which no pixel's colour lies further than difference from its own, and
// whether the palette has entries enough for it.
func shadingWithin(m *colormap.Map, difference float64) (*shading, bool) {
	var s shading
	table, entry := m.Table(), 0
	for level := range s {
		within := difference / levelOpacity(level+1)
		if level == levels-1 {
			within = 0
		}
		// Class by class: no entry serves two.
		first := 0
		for _, class := range m.Legend().Classes {
			colors := table[first : first+len(class.Colors)]
			groups := groupsWithin(colors, within)
			for i := range colors {
				s[level][first+i] = uint8(entry + 1 + groupOf(i, groups, len(colors)))
			}
			first += len(colors)
			entry += groups
		}
	}
	return &s, entry < len(palettepng.Palette{})
}

// groupsWithin returns into how few groups colors can be divided, so that none lies further than difference from the
// mean of its group.
func groupsWithin(colors []color.NRGBA, difference float64) int {
	for groups := 1; groups < len(colors); groups++ {
		if furthest(colors, groups) <= difference {
			return groups
		}
	}
	return len(colors)
}

// furthest returns how far the furthest of colors lies from the mean of its group.
func furthest(colors []color.NRGBA, groups int) (distance float64) {
	n := len(colors)
	for first, end := 0, 0; first < n; first = end {
		for end = first + 1; end < n && groupOf(end, groups, n) == groupOf(first, groups, n); end++ {
		}
		centre := labOf(mean(colors[first:end]))
		for _, c := range colors[first:end] {
			distance = max(distance, cie76(labOf(c), centre))
		}
	}
	return distance
}

// groupOf returns which of some groups of nearly one size the i-th of n colours belongs to.
func groupOf(i, groups, n int) int { return i * groups / n }

// heatPalette returns the shades of m.
func heatPalette(m *colormap.Map) *palettepng.Palette {
	var p palettepng.Palette
	table := m.Table()
	for level, entries := range newShading(m) {
		alpha := uint8(math.Round(0xff * levelOpacity(level+1)))
		for first, end := 0, 0; first < len(table); first = end {
			for end = first + 1; end < len(table) && entries[end] == entries[first]; end++ {
			}
			c := mean(table[first:end])
			c.A = alpha
			p[entries[first]] = c
		}
	}
	return &p
}

// levelOpacity returns the opacity of a level.
func levelOpacity(level int) float64 {
	return faintest + (maxOpacity-faintest)*float64(level-1)/(levels-1)
}

// levelOf returns where among the levels an opacity lies: 0 is none, and a level's own opacity is at its number.
func levelOf(opacity float64) float64 {
	if opacity < faintest {
		return opacity / faintest
	}
	return 1 + (levels-1)*(opacity-faintest)/(maxOpacity-faintest)
}
