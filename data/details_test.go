package data_test

import (
	"strings"
	"testing"

	"limnomap/data"
)

// detailed is a valid sample with all details.
func detailed() data.Observation {
	return data.Observation{
		LakeID: "a", Date: 20_635, Type: data.InSitu, Source: "LfU Bayern", Chlorophyll: 12_34, Level: 1, CellDensity: 1500, Quality: data.Good,
		Details: data.Details{
			Lower: data.Known(data.Chlorophyll(10_00)), Upper: data.Known(data.Chlorophyll(15_00)), BelowLimit: true,
			ValidPixels: data.Known(int32(7)), TotalPixels: data.Known(int32(9)), Flags: data.FlagsOf(data.Scum, data.HoldTime),
			Method: "DIN 38409-60", Version: "V2.1.1 2025-09-14T10:00", Secchi: data.Known(data.Hundredths(2_50)), WaterTemperature: data.Known(data.Hundredths(-50)),
			PeriodStart: data.Known(data.Date(20_635 - 366)), Composite: data.MedianComposite, Turbidity: data.Known(data.MaxTurbidity), ScumPercent: data.Known(data.MaxPercent),
		},
	}
}

func TestDetailsCheck(t *testing.T) {
	if err := detailed().CheckImport(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*data.Observation)
		want   string // in the error
	}{
		{"an unknown quality", func(o *data.Observation) { o.Quality = data.Poor + 1 }, "quality"},
		{"an unknown type", func(o *data.Observation) { o.Type = data.InSitu + 1 }, "data_type"},
		{"a long source", func(o *data.Observation) { o.Source = strings.Repeat("a", 201) }, "source"},
		{"a source that turns text around", func(o *data.Observation) { o.Source = "a\u202eb" }, "source"},
		{"a source on two lines", func(o *data.Observation) { o.Source = "a\nb" }, "source"},
		{"a method that turns text around", func(o *data.Observation) { o.Details.Method = "a\u202eb" }, "method"},
		{"a long version", func(o *data.Observation) { o.Details.Version = strings.Repeat("é", 65) }, "version"},
		{"a version on two lines", func(o *data.Observation) { o.Details.Version = "2\n1" }, "version"},
		{"a version that turns text around", func(o *data.Observation) { o.Details.Version = "a\u202eb" }, "version"},
		{"a lower limit above the value", func(o *data.Observation) { o.Details.Lower.Value = 12_35 }, "chl_lower"},
		{"a negative lower limit", func(o *data.Observation) { o.Details.Lower.Value = -1 }, "chl_lower"},
		{"an upper limit below the value", func(o *data.Observation) { o.Details.Upper.Value = 12_33 }, "chl_upper"},
		{"an implausible upper limit", func(o *data.Observation) { o.Details.Upper.Value = data.MaxChlorophyll + 1 }, "chl_upper"},
		{"below a limit that is not known", func(o *data.Observation) { o.Details.Upper.Known = false }, "below_limit"},
		{"limits of a gap", func(o *data.Observation) {
			o.Chlorophyll, o.Level, o.CellDensity = data.NoChlorophyll, data.NoLevel, data.NoCellDensity
		}, "chl_lower"},
		{"more valid pixels than there are", func(o *data.Observation) { o.Details.ValidPixels.Value = 10 }, "n_valid"},
		{"negative pixels", func(o *data.Observation) { o.Details.TotalPixels.Value = -1 }, "n_total"},
		{"an unknown flag", func(o *data.Observation) { o.Details.Flags = 1 << 31 }, "flags"},
		{"a negative depth", func(o *data.Observation) { o.Details.Secchi.Value = -1 }, "secchi_m"},
		{"a depth in feet", func(o *data.Observation) { o.Details.Secchi.Value = data.MaxSecchi + 1 }, "secchi_m"},
		{"steam", func(o *data.Observation) { o.Details.WaterTemperature.Value = data.MaxWaterTemperature + 1 }, "water_temperature_c"},
		{"a period that begins after its end", func(o *data.Observation) { o.Details.PeriodStart.Value = o.Date + 1 }, "period_start"},
		{"a period of more than a year", func(o *data.Observation) { o.Details.PeriodStart.Value = o.Date - 367 }, "period_start 2025-06-29: want a day from 2025-06-30"},
		{"a period before all dates", func(o *data.Observation) { o.Date, o.Details.PeriodStart.Value = data.MinDate, data.MinDate-1 }, "period_start"},
		{"a negative turbidity", func(o *data.Observation) { o.Details.Turbidity.Value = -1 }, "turbidity_ntu"},
		{"a turbidity that no water has", func(o *data.Observation) { o.Details.Turbidity.Value++ }, "turbidity_ntu"},
		{"more than all pixels", func(o *data.Observation) { o.Details.ScumPercent.Value++ }, "scum_percent"},
		{"an unknown composite", func(o *data.Observation) { o.Details.Composite = data.MedianComposite + 1 }, "composite"},
	} {
		o := detailed()
		c.change(&o)
		if err := o.CheckImport(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: CheckImport = %v, want an error about %s", c.name, err, c.want)
		}
	}
}

func TestNamesOfDetails(t *testing.T) {
	for q := data.Good; q <= data.Poor; q++ {
		if got, err := data.ParseQuality(q.String()); err != nil || got != q {
			t.Errorf("ParseQuality(%s) = %v, %v", q, got, err)
		}
	}
	for c := data.MeanComposite; c <= data.MedianComposite; c++ {
		if got, err := data.ParseComposite(c.String()); err != nil || got != c {
			t.Errorf("ParseComposite(%s) = %v, %v", c, got, err)
		}
	}
	all := data.FlagsOf(data.Estimated, data.Cloud)
	if got := strings.Join(all.Names(), " "); got != "cloud estimated" {
		t.Errorf("the flags are %q", got)
	}
	for _, f := range data.Flags(1<<data.Biased<<1 - 1).All() {
		if got, err := data.ParseFlag(f.String()); err != nil || got != f {
			t.Errorf("ParseFlag(%s) = %v, %v", f, got, err)
		}
	}
	for _, wrong := range []string{"", "Good", "bad"} {
		if _, err := data.ParseQuality(wrong); err == nil {
			t.Errorf("%q is a quality", wrong)
		}
		if _, err := data.ParseComposite(wrong); err == nil {
			t.Errorf("%q is a composite", wrong)
		}
		if _, err := data.ParseFlag(wrong); err == nil || !strings.Contains(err.Error(), "cloud, sun_glint") {
			t.Errorf("ParseFlag(%q) = %v, want an error that lists the flags", wrong, err)
		}
	}
}
