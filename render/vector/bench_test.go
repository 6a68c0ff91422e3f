package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data/snapshot"
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
				lon:     math.Mod(lon+rng.NormFloat64()*spread+540, 360) - 180,
				lat:     max(min(lat+rng.NormFloat64()*spread/2, 83), -56),
				chl:     math.Round(100*min(math.Exp(1.6+rng.NormFloat64()), 1500)) / 100,
				areaKM2: math.Round(10/rng.Float64()) / 100, // Pareto too, in the hundredths that lists have
			})
		}
	}
	return lakes
}

// BenchmarkEncode finds and writes tiles at random lakes, so that dense districts are drawn more often.
func BenchmarkEncode(b *testing.B) {
	for _, set := range []struct {
		name  string
		lakes []testLake
	}{{"1892", grid(1892, 6, 47.3, 8)}, {"1400000", world(1_400_000)}} {
		b.Run(set.name, func(b *testing.B) {
			v := viewOf(set.lakes)
			for i := range v.Lakes { // ids of the length that the EEA's have
				v.Lakes[i].ID += "_DE_PR_x"
			}
			start := time.Now()
			x := NewIndex(v.Lakes)
			indexed := time.Now()
			l := NewLayer(x, v)
			b.Logf("index in %v, layer in %v", indexed.Sub(start).Round(time.Millisecond), time.Since(indexed).Round(time.Millisecond))
			for z := maptile.Zoom(0); z <= 10; z++ {
				b.Run(fmt.Sprintf("z%d", z), func(b *testing.B) { benchmarkZoom(b, l, v, set.lakes, z) })
			}
		})
	}
}

func benchmarkZoom(b *testing.B, l *Layer, v *snapshot.View, lakes []testLake, z maptile.Zoom) {
	rng := rand.New(rand.NewPCG(9, 10))
	var times []time.Duration
	largest, features := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		at := lakes[rng.IntN(len(lakes))]
		t := maptile.At(orb.Point{at.lon, at.lat}, z)
		before := time.Now()
		tile, err := encoder().Encode(l, v, t)
		times = append(times, time.Since(before))
		if err != nil {
			b.Fatal(err)
		}
		if len(tile) > largest {
			largest, features = len(tile), len(l.find(t))
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(largest), "most-bytes")
	b.ReportMetric(float64(features), "lakes")
}
