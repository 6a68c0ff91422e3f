package render

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"
)

// binned returns the layer of lakes with bins at all zooms that can have them, as if lakes were many.
func binned(lakes ...testLake) *Layer {
	l := layerOf(lakes...)
	l.bins = newBins(&l.lakes, maxBinnedZoom+1)
	return l
}

// district is lakes so near each other that many share a pixel, over two tiles of zoom 6.
func district(n int) []testLake {
	rng := rand.New(rand.NewPCG(5, 6))
	lakes := make([]testLake, n)
	for i := range lakes {
		lakes[i] = testLake{
			lon: 22.5 + rng.NormFloat64()*1.5, lat: 62 + rng.NormFloat64(),
			chl: math.Round(100*math.Exp(1.5+rng.NormFloat64())) / 100,
		}
	}
	return lakes
}

func TestBinnedTilesAreCrops(t *testing.T) {
	lakes := append(country(), district(300)...)
	l := binned(lakes...)
	rapid.Check(t, func(t *rapid.T) {
		tile := drawTile(t, lakes)
		tile.Z = min(tile.Z, maxBinnedZoom)
		tile.X %= 1 << tile.Z
		tile.Y = min(tile.Y, uint32(max(1<<tile.Z-2, 0)))
		sameAsCrops(t, l, tile, rapid.IntRange(1, 2).Draw(t, "scale"), Heat)
	})
}

// TestBinsAgreeWithStamps compares the fields of the two ways to draw.
func TestBinsAgreeWithStamps(t *testing.T) {
	lakes := append(country(), district(5000)...)
	binned, stamped := binned(lakes...), layerOf(lakes...)
	stamped.bins = nil
	h := newHeat()
	for z := maptile.Zoom(0); z <= maxBinnedZoom; z++ {
		var opacities, logs, largestOpacity, n float64
		for _, at := range [][2]float64{{22.5, 62}, {11, 51}, {179.99, -16}} {
			w := windowOf(maptile.At(at, z), 1)
			var a, b field
			a.reset(find(nil, binned, w, h), w, h.kernels)
			b.reset(find(nil, stamped, w, h), w, h.kernels)
			a.sum(0, w.height)
			b.sum(0, w.height)
			if len(b.binned) > 0 || len(a.binned) == 0 && len(b.splats) > 0 {
				t.Fatalf("zoom %d: %d binned of the one, %d of the other", z, len(a.binned), len(b.binned))
			}
			for r := range w.height {
				for c := range w.width {
					i := r*a.sums.stride + c
					opacity := opacityOf(a.sums.wide[i])
					off := math.Abs(opacity - opacityOf(b.sums.wide[i]))
					largestOpacity = max(largestOpacity, off)
					if opacity < 0.1 {
						continue
					}
					opacities += off
					logs += math.Abs(float64(a.sums.log(i) - b.sums.log(i)))
					n++
				}
			}
		}
		t.Logf("zoom %d: opacity differs by %.4f, at most %.3f; value by %.2f %%",
			z, opacities/n, largestOpacity, 100*(math.Exp(logs/n)-1))
		if opacities/n > 0.006 || largestOpacity > 0.06 || logs/n > 0.04 {
			t.Errorf("zoom %d: mean difference of opacity %.3f, of value %.1f %%: want at most 0.006 and 4 %%",
				z, opacities/n, 100*(math.Exp(logs/n)-1))
		}
	}
}

func (s *sums) log(i int) float32 { return s.logs[i] / (s.wide[i] + s.narrow[i]) }

func opacityOf(g float32) float64 {
	return maxOpacity * min(1, (1-math.Exp(-opacityGain*float64(g)))/saturated)
}

func TestFewLakesAreStamped(t *testing.T) {
	if l := layerOf(district(maxStamped)...); len(l.bins) != 0 {
		t.Errorf("%d lakes are binned up to zoom %d", maxStamped, len(l.bins)-1)
	}
	l := layerOf(district(5 * maxStamped)...)
	if len(l.bins) == 0 {
		t.Fatalf("%d lakes are not binned", 5*maxStamped)
	}
	for z := range l.bins {
		count := 0.0
		for _, p := range l.bins[z].places {
			count += float64(p.count)
		}
		if count != 5*maxStamped {
			t.Errorf("zoom %d: %v lakes in bins, want %d", z, count, 5*maxStamped)
		}
	}
	if a, b := len(l.bins[0].places), len(l.lakes.places); a > b/100 {
		t.Errorf("zoom 0 has %d bins of %d lakes, want few", a, b)
	}
}
