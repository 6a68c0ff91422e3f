package render

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb/maptile"
)

// TestRoomIsThatOfTheNearest compares the room of lakes with that from the distances to all others. Of those in one pixel only the first counts. Crowds have
// the smallest discs.
func TestRoomIsThatOfTheNearest(t *testing.T) {
	for _, n := range []int{2, 20, 700} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { testRoom(t, n) })
	}
}

func testRoom(t *testing.T, n int) {
	rng := rand.New(rand.NewPCG(21, 22))
	var lakes []testLake
	for range n {
		spread := math.Pow(10, -5*rng.Float64())
		lakes = append(lakes, testLake{lon: 10 + 100*spread*rng.NormFloat64(), lat: 20 + 20*spread*rng.NormFloat64()})
	}
	l := layerOf(append(lakes, lakes[:n/35]...)...)
	sizes := map[size]int{}
	for z := range maptile.Zoom(waterZoom) {
		pixel := worldBits - tileBits - uint(z)
		var firsts []*site
		for i := range l.sites {
			if i == 0 || l.codes[i]>>(2*pixel) != l.codes[i-1]>>(2*pixel) {
				firsts = append(firsts, &l.sites[i])
			}
			of := firsts[len(firsts)-1]
			least := math.Inf(1)
			for j := range l.sites {
				s := &l.sites[j]
				if j > 0 && l.codes[j]>>(2*pixel) == l.codes[j-1]>>(2*pixel) {
					continue
				}
				if d := math.Hypot(float64(of.x)-float64(s.x), float64(of.y)-float64(s.y)) / math.Exp2(float64(pixel)); d >= 2.42 {
					least = min(least, d)
				}
			}
			want := size(min(max(int(math.Round(4*math.Log2(0.57*least/1.87))), smallest), lone))
			same := 0
			for j := range l.codes {
				if l.codes[j]>>(2*pixel+6) == l.codes[i]>>(2*pixel+6) {
					same++
				}
			}
			if math.IsInf(least, 1) {
				want = lone
			}
			if same >= 48 {
				want = smallest
			}
			got := l.sites[i]
			got.blob = math.MinInt8
			if sizes[want]++; got.size(z, false) != want {
				t.Fatalf("a site at %d, %d has size %d at zoom %d, want %d: the nearest one is %.2f pixels away", got.x, got.y, got.size(z, false), z, want, least)
			}
		}
	}
	if n == 700 && len(sizes) != lone-smallest+1 {
		t.Errorf("only the sizes %v", sizes)
	}
}

func BenchmarkRoom(b *testing.B) {
	l := layerOf(world(1_400_000)...)
	for b.Loop() {
		l.measureRooms()
	}
}
