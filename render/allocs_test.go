package render

import (
	"math"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// TestTilesAllocateLittle counts the allocations of whole tiles, from the search to the file, once the memory is reused.
func TestTilesAllocateLittle(t *testing.T) {
	const most = 4
	tile := maptile.Tile{X: 34, Y: 21, Z: 6}
	one, many := layerOf(spreadOver(tile, 1)...), layerOf(spreadOver(tile, 1892)...)
	for _, style := range []StyleID{Heat, Dots, Lakes} {
		for scale := 1; scale <= 2; scale++ {
			s := Spec{Tile: tile, Scale: scale, Style: style, Colormap: colormap.Default}
			few := allocsOf(t, one, s, most)
			all := allocsOf(t, many, s, few)
			if few > most || all > few {
				t.Errorf("%s at scale %d: %v allocations with one lake in reach, %v with 1,892, want at most %d and no more with many",
					style, scale, few, all, most)
			}
		}
	}
}

// allocsOf returns how many times drawing s allocates. It repeats until that is at most the wanted number:
// the garbage collector may empty the pool, and with the race detector a pool drops some items.
func allocsOf(t *testing.T, l *Layer, s Spec, want float64) float64 {
	least := math.Inf(1)
	for range 20 {
		least = min(least, testing.AllocsPerRun(1, func() { mustRender(t, l, s) }))
		if least <= want {
			break
		}
	}
	return least
}

// spreadOver returns n lakes spread evenly over a tile, of all sizes and values, each seventh without one.
func spreadOver(tile maptile.Tile, n int) []testLake {
	b := tile.Bound()
	lakes := make([]testLake, n)
	for i := range lakes {
		// Multiples of the golden ratio and the square root of 2 fill a square evenly.
		east, north := math.Mod(float64(i)*math.Phi, 1), math.Mod(float64(i)*math.Sqrt2, 1)
		lakes[i] = testLake{
			lon: b.Left() + east*(b.Right()-b.Left()), lat: b.Bottom() + north*(b.Top()-b.Bottom()),
			chl: math.Exp2(float64(i % 8)), areaKM2: math.Exp2(float64(i%10) - 4),
		}
		if i%7 == 3 {
			lakes[i].chl = -1
		}
	}
	return lakes
}
