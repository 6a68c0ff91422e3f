package render

import (
	"testing"

	"github.com/paulmach/orb/maptile"
)

// TestCrowdedWatersAreWhole draws the style Lakes at the zooms of a country: in a crowd white rims must not be most of what is seen, and each high lake has a
// pixel of its class within a pixel of its place. With rims in crowds the pixels were 60 to 42 % white, and of the other lakes 14 to 89 % were seen.
func TestCrowdedWatersAreWhole(t *testing.T) {
	limits := [...]struct{ mostWhite, leastSeen, leastHigh float64 }{ // in per cent, from zoom 3 on
		{10, 35, 95}, {10, 55, 100}, {15, 70, 100}, {30, 85, 100}, {30, 90, 100}, {35, 95, 100},
	}
	lakes := madeUpSites(2010)
	l := layerOf(lakes...)
	classes := markClasses()
	for i, limit := range limits {
		z := maptile.Zoom(3 + i)
		w := windowOver(boundOf(lakes, 0.5), z)
		pixels := paint(l, w, Lakes)
		white, drawn := 0, 0
		p := heatPicture{window: w, classes: make([]uint8, len(pixels))}
		for i, e := range pixels {
			p.classes[i] = classes[e]
			if e == 0 {
				continue
			}
			drawn++
			if e > rimEntry && e < fillEntry { // half of it or more
				white++
			}
		}
		var all, seen [upperClasses + 1]int
		for i := range l.sites {
			v := l.value(i)
			class := l.logs.classes.of(v.Chlorophyll)
			x, y := p.at(&l.sites[i])
			found := false
			p.disc(x, y, 1, func(c uint8) { found = found || int(c) == class+1 })
			all[class]++
			if found {
				seen[class]++
			}
		}
		whites, others, high := percent(white, drawn), percent(seen[0]+seen[1], all[0]+all[1]), percent(seen[upperClasses], all[upperClasses])
		t.Logf("zoom %d: %.0f %% of the pixels are white; %.0f %% of low and medium lakes and %.0f %% of high ones are seen", z, whites, others, high)
		if whites > limit.mostWhite || others < limit.leastSeen || high < limit.leastHigh {
			t.Errorf("zoom %d: want at most %v %% of white pixels, and at least %v %% of low and medium lakes and %v %% of high ones", z, limit.mostWhite, limit.leastSeen, limit.leastHigh)
		}
	}
}

// markClasses returns for each palette entry of marks 1 more than the class of its colour, where half or more of the pixel has it, and 0 for others.
func markClasses() (classes [256]uint8) {
	m := colorsOf(&Layer{}).scale.colours
	for i := range len(m.Table()) {
		for q := quarters / 2; q <= quarters; q++ {
			classes[fillEntry+i*quarters+q-1] = uint8(classOf(m, i)) + 1
		}
	}
	return classes
}
