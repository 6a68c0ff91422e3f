package satellite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/ingest/satellite/satellitetest"
)

const lwqName = "c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc"

func floats(name, unit string, value func(i int) float32) satellitetest.Variable {
	v := satellitetest.Variable{Name: name, Text: map[string]string{"units": unit}, Fill: fill}
	for i := range 400 {
		v.Floats = append(v.Floats, value(i))
	}
	return v
}

// someOf returns one number for the first n pixels, and another for the rest.
func someOf(n int, first, rest float32) func(i int) float32 {
	return func(i int) float32 {
		if i < n {
			return first
		}
		return rest
	}
}

// Floating cyanobacteria are a flag with the share of pixels, also where there is no value; a low probability is none. Other quantities are stored in the units of
// their columns, also of a lake without a value. One of an unknown unit is not.
func TestQuantities(t *testing.T) {
	all := func(v float32) func(int) float32 { return someOf(0, 0, v) }
	flags := satellitetest.Variable{Name: "quality_flags", Text: map[string]string{"flag_meanings": "cloud floating_cyanobacteria"}, Numbers: map[string][]int32{"flag_masks": {1, 8}}}
	for i := range 400 {
		flags.Ints = append(flags.Ints, int32(someOf(10, 9, 1)(i)))
	}
	type variables = []satellitetest.Variable
	const scum, temperature, cci = "floating_cyanobacteria", "lake_surface_water_temperature", "ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc"
	for _, test := range []struct {
		about, name string
		chl         float32
		others      variables
		column      string
		want        string
	}{
		{"no scum", lwqName, 12, variables{floats(scum, "1", all(0))}, "scum_percent", ""},
		{"half", lwqName, 120, variables{floats(scum, "1", someOf(200, 1, 0))}, "scum_percent", "50"},
		{"half, without a value", lwqName, fill, variables{floats(scum, "1", someOf(200, 0.5, fill))}, "scum_percent", "50"},
		{"one pixel", lwqName, 12, variables{floats(scum, "1", someOf(1, 0.6, 0.49))}, "scum_percent", "0.25"},
		{"in percent", lwqName, 12, variables{floats(scum, "%", someOf(100, 51, 49))}, "scum_percent", "25"},
		{"a flag", lwqName, 12, variables{flags}, "scum_percent", "2.5"},
		{"the variable before the flag", lwqName, 12, variables{flags, floats(scum, "1", all(0))}, "scum_percent", ""},
		{"nothing said", lwqName, 12, nil, "", ""},
		{"turbidity", lwqName, 12, variables{floats("turbidity_mean", "NTU", func(i int) float32 { return float32(i % 3) })}, "turbidity_ntu", "1"},
		{"a better turbidity", lwqName, 12, variables{floats("turbidity_mean", "NTU", all(9)), floats("turbidity_blended_mean", "", all(2.345))}, "turbidity_ntu", "2.35"},
		{"turbidity in another unit", lwqName, 12, variables{floats("turbidity_mean", "g m-3", all(9))}, "", ""},
		{"turbidity out of range", lwqName, 12, variables{floats("turbidity_mean", "NTU", all(99_999))}, "turbidity_ntu", ""},
		{"few pixels", lwqName, 12, variables{floats("turbidity_mean", "NTU", someOf(2, 1, fill))}, "turbidity_ntu", ""},
		{"a depth", lwqName, fill, variables{floats("secchi_depth", "m", all(3.5))}, "secchi_m", "3.5"},
		{"kelvin", cci, 12, variables{floats(temperature, "kelvin", all(293.15))}, "water_temperature_c", "20"},
		{"only good kelvin", cci, 12, variables{floats(temperature, "K", func(i int) float32 { return []float32{283.15, 303.15, 313.15, 323.15}[i%4] }),
			floats("lswt_quality_level", "1", func(i int) float32 { return []float32{4, 3, 3, 1}[i%4] })}, "water_temperature_c", "10"},
		{"degrees", cci, fill, variables{floats(temperature, "degree_Celsius", all(-0.5))}, "water_temperature_c", "-0.5"},
		{"degrees in a sign", cci, fill, variables{floats(temperature, "°C", all(4))}, "water_temperature_c", "4"},
		{"boiling", cci, 12, variables{floats(temperature, "degree_Celsius", all(293.15))}, "water_temperature_c", ""},
		{"of any program", "chl_20250701.nc", 12, variables{floats("turbidity_mean", "NTU", all(1)), floats(scum, "1", all(1))}, "", ""},
	} {
		values, err := Collect(t.Context(), netCDF(test.name, append(test.others, chla(constant(test.chl)))...), wholeRaster(t), &Options{Shore: FixedShore(0), Variable: "chla_mean"})
		if err != nil {
			t.Fatalf("%s: %v", test.about, err)
		}
		isScum := test.column == "scum_percent" && test.want != ""
		for r := range values.Rows() {
			o := r.Observation()
			d := o.Details
			stored := map[string]data.Optional[data.Hundredths]{"": {}, "scum_percent": d.ScumPercent, "turbidity_ntu": d.Turbidity, "secchi_m": d.Secchi, "water_temperature_c": d.WaterTemperature}[test.column]
			if got := r.field(test.column); got != test.want || stored.Known != (got != "") || stored.Known && fmt.Sprint(stored.Value.Float()) != got ||
				strings.Join(values.Columns, " ") != test.column || o.Chlorophyll.Valid() != (test.chl != fill) || o.CheckImport() != nil ||
				slices.Contains(d.Flags.All(), data.ScumPossible) != isScum || (values.Scum == 1) != isScum || o.ReportedLevel() != data.NoLevel {
				t.Errorf("%s: %q of %+v, columns %v, want %q", test.about, got, o, values.Columns, test.want)
			}
		}
	}
}
