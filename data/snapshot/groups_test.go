package snapshot

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"limnomap/data"
)

// TestQuantilesAreThoseOfHyndmanAndFan compares with the results of R's quantile(x, p, type = 7).
func TestQuantilesAreThoseOfHyndmanAndFan(t *testing.T) {
	for _, test := range []struct {
		values  []data.Chlorophyll
		percent int
		want    float64
	}{
		{[]data.Chlorophyll{7_00}, 0, 7}, {[]data.Chlorophyll{7_00}, 50, 7}, {[]data.Chlorophyll{7_00}, 100, 7},
		{[]data.Chlorophyll{1_00, 2_00}, 50, 1.5}, {[]data.Chlorophyll{1_00, 2_00}, 10, 1.1},
		{[]data.Chlorophyll{1_00, 2_00, 3_00, 4_00}, 25, 1.75}, {[]data.Chlorophyll{1_00, 2_00, 3_00, 4_00}, 90, 3.7},
		{[]data.Chlorophyll{0, 1, 1}, 10, 0.002}, {[]data.Chlorophyll{0, data.MaxChlorophyll}, 75, 1125},
	} {
		g := Group{Values: test.values}
		if got, ok := g.Quantile(test.percent); !ok || got != test.want {
			t.Errorf("%d %% of %v = %v, %v, want %v", test.percent, test.values, got, ok, test.want)
		}
	}
	if _, ok := new(Group).Quantile(50); ok {
		t.Error("no values have a median")
	}
}

// TestGroupsHaveEveryLake checks that each grouping has every lake once, and no value of a lake without one.
func TestGroupsHaveEveryLake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := &View{}
		with := 0
		for range rapid.IntRange(0, 40).Draw(t, "lakes") {
			lake := data.Lake{Region: rapid.SampledFrom([]string{"", "A", "B", "Ä"}).Draw(t, "region")}
			state := unknownState()
			state.Risk = data.Risk(rapid.IntRange(0, int(data.RiskHigh)).Draw(t, "risk"))
			if state.Risk != data.RiskUnknown && rapid.Bool().Draw(t, "current") {
				state.Chlorophyll = data.Chlorophyll(rapid.IntRange(0, 100).Draw(t, "chl"))
				state.Trophic = data.Trophic(rapid.IntRange(0, int(data.Hypertrophic)).Draw(t, "trophic"))
				with++
			}
			v.Lakes, v.States = append(v.Lakes, lake), append(v.States, state)
		}
		for _, by := range Groupings() {
			all, groups := v.Groups(by)
			lakes, values := 0, 0
			for i, g := range groups {
				lakes += g.Lakes
				values += len(g.Values)
				if g.Risks[data.RiskLow]+g.Risks[data.RiskMedium]+g.Risks[data.RiskHigh] != len(g.Values) || g.Risks[data.RiskUnknown] != 0 {
					t.Fatalf("%s %q counts %v at risk of %d values", by, g.Name, g.Risks, len(g.Values))
				}
				if !slices.IsSorted(g.Values) || g.Name == "" && i != len(groups)-1 {
					t.Fatalf("%s: group %d of %d is %+v", by, i, len(groups), g)
				}
				if by == ByRisk && g.Name == "" && len(g.Values) > 0 {
					t.Fatalf("lakes with a value are at no risk: %+v", g)
				}
			}
			if all.Lakes != len(v.Lakes) || lakes != all.Lakes || len(all.Values) != with || values != with {
				t.Fatalf("by %s there are %d and %d lakes, %d and %d values, want %d and %d", by, all.Lakes, lakes, len(all.Values), values, len(v.Lakes), with)
			}
		}
	})
}
