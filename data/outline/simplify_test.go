package outline

import (
	"testing"

	"github.com/paulmach/orb"
)

// Simplifying n points takes up to n²/2 steps, which a zigzag line needs. The largest lake must not take billions.
func TestSimplifyTakesBoundedSteps(t *testing.T) {
	for _, points := range []int{maxWhole, maxWhole + 1, MaxPoints} {
		ring := make(orb.Ring, points-2, points)
		for i := range ring {
			ring[i] = orb.Point{float64(i) * 1e-4, 0.01 + 0.99*float64(i%2)}
		}
		ring = append(ring, orb.Point{float64(points) * 1e-4, 0}, ring[0])
		r := shoreRing{points: ring, long: points > maxWhole}
		steps, end := 0, ring[0]
		for part := range r.parts() {
			steps += len(part) * len(part) / 2
			if part[0] != end {
				t.Fatalf("%d points: a part begins with %v, want the end %v of the part before", points, part[0], end)
			}
			end = part[len(part)-1]
		}
		if end != ring[len(ring)-1] {
			t.Errorf("%d points: the last part ends with %v, want %v", points, end, ring[len(ring)-1])
		}
		if most := points * maxPart; points > maxWhole && steps > most {
			t.Errorf("%d points take up to %d steps, want at most %d", points, steps, most)
		}
		if simple, _ := r.simplify(1e-6); len(simple.points) < points/2 {
			t.Errorf("%d points are simplified to %d, want a zigzag that keeps most of them", points, len(simple.points))
		}
	}
}
