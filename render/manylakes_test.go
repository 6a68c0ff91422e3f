package render

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/paulmach/orb/maptile"
)

const (
	// manyLakesCount is the number of lakes of manyLakes: zooms 0 and 1 have grids and thinned markers.
	manyLakesCount = 17_000
	// manyLakesRoomy is the first zoom at which each of them has a marker.
	manyLakesRoomy = maptile.Zoom(2)
)

// manyLakes is thousands of lakes around a point on the equator, most of them north-east of it and some at the same point. Many
// have the same value, so that their order matters, or none; some are wider than the smallest disc.
func manyLakes(lon float64) []testLake {
	rng := rand.New(rand.NewPCG(11, 12))
	lakes := make([]testLake, manyLakesCount)
	for i := range lakes {
		l := &lakes[i]
		*l = testLake{lon: lon + 0.7 + 1.5*rng.NormFloat64(), lat: 0.5 + rng.NormFloat64(), chl: []float64{-1, 8, 8, 60, 0}[i%5]}
		if i%5 == 4 {
			l.chl = math.Round(100*math.Exp(1.5+rng.NormFloat64())) / 100
		}
		if i%101 == 7 {
			l.areaKM2 = math.Pow(10, 2+3*rng.Float64())
		}
		if i%10 == 9 {
			l.lon, l.lat = lakes[i-3].lon, lakes[i-3].lat // of 8 µg/l
		}
	}
	return lakes
}

// manyLakesLayers are the layers of manyLakes at corners of tiles of all zooms from 1 on: where the equator crosses the prime meridian
// and the antimeridian.
var manyLakesLayers = sync.OnceValue(func() [2]*Layer {
	return [2]*Layer{layerOf(manyLakes(0)...), layerOf(manyLakes(180)...)}
})

// TestTilesOfManyLakesAreCrops compares the tiles around the corner with one larger render: markers and waters at the zooms where
// they are thinned and at the next, the field at the zooms where it is blurred and at the next.
func TestTilesOfManyLakesAreCrops(t *testing.T) {
	for i, l := range manyLakesLayers() {
		stamped := maptile.Zoom(blurredZooms(l))
		if l.roomy != manyLakesRoomy || stamped <= manyLakesRoomy || stamped > maxBlurredZoom {
			t.Fatalf("layer %d is thinned at %d zooms and blurred at %d, want %d, and more up to %d",
				i, l.roomy, stamped, manyLakesRoomy, maxBlurredZoom)
		}
		for z := range stamped + 1 {
			// The tile north-west of the corner; at zoom 0 the only one.
			tiles := uint32(1) << z
			tile := maptile.Tile{X: (tiles - 1) / 2, Y: (tiles - 1) / 2, Z: z}
			if i == 1 {
				tile.X = tiles - 1
			}
			for scale := 1; scale <= 2; scale++ {
				sameAsCrops(t, l, tile, scale, Heat)
				if z <= manyLakesRoomy {
					sameAsCrops(t, l, tile, scale, Dots)
					sameAsCrops(t, l, tile, scale, Lakes)
				}
			}
		}
	}
}

// shuffled returns the lakes in another order, which depends on seed.
func shuffled[L any](lakes []L, seed uint64) []L {
	s := slices.Clone(lakes)
	rand.New(rand.NewPCG(seed, seed)).Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}
