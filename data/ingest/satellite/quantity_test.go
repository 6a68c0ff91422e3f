package satellite

import (
	"slices"
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

// Floating cyanobacteria are a flag with the share of pixels, also where there is no value; a low probability is none.
func TestPossibleScum(t *testing.T) {
	some := func(n int, yes, no float32) func(int) float32 {
		return func(i int) float32 {
			if i < n {
				return yes
			}
			return no
		}
	}
	flags := func(n int) satellitetest.Variable {
		v := satellitetest.Variable{Name: "quality_flags", Text: map[string]string{"flag_meanings": "cloud floating_cyanobacteria"}, Numbers: map[string][]int32{"flag_masks": {1, 8}}}
		for i := range 400 {
			v.Ints = append(v.Ints, int32(some(n, 9, 1)(i)))
		}
		return v
	}
	for _, test := range []struct {
		name    string
		chl     float32
		others  []satellitetest.Variable
		scum    int
		percent data.Hundredths
		columns bool
	}{
		{"none", 12, []satellitetest.Variable{floats("floating_cyanobacteria", "1", some(0, 1, 0))}, 0, 0, true},
		{"half", 120, []satellitetest.Variable{floats("floating_cyanobacteria", "1", some(200, 1, 0))}, 200, 50_00, true},
		{"half, without a value", fill, []satellitetest.Variable{floats("floating_cyanobacteria", "1", some(200, 0.5, fill))}, 200, 50_00, true},
		{"one pixel", 12, []satellitetest.Variable{floats("floating_cyanobacteria", "1", some(1, 0.6, 0.49))}, 1, 25, true},
		{"not likely", 12, []satellitetest.Variable{floats("floating_cyanobacteria", "1", some(400, 0.12, 0))}, 0, 0, true},
		{"in percent", 12, []satellitetest.Variable{floats("floating_cyanobacteria", "%", some(100, 51, 49))}, 100, 25_00, true},
		{"a flag", 12, []satellitetest.Variable{flags(10)}, 10, 2_50, true},
		{"the variable before the flag", 12, []satellitetest.Variable{flags(10), floats("floating_cyanobacteria", "1", some(0, 1, 0))}, 0, 0, true},
		{"not said", 12, nil, 0, 0, false},
	} {
		f := lwqFile(append([]satellitetest.Variable{chla(constant(test.chl))}, test.others...)...)
		rows, summary := extractAll(t, fileOf(lwqName, f.Encode()), wholeRaster(t), &Options{Shore: FixedShore(0)})
		o, want := observationOf(rows["a"]), data.Optional[data.Hundredths]{}
		if test.scum > 0 {
			want = data.Known(test.percent)
		}
		if o.Details.ScumPercent != want || slices.Contains(o.Details.Flags.All(), data.ScumPossible) != want.Known || summary.Scum != min(test.scum, 1) ||
			slices.Contains(summary.Columns, "scum_percent") != test.columns || o.CheckImport() != nil || o.ReportedLevel() != data.NoLevel {
			t.Errorf("%s: %+v of %+v", test.name, o, summary)
		}
	}
}

func observationOf(r Row) data.Observation { return r.Observation() }

// Other quantities of a file are stored in the units of their columns, also of a lake without a value. One of an unknown unit is not.
func TestQuantities(t *testing.T) {
	all := func(v float32) func(int) float32 { return func(int) float32 { return v } }
	none := data.Optional[data.Hundredths]{}
	known := func(h data.Hundredths) data.Optional[data.Hundredths] { return data.Known(h) }
	cci := func(f satellitetest.NetCDF) (string, satellitetest.NetCDF) {
		f.Attributes = nil
		return "ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc", f
	}
	for _, test := range []struct {
		name    string
		chl     float32
		cci     bool
		others  []satellitetest.Variable
		want    [numQuantities]data.Optional[data.Hundredths] // Secchi depth, temperature and turbidity
		columns []string
	}{
		{"turbidity", 12, false, []satellitetest.Variable{floats("turbidity_mean", "NTU", func(i int) float32 { return float32(i % 3) })}, [3]data.Optional[data.Hundredths]{none, none, known(1_00)},
			[]string{"turbidity_ntu"}},
		{"a better turbidity", 12, false, []satellitetest.Variable{floats("turbidity_mean", "NTU", all(9)), floats("turbidity_blended_mean", "", all(2.345))},
			[3]data.Optional[data.Hundredths]{none, none, known(2_35)}, []string{"turbidity_ntu"}},
		{"turbidity in another unit", 12, false, []satellitetest.Variable{floats("turbidity_mean", "g m-3", all(9))}, [3]data.Optional[data.Hundredths]{}, nil},
		{"turbidity out of range", 12, false, []satellitetest.Variable{floats("turbidity_mean", "NTU", all(99_999))}, [3]data.Optional[data.Hundredths]{}, []string{"turbidity_ntu"}},
		{"few pixels", 12, false, []satellitetest.Variable{floats("turbidity_mean", "NTU", func(i int) float32 {
			if i < 2 {
				return 1
			}
			return fill
		})}, [3]data.Optional[data.Hundredths]{}, []string{"turbidity_ntu"}},
		{"a depth", fill, false, []satellitetest.Variable{floats("secchi_depth", "m", all(3.5))}, [3]data.Optional[data.Hundredths]{known(3_50), none, none}, []string{"secchi_m"}},
		{"kelvin", 12, true, []satellitetest.Variable{floats("lake_surface_water_temperature", "kelvin", all(293.15))}, [3]data.Optional[data.Hundredths]{none, known(20_00), none},
			[]string{"water_temperature_c"}},
		{"only good kelvin", 12, true, []satellitetest.Variable{
			floats("lake_surface_water_temperature", "K", func(i int) float32 { return []float32{283.15, 303.15, 313.15, 323.15}[i%4] }),
			floats("lswt_quality_level", "1", func(i int) float32 { return []float32{4, 3, 3, 1}[i%4] }),
		}, [3]data.Optional[data.Hundredths]{none, known(10_00), none}, []string{"water_temperature_c"}},
		{"degrees", fill, true, []satellitetest.Variable{floats("lake_surface_water_temperature", "degree_Celsius", all(-0.5))}, [3]data.Optional[data.Hundredths]{none, known(-50), none},
			[]string{"water_temperature_c"}},
		{"boiling", 12, true, []satellitetest.Variable{floats("lake_surface_water_temperature", "degree_Celsius", all(293.15))}, [3]data.Optional[data.Hundredths]{}, []string{"water_temperature_c"}},
	} {
		name, f := lwqName, lwqFile(append([]satellitetest.Variable{chla(constant(test.chl))}, test.others...)...)
		if test.cci {
			name, f = cci(f)
		}
		values, err := Collect(t.Context(), fileOf(name, f.Encode()), wholeRaster(t), &Options{Shore: FixedShore(0)})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		for o, err := range values.Observations() {
			got := [numQuantities]data.Optional[data.Hundredths]{o.Details.Secchi, o.Details.WaterTemperature, o.Details.Turbidity}
			if err != nil || got != test.want || !slices.Equal(values.Columns, test.columns) || o.Chlorophyll.Valid() != (test.chl == 12) || o.CheckImport() != nil {
				t.Errorf("%s: %+v, %v, columns %v, want %+v", test.name, o, err, values.Columns, test.want)
			}
		}
	}
	// Files of any program have none.
	f := lwqFile(chla(constant(12)), floats("turbidity_mean", "NTU", all(1)))
	f.Attributes = nil
	if values, err := Collect(t.Context(), fileOf("chl_20250701.nc", f.Encode()), wholeRaster(t), &Options{Variable: "chla_mean"}); err != nil || values.Columns != nil {
		t.Errorf("columns %v, %v", values.Columns, err)
	}
}
