package demo

import (
	"testing"
	"time"

	"limnomap/data"
)

// TestEveryRiskInEveryWeek looks at each week of some three-year windows, and of the newest week in forty years, with
// the contract's rule of the current value: the newest one of at most 28 days before the newest pass.
func TestEveryRiskInEveryWeek(t *testing.T) {
	const fresh = 28 / 7 // weeks
	profile := data.Profiles()[0]
	m := models(parseLakes(lakesCSV))

	least, most := map[data.Risk]int{}, map[data.Risk]int{}
	check := func(e *edition, newest int) {
		t.Helper()
		count := map[data.Risk]int{}
		for i := range m {
			current := data.NoChlorophyll
			for k := newest; k >= newest-fresh && !current.Valid(); k-- {
				current = e.observation(i, k).Chlorophyll
			}
			count[profile.Level(current).Risk()]++
		}
		for _, r := range []data.Risk{data.RiskLow, data.RiskMedium, data.RiskHigh, data.RiskUnknown} {
			if count[r] == 0 {
				t.Errorf("%v: no lake of risk %v: %v", e.first()+data.Week(newest), r, count)
			}
			if _, seen := least[r]; !seen || count[r] < least[r] {
				least[r] = count[r]
			}
			most[r] = max(most[r], count[r])
		}
		if count[data.RiskUnknown] > len(m)/5 {
			t.Errorf("%v: %d of %d lakes without a current value, want at most a fifth", e.first()+data.Week(newest), count[data.RiskUnknown], len(m))
		}
	}

	// The windows of 2011 to 2050 that touch each other, so that each week of those years is the newest once.
	const step = passes - 1 - fresh
	for year := time.Date(2011, time.January, 5, 12, 0, 0, 0, time.UTC); year.Year() < 2050; year = year.AddDate(0, 0, 7*step) {
		e := newEdition(m, newestPass(year))
		for k := fresh; k < passes; k++ {
			check(e, k)
		}
	}
	t.Logf("fewest lakes of a risk in a week: %v, most: %v", least, most)
}
