package data_test

import (
	"cmp"
	"testing"

	"limnomap/data"
)

// satelliteRow returns a row of a satellite with 5 of 25 pixels.
func satelliteRow(version string, chl data.Chlorophyll, q data.Quality) data.Observation {
	o := data.Observation{Chlorophyll: chl, Quality: q, Level: data.NoLevel, CellDensity: data.NoCellDensity}
	o.Details.Version, o.Details.ValidPixels, o.Details.TotalPixels = version, data.Known(int32(5)), data.Known(int32(25))
	return o
}

func TestCompareSatelliteRows(t *testing.T) {
	const none = data.QualityUnknown
	valid := func(n int32, o data.Observation) data.Observation {
		o.Details.ValidPixels.Value = n
		return o
	}
	below := func(o data.Observation) data.Observation {
		o.Details.BelowLimit = true
		return o
	}
	cells := func(density float64, o data.Observation) data.Observation {
		o.CellDensity = density
		return o
	}
	gap, poor, suspect, value := satelliteRow("", data.NoChlorophyll, none), satelliteRow("", 900, data.Poor), satelliteRow("", 900, data.Suspect), satelliteRow("", 700, none)
	for _, test := range []struct {
		name          string
		better, worse data.Observation // or equal, if by is NoRule
		by            data.SatelliteRule
	}{
		{"a newer version with fewer pixels", valid(1, satelliteRow("V2.1.1", 700, none)), satelliteRow("V2.1.0", 700, none), data.ByVersion},
		{"a gap of a newer version", satelliteRow("V2", data.NoChlorophyll, none), satelliteRow("V1", 700, none), data.ByVersion},
		{"equal versions in other words", satelliteRow("v2.01", 700, none), satelliteRow("V2.1", data.NoChlorophyll, none), data.ByQuality},
		{"a value with a version, a gap without one", satelliteRow("V2", 700, none), valid(9, gap), data.ByQuality},
		{"a value without a version, a gap with one", value, satelliteRow("V2", data.NoChlorophyll, none), data.ByQuality},
		{"a poor value, a gap", valid(1, poor), gap, data.ByQuality},
		{"a suspect value, a poor one", valid(1, suspect), poor, data.ByQuality},
		{"a value, a suspect one", valid(1, value), suspect, data.ByQuality},
		{"a good value, a suspect one", satelliteRow("", 700, data.Good), suspect, data.ByQuality},
		{"more pixels", valid(6, value), satelliteRow("", 9900, none), data.ByPixels},
		{"more pixels of a gap", valid(6, gap), gap, data.ByPixels},
		{"the larger value", satelliteRow("", 701, none), value, data.ByValue},
		{"a value, one below a limit", satelliteRow("", 1, none), below(value), data.ByValue},
		{"good and unknown", satelliteRow("", 700, data.Good), value, data.NoRule},
		{"gaps", gap, satelliteRow("", data.NoChlorophyll, data.Good), data.NoRule},
		{"below two limits", below(value), below(satelliteRow("", 9, none)), data.NoRule},
		{"more cells below two limits", cells(30_000, below(value)), cells(20_000, below(satelliteRow("", 9, none))), data.ByValue},
		{"cells, and none", cells(7000, below(value)), below(value), data.ByValue},
		{"zero, and below a limit", satelliteRow("", 0, none), below(value), data.NoRule},
	} {
		want := 1
		if test.by == data.NoRule {
			want = 0
		}
		if order, by := data.CompareSatelliteRows(&test.better, &test.worse); order != want || by != test.by {
			t.Errorf("%s: %d by rule %d, want %d by rule %d", test.name, order, by, want, test.by)
		}
		if order, by := data.CompareSatelliteRows(&test.worse, &test.better); cmp.Compare(order, 0) != -want || by != test.by {
			t.Errorf("%s, the other way round: %d by rule %d, want %d by rule %d", test.name, order, by, -want, test.by)
		}
	}
}

// Without the pixels of both rows only the version counts, and of what no satellite has seen nothing does.
func TestCompareSatelliteRowsWithoutPixels(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*data.Observation)
		by   data.SatelliteRule
	}{
		"without n_valid": {func(o *data.Observation) { o.Details.ValidPixels = data.Optional[int32]{} }, data.ByVersion},
		"without n_total": {func(o *data.Observation) { o.Details.TotalPixels = data.Optional[int32]{} }, data.ByVersion},
		"of a sample":     {func(o *data.Observation) { o.Type = data.InSitu }, data.NoRule},
		"of a forecast":   {func(o *data.Observation) { o.Type = data.Forecast }, data.NoRule},
	} {
		for version, by := range map[string]data.SatelliteRule{"": data.NoRule, "V1": test.by} {
			old, newer := satelliteRow(version, data.NoChlorophyll, data.QualityUnknown), satelliteRow("V2", 900, data.Good)
			test.edit(&old)
			want := 0
			if by == data.ByVersion {
				want = 1
			}
			if order, got := data.CompareSatelliteRows(&newer, &old); order != want || got != by {
				t.Errorf("a value and a gap %s with version %q: %d by rule %d, want %d by rule %d", name, version, order, got, want, by)
			}
			if order, got := data.CompareSatelliteRows(&old, &newer); order != -want || got != by {
				t.Errorf("a gap %s with version %q and a value: %d by rule %d, want %d by rule %d", name, version, order, got, -want, by)
			}
		}
	}
}
