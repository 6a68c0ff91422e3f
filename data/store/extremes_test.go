package store

import (
	"math"
	"slices"
	"testing"
	"time"

	"limnomap/data"
)

// testExtremes stores valid, unusual values and wants exactly the same back: replicas on both kinds of store must make the
// same snapshot.
func testExtremes(t *testing.T, open opener) {
	s := open(t, time.Now)
	zero := testLake("Z")
	zero.Point[0], zero.Point[1], zero.AreaKM2 = math.Copysign(0, -1), math.Copysign(0, -1), math.Copysign(0, -1)
	edge := testLake("a-b")
	edge.Point[0], edge.Point[1], edge.AreaKM2 = -180, 90, math.MaxFloat64
	small := testLake("a.b")
	small.Point[0], small.Point[1], small.AreaKM2 = math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64
	last := testLake("a_b")
	lakes := []data.Lake{zero, edge, small, last}
	all := data.AllTime()
	var observations []data.Observation
	for i, l := range lakes {
		for _, d := range []data.Date{all.First, -1, 0, 1, all.Last} {
			o := testObservation(l.ID, d, data.Satellite, data.MaxChlorophyll)
			o.CellDensity = []float64{math.Copysign(0, -1), math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1}[i]
			o.MeasuredAt = d.Time().Add(time.Second)
			observations = append(observations, o)
		}
	}
	put(t, s, lakes, observations)
	_, gotLakes, gotObservations := scan(t, s)
	bits := math.Float64bits
	same := func(a, b data.Lake) bool {
		return a == b && bits(a.Point[0]) == bits(b.Point[0]) && bits(a.Point[1]) == bits(b.Point[1]) && bits(a.AreaKM2) == bits(b.AreaKM2)
	}
	zero.Point[0], zero.Point[1], zero.AreaKM2 = 0, 0, 0 // without the sign of zero
	lakes[0] = zero
	if !slices.EqualFunc(gotLakes, lakes, same) {
		t.Errorf("lakes = %v, want %v", gotLakes, lakes)
	}
	for i := range observations {
		if observations[i].CellDensity == 0 {
			observations[i].CellDensity = 0 // also without the sign
		}
	}
	if !slices.EqualFunc(gotObservations, observations, func(a, b data.Observation) bool { return a == b && bits(a.CellDensity) == bits(b.CellDensity) }) {
		t.Errorf("observations = %v, want %v", gotObservations, observations)
	}
	// Again, it changes nothing.
	ofLakes, ofObservations := put(t, s, lakes, observations)
	for i, c := range slices.Concat(ofLakes, ofObservations) {
		if c != Unchanged {
			t.Errorf("row %d again = %v, want unchanged", i, c)
		}
	}
}
