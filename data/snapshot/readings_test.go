package snapshot

import (
	"testing"
	"time"
	"unsafe"

	"limnomap/data"
)

// The memory estimates depend on these two sizes.
func TestSizes(t *testing.T) {
	if got := unsafe.Sizeof(reading(0)); got != 8 {
		t.Errorf("a reading takes %d bytes, want 8", got)
	}
	if got := unsafe.Sizeof(State{}); int64(got) != stateBytes {
		t.Errorf("a State takes %d bytes, newViewCache reckons with %d", got, stateBytes)
	}
}

func TestViewCacheIsBounded(t *testing.T) {
	tests := []struct{ lakes, want int }{
		{0, maxViews}, {1892, maxViews}, {1_400_000, 2}, {100_000_000, minViews},
	}
	for _, tt := range tests {
		c, err := newViewCache(stateBytes*int64(tt.lakes), defaultViewMemory/2)
		if err != nil {
			t.Fatal(err)
		}
		for w := range data.Week(2 * maxViews) {
			c.Add(w, &View{Week: w})
		}
		if got := c.Len(); got != tt.want {
			t.Errorf("newViewCache(%d) holds %d views, want %d", tt.lakes, got, tt.want)
		}
	}
}

// A reading keeps the period of its value, with a time of the day or without, and with cells or without.
func TestReadingKeepsThePeriod(t *testing.T) {
	const day = data.Date(20_000)
	for _, days := range []data.Date{-1, 0, 6, data.MaxPeriod} {
		for composite := data.NoComposite; composite <= data.MedianComposite; composite++ {
			for _, taken := range []time.Time{{}, day.Time().Add(12 * time.Hour), day.Time().Add(36 * time.Hour)} {
				for _, cells := range []float64{data.NoCellDensity, 5} {
					want := data.Observation{Date: day, Chlorophyll: 3_00, Level: data.NoLevel, CellDensity: cells, MeasuredAt: taken, Details: data.Details{Composite: composite}}
					if days >= 0 {
						want.Details.PeriodStart = data.Known(day - days)
					}
					if err := want.Check(); err != nil {
						t.Fatal(err)
					}
					var g readingGroup
					g.add(0, want)
					got, seconds, hasTime := g.of(0).observation(0)
					if got.Details != want.Details || got.CellDensity != cells || seconds != want.Taken().Unix() || hasTime == taken.IsZero() {
						t.Errorf("%+v is read as %+v at %d (%v)", want, got, seconds, hasTime)
					}
				}
			}
		}
	}
}
