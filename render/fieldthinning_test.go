package render

import (
	"math"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/data/testsize"
)

// The limits of the shares of the classes of many lakes.
const (
	mostManyShift = 4.0 // of a class's part of the coloured pixels, from one zoom to the next, in points
	mostCrowdedBy = 7.0 // of its part in the densest cells from that of the lakes, in points
)

// leastHigh is the least part of the high lakes that are seen within a pixel of their place, in cells with less than highLakes lakes, in per cent by zoom. Of two in a
// square of two pixels one is drawn.
var leastHigh = [...]float64{0, 0, 0, 0, 99, 100}

// TestManyLakesTellTheSameStory draws lakes in districts of all densities, from zoom 0 to 5: the shares of the classes are nearly the same at all zooms and where
// lakes are densest, and each high lake has a pixel of its class in its cell or at its edge, and from zoom 4 on nearly each within a pixel of its
// place, unless more than 2,000 lie in its cell.
func TestManyLakesTellTheSameStory(t *testing.T) {
	n := testsize.Of(350_000, 1_400_000)
	l := layerOf(world(n)...)
	var lakes, last [upperClasses + 1]float64
	for i := range l.sites {
		v := l.value(i)
		lakes[l.logs.classes.of(v.Chlorophyll)] += 100 / float64(len(l.sites))
	}
	for z := maptile.Zoom(0); z <= 5; z++ {
		side := min(TileSize<<z, 2048) // of a square in the middle of the map
		w := window{zoom: z, scale: 1, width: side, height: side}
		w.left = int64(TileSize<<z-side) / 2 * subUnits
		w.top = w.left
		p := pictureOf(l, w)
		const bits = coreCellBits
		across := side >> bits
		counts, pixels := make([]int, across*across), make([][upperClasses + 2]float64, across*across)
		hasHigh, showsHigh := make([]bool, across*across), make([]bool, across*across)
		cellOf := func(x, y float64) int { return int(y)>>bits*across + int(x)>>bits }
		for i, c := range p.classes {
			x, y := float64(i%side), float64(i/side)
			pixels[cellOf(x, y)][c]++
			if c == upperClasses+1 {
				last := float64(side - 1)
				for k := range 9 { // of a lake at the edge of a cell, the pixel may be in the next cell
					showsHigh[cellOf(min(max(x+float64(k%3-1), 0), last), min(max(y+float64(k/3-1), 0), last))] = true
				}
			}
		}
		high, near := 0, 0
		blooms, own := make([]int, across*across), make([]int, across*across) // high lakes, and those with a pixel of their class within a pixel of their place
		for i := range l.sites {
			x, y := p.at(&l.sites[i])
			if min(x, y) < 0 || max(x, y) >= float64(side) {
				continue
			}
			counts[cellOf(x, y)]++
			if v := l.value(i); l.logs.classes.of(v.Chlorophyll) == upperClasses {
				hasHigh[cellOf(x, y)] = true
				seen := false
				p.disc(x, y, 1, func(c uint8) { seen = seen || c == upperClasses+1 })
				if min(x, y) >= 1 && max(x, y) <= float64(side-1) {
					cell := cellOf(x, y)
					if blooms[cell]++; seen {
						own[cell]++
					}
				}
			}
		}
		var dense, all [upperClasses + 1]float64
		allHigh, allOwn, fewHigh, fewOwn := 0, 0, 0, 0
		for cell, n := range counts {
			allHigh, allOwn = allHigh+blooms[cell], allOwn+own[cell]
			if n < highLakes {
				fewHigh, fewOwn = fewHigh+blooms[cell], fewOwn+own[cell]
			}
			for class := range all {
				all[class] += pixels[cell][class+1]
				if n >= 8*thinnedLakes {
					dense[class] += pixels[cell][class+1]
				}
			}
			if hasHigh[cell] {
				high++
				if showsHigh[cell] {
					near++
				}
			}
		}
		all, dense = inPercent(all), inPercent(dense)
		t.Logf("zoom %d: %.1f, %.1f and %.1f %% of the coloured pixels are low, medium and high, %.1f, %.1f and %.1f %% in the densest cells; of the lakes %.1f, %.1f and %.1f %%; %d of %d cells with a high lake show one, and %d of %d high lakes have one within a pixel, of those in cells with less than %d lakes %d of %d",
			z, all[0], all[1], all[2], dense[0], dense[1], dense[2], lakes[0], lakes[1], lakes[2], near, high, allOwn, allHigh, highLakes, fewOwn, fewHigh)
		for class := range all {
			if z > 0 && math.Abs(all[class]-last[class]) > mostManyShift {
				t.Errorf("zoom %d: class %d has %.1f %% of the coloured pixels, and %.1f %% at the zoom before, want at most %v points between", z, class, all[class], last[class], mostManyShift)
			}
			if sum := dense[0] + dense[1] + dense[2]; sum > 0 && math.Abs(dense[class]-lakes[class]) > mostCrowdedBy {
				t.Errorf("zoom %d: class %d has %.1f %% of the coloured pixels where lakes are densest, and %.1f %% of the lakes, want at most %v points between", z, class, dense[class], lakes[class], mostCrowdedBy)
			}
		}
		if near != high {
			t.Errorf("zoom %d: of %d cells with a high lake %d show one, want all", z, high, near)
		}
		if percent(fewOwn, fewHigh) < leastHigh[z] {
			t.Errorf("zoom %d: of %d high lakes in cells with less than %d lakes, %d are seen within a pixel, want at least %v %%", z, fewHigh, highLakes, fewOwn, leastHigh[z])
		}
		last = all
	}
}

// inPercent returns the parts of the sum.
func inPercent(n [upperClasses + 1]float64) [upperClasses + 1]float64 {
	if sum := n[0] + n[1] + n[2]; sum > 0 {
		for i := range n {
			n[i] *= 100 / sum
		}
	}
	return n
}
