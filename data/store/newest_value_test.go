package store

import (
	"testing"
	"time"

	"limnomap/data"
)

// The newest value is the newest measured one, whatever its source is, and a gap is none.
func testNewestValue(t *testing.T, open opener) {
	s := open(t, time.Now)
	sample := testObservation("a", 20, data.InSitu, 700)
	sample.Source, sample.Level, sample.CellDensity = "Labor", 2, 5
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, []data.Observation{
		testObservation("a", 10, data.Satellite, 600), sample, testObservation("a", 500, data.Satellite, data.NoChlorophyll), testObservation("a", 900, data.Forecast, 800),
	})
	want := data.Observation{Date: 20, Chlorophyll: 700, Level: 2, CellDensity: 5}
	err := s.Import(t.Context(), func(tx Tx) error {
		for id, want := range map[data.LakeID]data.Optional[data.Observation]{"a": data.Known(want), "b": {}, "nowhere": {}} {
			if got, err := tx.NewestValue(t.Context(), id); err != nil || got != want {
				t.Errorf("NewestValue(%s) = %+v, %v, want %+v", id, got, err, want)
			}
		}
		if n, err := tx.LakesWithValues(t.Context()); err != nil || n != 1 {
			t.Errorf("LakesWithValues = %d, %v, want 1", n, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
