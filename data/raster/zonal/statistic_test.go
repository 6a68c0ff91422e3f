package zonal

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The value of a place is that of sorted values, also among equal ones, and those before and after it are on the right side.
func TestPlaceNth(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		values := make([]float64, 1+random.IntN(300))
		kinds := 1 + random.IntN(len(values))
		for i := range values {
			values[i] = float64(random.IntN(kinds)) - float64(kinds)/2
		}
		if random.IntN(4) == 0 {
			slices.Sort(values)
		}
		sorted := slices.Sorted(slices.Values(values))
		n := random.IntN(len(values))
		if got := placeNth(values, n); got != sorted[n] || slices.Max(values[:n+1]) != got || slices.Min(values[n:]) != got {
			t.Fatalf("value %d is %v in %v, want %v", n, got, values, sorted[n])
		}
		if slices.Sort(values); !slices.Equal(values, sorted) {
			t.Fatal("values were lost")
		}
	}
}
