package data_test

import (
	"strings"
	"testing"

	"limnomap/data"
)

func TestLevel(t *testing.T) {
	tests := []struct {
		profile string
		chl     float64
		want    data.Level
	}{
		{"who2003", 0, 0},
		{"who2003", 9.99, 0},
		{"who2003", 9.994, 0},
		{"who2003", 9.996, 1}, // stored as 10.00
		{"who2003", 10, 1},
		{"who2003", 49.99, 1},
		{"who2003", 50, 2},
		{"who2003", 1500, 2}, // scum is reported by people, never derived
		{"who2021", 11.99, 0},
		{"who2021", 12.00, 0},
		{"who2021", 12.01, 1},
		{"who2021", 24, 1},
		{"who2021", 24.004, 1},
		{"who2021", 24.01, 2},
		{"uba2015", 14.99, 0},
		{"uba2015", 15, 1},
		{"uba2015", 74.99, 1},
		{"uba2015", 75, 2},
	}
	for _, tt := range tests {
		p, err := data.ProfileByID(tt.profile)
		if err != nil {
			t.Fatal(err)
		}
		c, err := data.ChlorophyllOf(tt.chl)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Level(c); got != tt.want {
			t.Errorf("%s: Level(%v) = %d, want %d", tt.profile, tt.chl, got, tt.want)
		}
	}
	for _, p := range data.Profiles() {
		if got := p.Level(data.NoChlorophyll); got != data.NoLevel {
			t.Errorf("%s: Level of a gap = %d, want none", p.ID, got)
		}
	}
}

func TestProfileByID(t *testing.T) {
	if got := data.Profiles()[0].ID; got != "who2003" {
		t.Errorf("the default profile is %s, want who2003", got)
	}
	_, err := data.ProfileByID("who1998")
	if err == nil || !strings.Contains(err.Error(), "who2003, who2021, uba2015") {
		t.Errorf("ProfileByID of an unknown id = %v, want an error that names those there are", err)
	}
}

func TestRisk(t *testing.T) {
	tests := []struct {
		level data.Level
		want  data.Risk
		name  string
	}{
		{data.NoLevel, data.RiskUnknown, "unknown"},
		{0, data.RiskLow, "low"},
		{1, data.RiskMedium, "medium"},
		{2, data.RiskHigh, "high"},
		{3, data.RiskHigh, "high"},
	}
	for _, tt := range tests {
		if got := tt.level.Risk(); got != tt.want || got.String() != tt.name {
			t.Errorf("Level(%d).Risk() = %v, want %s", tt.level, got, tt.name)
		}
		// No one may ask for lakes of unknown risk by that name.
		if got, err := data.ParseRisk(tt.name); (err == nil) != (tt.level >= 0) || err == nil && got != tt.want {
			t.Errorf("ParseRisk(%q) = %v, %v", tt.name, got, err)
		}
	}
}

func TestClassify(t *testing.T) {
	p := &data.Profiles()[0]
	scum := data.Details{Flags: data.FlagsOf(data.Ice, data.Scum)}
	tests := []struct {
		name    string
		o       data.Observation
		level   data.Level
		density float64
		basis   data.LevelBasis
	}{
		{"WHO's first pair", data.Observation{Chlorophyll: 10_00, Level: data.NoLevel, CellDensity: data.NoCellDensity}, 1, 20_000, data.ByChlorophyll},
		{"WHO's second pair", data.Observation{Chlorophyll: 50_00, Level: data.NoLevel, CellDensity: data.NoCellDensity}, 2, 100_000, data.ByChlorophyll},
		{"whole cells", data.Observation{Chlorophyll: 7, Level: data.NoLevel, CellDensity: data.NoCellDensity}, 0, 140, data.ByChlorophyll},
		{"zero is a value", data.Observation{Chlorophyll: 0, Level: data.NoLevel, CellDensity: data.NoCellDensity}, 0, 0, data.ByChlorophyll},
		{"gap", data.Observation{Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity}, data.NoLevel, data.NoCellDensity, data.NoBasis},
		{"scum seen", data.Observation{Chlorophyll: 3_00, Level: 3, CellDensity: data.NoCellDensity}, 3, 6_000, data.ByReport},
		{"cells counted", data.Observation{Chlorophyll: 3_00, Level: data.NoLevel, CellDensity: 123.5}, 0, 123.5, data.ByChlorophyll},
		{"WHO's second count", data.Observation{Chlorophyll: 5_00, Level: data.NoLevel, CellDensity: 100_000}, 2, 100_000, data.ByCells},
		{"WHO's first count", data.Observation{Chlorophyll: 5_00, Level: data.NoLevel, CellDensity: 20_000}, 1, 20_000, data.ByCells},
		{"just below it", data.Observation{Chlorophyll: 5_00, Level: data.NoLevel, CellDensity: 19_999.9}, 0, 19_999.9, data.ByChlorophyll},
		{"a source cannot lower a class", data.Observation{Chlorophyll: 60_00, Level: 0, CellDensity: 5}, 2, 5, data.ByChlorophyll},
		{"scum and cells", data.Observation{Chlorophyll: 3_00, Level: 3, CellDensity: 150_000}, 3, 150_000, data.ByReport},
		{"cells as reported", data.Observation{Chlorophyll: 3_00, Level: 2, CellDensity: 150_000}, 2, 150_000, data.ByCells},
		{"a class as reported", data.Observation{Chlorophyll: 12_00, Level: 1, CellDensity: 30_000}, 1, 30_000, data.ByChlorophyll},
		{"flag of scum", data.Observation{Chlorophyll: 5_00, Level: data.NoLevel, CellDensity: data.NoCellDensity, Details: scum}, 3, 10_000, data.ByReport},
		{"flag of scum, level below", data.Observation{Chlorophyll: 60_00, Level: 0, CellDensity: 150_000, Details: scum}, 3, 150_000, data.ByReport},
		{"another flag", data.Observation{Chlorophyll: 5_00, Level: data.NoLevel, CellDensity: data.NoCellDensity, Details: data.Details{Flags: ^data.FlagsOf(data.Scum)}}, 0, 10_000, data.ByChlorophyll},
		{"gap with a flag of scum", data.Observation{Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity, Details: scum}, data.NoLevel, data.NoCellDensity, data.NoBasis},
		{"none counted", data.Observation{Chlorophyll: 60_00, Level: data.NoLevel, CellDensity: 0}, 2, 0, data.ByChlorophyll},
	}
	for _, tt := range tests {
		if level, density := p.Classify(tt.o); level != tt.level || density != tt.density {
			t.Errorf("%s: Classify = %d, %v, want %d, %v", tt.name, level, density, tt.level, tt.density)
		}
		if basis := p.Basis(tt.level, tt.o.Chlorophyll, tt.o.CellDensity); basis != tt.basis {
			t.Errorf("%s: Basis = %s, want %s", tt.name, basis, tt.basis)
		}
	}
}

