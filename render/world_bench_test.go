package render

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// world returns n lakes in districts, like those of the world: a few are as dense as Finland, most are small.
func world(n int) []testLake {
	rng := rand.New(rand.NewPCG(7, 8))
	lakes := make([]testLake, 0, n)
	for len(lakes) < n {
		lon, lat := rng.Float64()*360-180, rng.Float64()*125-55
		spread := 0.3 + 4*rng.Float64()
		// Pareto: of 2,000 districts the largest has a twentieth of all lakes.
		for range min(int(50/math.Pow(rng.Float64(), 1.1)), 70_000, n-len(lakes)) {
			lakes = append(lakes, testLake{
				lon: math.Mod(lon+rng.NormFloat64()*spread+540, 360) - 180,
				lat: max(min(lat+rng.NormFloat64()*spread/2, 83), -56),
				chl: math.Round(100*min(math.Exp(1.6+rng.NormFloat64()), 1500)) / 100,
			})
		}
	}
	return lakes
}

// BenchmarkWorld draws tiles of 1.4 million lakes at random lakes, so that dense districts are drawn more often.
func BenchmarkWorld(b *testing.B) {
	const n = 1_400_000
	lakes := world(n)
	started := time.Now()
	l := layerOf(lakes...)
	b.Logf("layer in %v, blurred at %d zooms", time.Since(started).Round(time.Millisecond), blurredZooms(l))
	for _, style := range []StyleID{Heat, Dots, Lakes} {
		for z := maptile.Zoom(0); z <= 12; z++ {
			b.Run(fmt.Sprintf("%s/z%d", style, z), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(9, 10))
				var times []time.Duration
				b.ReportAllocs()
				for b.Loop() {
					at := lakes[rng.IntN(n)]
					s := Spec{Tile: maptile.At(orb.Point{at.lon, at.lat}, z), Scale: 1, Style: style, Colormap: colormap.Default}
					before := time.Now()
					mustRender(b, l, s)
					times = append(times, time.Since(before))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
			})
		}
	}
}
