package render

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// manyShores returns n lakes with outlines of 50 to 250 points over an area as large as Germany, with the sizes of real lakes,
// and among them one as large as the Caspian Sea with 20,000 points.
func manyShores(b *testing.B, n int) []testShore {
	rng := rand.New(rand.NewPCG(7, 8))
	var lakes []testShore
	for range n {
		lon, lat := 6+9*rng.Float64(), 47.5+7*rng.Float64()
		// The number of lakes is inversely proportional to their area (Downing 2006).
		area := min(0.01/(1-rng.Float64()), 500)
		radius := math.Sqrt(area/math.Pi) / 111 / math.Cos(lat*math.Pi/180)
		chl := math.Round(100*math.Exp(1.5+rng.NormFloat64())) / 100
		shore := bay(lon, lat, radius, 50+rng.IntN(200), rng.Float64()*6)
		lakes = append(lakes, testShore{testLake{lon, lat, chl, area}, orb.MultiPolygon{{shore}}})
	}
	sea := bay(11, 51, 5, 20_000, 1)
	return append(lakes, testShore{testLake{11, 51, 3, 371_000}, orb.MultiPolygon{{sea}}})
}

// BenchmarkShores draws tiles of 100,000 lakes with outlines, and makes their layer.
func BenchmarkShores(b *testing.B) {
	lakes := manyShores(b, 100_000)
	v := viewOfShores(b, lakes)
	l := renderer().Layer(v.Values())
	for _, z := range []maptile.Zoom{6, 8, 9, 10, 11, 12, 14, 16, 18} {
		tiles := tilesOver(places(lakes), z)
		for _, scale := range []int{1, 2} {
			b.Run(fmt.Sprintf("z%d@%dx", z, scale), func(b *testing.B) {
				b.ReportAllocs()
				n, size := 0, 0
				for b.Loop() {
					s := Spec{Tile: tiles[n%len(tiles)], Scale: scale, Style: Lakes, Colormap: colormap.Default}
					size += len(mustRender(b, l, s))
					n++
				}
				b.ReportMetric(float64(size)/float64(n), "file-B/op")
			})
		}
	}
	b.Run("layer", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			renderer().Layer(v.Values())
		}
	})
}
