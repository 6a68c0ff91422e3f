package data_test

import (
	"cmp"
	"testing"

	"limnomap/data"
)

func TestCompareRasterRows(t *testing.T) {
	row := func(chl data.Chlorophyll, q data.Quality) data.Observation {
		o := data.Observation{Chlorophyll: chl, Quality: q, Level: data.NoLevel, CellDensity: data.NoCellDensity}
		o.Details.ValidPixels, o.Details.TotalPixels = data.Known(int32(0)), data.Known(int32(0))
		return o
	}
	ranks := [][]data.Observation{ // the worst first
		{row(data.NoChlorophyll, data.Poor), row(data.NoChlorophyll, data.QualityUnknown), row(data.NoChlorophyll, data.Good)},
		{row(0, data.Poor), row(900, data.Poor)},
		{row(0, data.Suspect), row(900, data.Suspect)},
		{row(0, data.Good), row(900, data.QualityUnknown)},
	}
	for i, as := range ranks {
		for k, bs := range ranks {
			for _, a := range as {
				for _, b := range bs {
					if got := data.CompareRasterRows(&a, &b); cmp.Compare(got, 0) != cmp.Compare(i, k) {
						t.Errorf("CompareRasterRows(%v %q, %v %q) = %d, want the sign of %d", a.Chlorophyll, a.Quality, b.Chlorophyll, b.Quality, got, i-k)
					}
				}
			}
		}
	}
	for name, edit := range map[string]func(*data.Observation){
		"without n_valid": func(o *data.Observation) { o.Details.ValidPixels = data.Optional[int32]{} },
		"without n_total": func(o *data.Observation) { o.Details.TotalPixels = data.Optional[int32]{} },
		"of a sample":     func(o *data.Observation) { o.Type = data.InSitu },
		"of a forecast":   func(o *data.Observation) { o.Type = data.Forecast },
	} {
		gap, value := row(data.NoChlorophyll, data.QualityUnknown), row(900, data.Good)
		edit(&gap)
		if a, b := data.CompareRasterRows(&gap, &value), data.CompareRasterRows(&value, &gap); a != 0 || b != 0 {
			t.Errorf("a gap %s and a value: %d, and %d the other way round, want 0", name, a, b)
		}
	}
}
