package forecast

import (
	"math"
	"testing"
	"time"

	"limnomap/data/forecast/exact"
)

func TestDayOfYear(t *testing.T) {
	for day := -800_000; day < 800_000; day++ {
		if got, want := dayOfYear(day), time.Unix(int64(day)*86400, 0).UTC().YearDay()-1; got != want {
			t.Fatalf("dayOfYear(%d) = %d, want %d", day, got, want)
		}
	}
}

func TestCosSin(t *testing.T) {
	for i := range cycleDays {
		c, s := cosSin(i)
		a := 2 * math.Pi * float64(i) / cycleDays // off by up to 1e-15
		if math.Abs(c-math.Cos(a)) > 2e-15 || math.Abs(s-math.Sin(a)) > 2e-15 || math.Abs(math.Hypot(c, s)-1) > 3e-16 {
			t.Errorf("cosSin(%d) = %v, %v, want %v, %v", i, c, s, math.Cos(a), math.Sin(a))
		}
		if i > 0 {
			if mc, ms := cosSin(cycleDays - i); mc != c || ms != -s {
				t.Errorf("cosSin(%d) = %v, %v, cosSin(%d) = %v, %v", i, c, s, cycleDays-i, mc, ms)
			}
		}
	}
	// One turn of 365.25 days.
	tab := sharedTables()
	for _, day := range []int{0, 1, 365, 1460, 1461, 20_000, -1, -1461} {
		a := 2 * math.Pi * float64(day) / yearDays
		h := tab.seasonOf(day)
		for k := range 3 {
			if math.Abs(h[2*k]-math.Cos(float64(k+1)*a)) > 1e-12 || math.Abs(h[2*k+1]-math.Sin(float64(k+1)*a)) > 1e-12 {
				t.Errorf("harmonics of day %d = %v", day, *h)
			}
		}
	}
}

// The quantile that bounds are made of: exact.Erfc(Within/√2)/2 is a tenth.
func TestWithin(t *testing.T) {
	if p := exact.Erfc(Within/math.Sqrt2) / 2; math.Abs(p-0.1) > 1e-16 {
		t.Errorf("%v of the values are above the upper bound", p)
	}
}