// A profile without limits of cells classifies by chlorophyll and by what the source reports, whatever the count.
func TestCellsOfTheProfile(t *testing.T) {
	for _, tt := range []struct {
		profile string
		o       data.Observation
		level   data.Level
		basis   data.LevelBasis
	}{
		{"who2003", data.Observation{Chlorophyll: 7_88, Level: data.NoLevel, CellDensity: 165_422}, 2, data.ByCells},
		{"who2021", data.Observation{Chlorophyll: 7_88, Level: data.NoLevel, CellDensity: 165_422}, 0, data.ByChlorophyll},
		{"uba2015", data.Observation{Chlorophyll: 7_88, Level: data.NoLevel, CellDensity: 165_422}, 0, data.ByChlorophyll},
		{"who2021", data.Observation{Chlorophyll: 7_88, Level: 1, CellDensity: 165_422}, 1, data.ByReport},
		{"who2021", data.Observation{Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: 165_422}, data.NoLevel, data.NoBasis},
		{"uba2015", data.Observation{Chlorophyll: 80_00, Level: data.NoLevel, CellDensity: 0}, 2, data.ByChlorophyll},
	} {
		p, err := data.ProfileByID(tt.profile)
		if err != nil {
			t.Fatal(err)
		}
		level, density := p.Classify(tt.o)
		if basis := p.Basis(level, tt.o.Chlorophyll, tt.o.CellDensity); level != tt.level || basis != tt.basis || density != tt.o.CellDensity {
			t.Errorf("%s: Classify(%+v) = %d, %v by %q, want %d by %q", tt.profile, tt.o, level, density, basis, tt.level, tt.basis)
		}
	}
}

// A rounded value is in the class of the value, is at most half a unit of its second figure away, and grows with it; each has at most two
// figures or is next to a limit.
func TestRounded(t *testing.T) {
	for _, p := range data.Profiles() {
		last := data.Chlorophyll(0)
		for c := data.Chlorophyll(0); c <= data.MaxChlorophyll; c++ {
			r := p.Rounded(c)
			unit := data.Chlorophyll(1)
			for c/unit >= 100 {
				unit *= 10
			}
			if p.Level(r) != p.Level(c) || 2*(r-c) > unit || 2*(c-r) > unit || r < last {
				t.Fatalf("%s: Rounded(%s) = %s after %s", p.ID, c, r, last)
			}
			if last = r; r%unit == 0 {
				continue
			}
			if away := min(max(c-p.Limits[0], p.Limits[0]-c), max(c-p.Limits[1], p.Limits[1]-c)); away > unit {
				t.Fatalf("%s: Rounded(%s) = %s, far from a limit", p.ID, c, r)
			}
		}
		if got := p.Rounded(data.NoChlorophyll); got != data.NoChlorophyll {
			t.Errorf("%s: Rounded of a gap = %s", p.ID, got)
		}
	}
}
