package index

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/fold"
)

// world returns lakes in clusters, as lake districts are, with names of the usual length, in provinces. The same count gives the same
// lakes.
func world(count int) []data.Lake {
	rng := rand.New(rand.NewPCG(1, 2))
	var centre orb.Point
	lakes := make([]data.Lake, count)
	for i := range lakes {
		if i%500 == 0 {
			centre = orb.Point{rng.Float64()*340 - 170, rng.Float64()*130 - 55}
		}
		id := data.LakeID(fmt.Sprintf("SIM_%03d_%07d", i/500%1000, i))
		name := []string{"Großer Müggelsee", "Lac de Saint-Point", "Loch Lomond", "Stora Sjön", "Lake Reindeer"}[i%5]
		lakes[i] = data.Lake{ID: id, ExternalID: string(id), Name: fmt.Sprint(name, " ", i),
			Region: fmt.Sprintf("Province %d", i/10_000), Point: orb.Point{centre.Lon() + rng.Float64()*8 - 4, centre.Lat() + rng.Float64()*6 - 3}}
	}
	return lakes
}

// sizes are the lakes that Germany has, and the world.
var sizes = []int{1_892, 1_400_000}

// heapOf returns what make leaves in use.
func heapOf[T any](tb testing.TB, make func() T) (T, float64) {
	tb.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	made := make()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return made, float64(int64(after.HeapAlloc) - int64(before.HeapAlloc))
}

func BenchmarkNearest(b *testing.B) {
	for _, size := range sizes {
		lakes := world(size)
		places, bytes := heapOf(b, func() *PointIndex { return NewPointIndex(lakes) })
		for _, ask := range []struct {
			name   string
			within int
			limit  int
		}{{"10in50km", 50e3, 10}, {"10anywhere", maxMetres, 10}, {"1000anywhere", maxMetres, 1000}} {
			b.Run(fmt.Sprintf("%d/%s", size, ask.name), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(3, 4))
				b.ReportAllocs()
				for b.Loop() {
					// People ask where lakes are.
					at := lakes[rng.IntN(len(lakes))].Point
					places.Nearest(lakes, orb.Point{at.Lon() + rng.Float64(), at.Lat() + rng.Float64()}, ask.within, ask.limit)
				}
				b.ReportMetric(bytes/float64(size), "B/lake")
			})
		}
	}
}

func BenchmarkFind(b *testing.B) {
	for _, size := range sizes {
		lakes := world(size)
		names, held := heapOf(b, func() *NameIndex { return NewNameIndex(lakes) })
		last := string(bytes.TrimSpace(fold.Append(nil, lakes[size-1].Name, fold.Bare)))
		for _, q := range []string{"muggelsee", "s", "gg", "ee", last, last[1:], "nowhere", "ee nowhere", "Stora Sjö", "province", "mugelsee", "lake 7", "province 13 muggelsee"} {
			b.Run(fmt.Sprintf("%d/%s", size, q), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					names.Find(q, 10)
				}
				b.ReportMetric(held/float64(size), "B/lake")
			})
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for _, size := range sizes {
		lakes := world(size)
		b.Run(fmt.Sprintf("PointIndex/%d", size), func(b *testing.B) {
			for b.Loop() {
				NewPointIndex(lakes)
			}
		})
		b.Run(fmt.Sprintf("NameIndex/%d", size), func(b *testing.B) {
			for b.Loop() {
				NewNameIndex(lakes)
			}
		})
	}
}
