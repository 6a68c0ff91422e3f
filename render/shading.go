package render

import (
	"image/color"
	"math"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/render/palettepng"
)

// opacities are the levels of opacity of the field, and the palette entries for them.
type opacities struct {
	// levels is the number of opacities except none. With few, most of the error of quantising is in the opacity. Of twelve,
	// each further level would reduce the error by half a decibel of 45 and add 3 % to the bytes.
	levels int
	most   float64 // the opacity of the last level
	first  int     // the first palette entry
	end    int     // the entry after the last one, where those of traces begin
	exact  bool    // whether each colour has an entry of its own at the last level
}

const (
	// faintest and maxOpacity are the opacities of the first and the last level; the others are at equal distances between
	// them, because equal steps of opacity look equal, on white and on dark maps. The first step is smaller, because around a
	// single blob it is a visible line. The last level leaves labels and shores of the basemap visible.
	faintest, maxOpacity = 0.05, 0.86
	// levels is the number of them.
	levels = 12
	// unseen is the largest difference of a pixel's colour, in CIE76, that sharing palette entries may cause: two thirds of
	// the just noticeable difference. The fainter a level, the less its colours differ on the screen: of 32 colours the
	// first level keeps 3 and the middle ones 16.
	unseen = 1.5
	// A shade of the highest class is rimGain times as opaque as its level, up to rimOpacity, and paler by as much, so that it looks the same on white. On a
	// dark map, where the dark colours of that class are hardly seen, its fading edges are a pale rim. An old value is still less opaque than a fresh one.
	rimGain, rimOpacity = 3, 0.6
)

// fullRange is that of zooms at which the field does not fade.
var fullRange = opacities{levels: levels, most: maxOpacity, first: 1, end: 256 - traceLevels, exact: true}

// fadedRange is that of the zooms at which the field fades, where the palette also has the entries of waters.
var fadedRange = opacities{levels: 7, most: maxOpacity, first: freeEntry, end: hollowEntry - traceLevels}

// rangeAt returns the range of a zoom.
func rangeAt(z maptile.Zoom) *opacities {
	if z < fadeZoom {
		return &fullRange
	}
	return &fadedRange
}

// of returns the opacity of a level.
func (o *opacities) of(level int) float64 {
	return faintest + (o.most-faintest)*float64(level-1)/float64(o.levels-1)
}

// levelOf is the inverse of of, continuous, and 0 for no opacity.
func (o *opacities) levelOf(opacity float64) float64 {
	if opacity < faintest {
		return opacity / faintest
	}
	return 1 + float64(o.levels-1)*(opacity-faintest)/(o.most-faintest)
}

// A shading has the palette entries of a range of opacities by level - 1 and colour.
type shading struct {
	*opacities
	entries [][colormap.Steps]uint8
}

// newShading assigns a palette entry to each shade of m; neighbouring colours have neighbouring entries. At the last level
// every colour has its own if o says so. At the others neighbours share entries as far as the difference is unseen, or, if that takes
// too many entries, with the smallest difference for which they suffice.
func newShading(m *colormap.Map, o *opacities) *shading {
	// It ends at the latest when each class has one colour at all levels except the last.
	for difference := unseen; ; difference *= 1.05 {
		if s, ok := shadingWithin(m, o, difference); ok {
			return s
		}
	}
}

// shadingWithin returns the shading of m in which no pixel differs by more than difference, and reports whether the palette
// has enough entries.
func shadingWithin(m *colormap.Map, o *opacities, difference float64) (*shading, bool) {
	s := &shading{o, make([][colormap.Steps]uint8, o.levels)}
	entry, highest := o.first, highestOf(m)
	for level := range s.entries {
		// Class by class: no entry is shared by two.
		first := 0
		for _, colors := range m.Bands() {
			shades := shadesOf(colors, first >= highest, o.of(level+1), 1)
			within := difference * 0xff / float64(shades[0].A)
			if level == o.levels-1 && o.exact {
				within = 0
			}
			groups := groupsWithin(shades, within)
			for i := range colors {
				s.entries[level][first+i] = uint8(entry + groupOf(i, groups, len(colors)))
			}
			first += len(colors)
			entry += groups
		}
	}
	return s, entry <= o.end
}

// groupsWithin returns the smallest number of groups such that no colour differs by more than difference from the mean of
// its group.
func groupsWithin(colors []color.NRGBA, difference float64) int {
	for groups := 1; groups < len(colors); groups++ {
		if furthest(colors, groups) <= difference {
			return groups
		}
	}
	return len(colors)
}

// furthest returns the largest difference of a colour from the mean of its group.
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

// groupOf returns the group of the i-th of n colours; groups have nearly the same size.
func groupOf(i, groups, n int) int { return i * groups / n }

// highestOf returns the first colour of the highest class of the field. A map of probabilities has more bands than the field has classes.
func highestOf(m *colormap.Map) (first int) {
	all := m.Legend().Classes
	for _, class := range all[:len(all)-1] {
		first += len(class.Colors)
	}
	return first
}

// shadesOf returns colours of a band with that opacity, at a zoom at which the field has that part of its opacity.
func shadesOf(colors []color.NRGBA, highest bool, opacity, part float64) []color.NRGBA {
	shades, shown := make([]color.NRGBA, len(colors)), opacity
	if highest {
		shown = max(opacity, min(rimGain*opacity, rimOpacity*part))
	}
	for i, c := range colors {
		shades[i] = mixed(c, whiteColor, int(math.Round(0xff*opacity/shown)), 0xff)
		shades[i].A = uint8(math.Round(0xff * shown))
	}
	return shades
}

// addTo adds the shades of m to p, at a zoom at which the field has that part of its opacity.
func (s *shading) addTo(p *palettepng.Palette, m *colormap.Map, part float64) {
	highest := highestOf(m)
	for level, entries := range s.entries {
		from := 0
		for _, colors := range m.Bands() {
			shades := shadesOf(colors, from >= highest, s.of(level+1), part)
			own := entries[from : from+len(colors)]
			for first, end := 0, 0; first < len(own); first = end {
				for end = first + 1; end < len(own) && own[end] == own[first]; end++ {
				}
				c := mean(shades[first:end])
				c.A = shades[first].A
				p[own[first]] = c
			}
			from += len(colors)
		}
	}
}

// heatPalette returns the shades of m.
func heatPalette(m *colormap.Map) *palettepng.Palette {
	var p palettepng.Palette
	newShading(m, &fullRange).addTo(&p, m, 1)
	addTraces(&p, fullRange.end)
	return &p
}

// fadedPalette returns the entries of waters and the shades of m at a zoom from fadeZoom to less than waterZoom.
func fadedPalette(m *colormap.Map, z maptile.Zoom) *palettepng.Palette {
	p := markPalette(m)
	fadeWaters(p, m, waterPart(z))
	newShading(m, &fadedRange).addTo(p, m, fades[z-fadeZoom])
	addTraces(p, fadedRange.end)
	return p
}
