package render

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb/maptile"
)

// TestRoomIsThatOfTheNearest compares the room of lakes with that from the distance to all others.
func TestRoomIsThatOfTheNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	var lakes []testLake
	for range 700 {
		spread := math.Pow(10, -5*rng.Float64())
		lakes = append(lakes, testLake{lon: 10 + 100*spread*rng.NormFloat64(), lat: 20 + 20*spread*rng.NormFloat64()})
	}
	l := layerOf(append(lakes, lakes[:20]...)...)
	for i := range l.sites {
		least := math.Inf(1)
		for j := range l.sites {
			if j != i {
				least = min(least, math.Hypot(float64(l.sites[i].x)-float64(l.sites[j].x), float64(l.sites[i].y)-float64(l.sites[j].y)))
			}
		}
		want := site{blob: math.MinInt8, room: math.MinInt8}
		if least > 0 {
			want.room = sizeOf(0.7 * least / (1 << 24))
		}
		got := l.sites[i]
		got.blob = math.MinInt8
		for z := range maptile.Zoom(waterZoom) {
			if got.size(z) != want.size(z) {
				t.Fatalf("a site at %d, %d has size %d at zoom %d, want %d: the nearest one is %.0f away", got.x, got.y, got.size(z), z, want.size(z), least)
			}
		}
	}
}

func BenchmarkRoom(b *testing.B) {
	l := layerOf(world(1_400_000)...)
	for b.Loop() {
		l.measureRoom()
	}
}
