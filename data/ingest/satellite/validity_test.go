package satellite

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/ingest/satellite/satellitetest"
	"limnomap/data/raster/tiff"
)

// halves returns 400 numbers, of which the first half of each row is a.
func halves[T any](a, b T) []T {
	all := make([]T, 400)
	for i := range all {
		if all[i] = b; i%20 < 10 {
			all[i] = a
		}
	}
	return all
}

// errOf extracts a file and returns the error.
func errOf(t testing.TB, f File, lakes []Lake, opts Options) error {
	t.Helper()
	_, err := Extract(t.Context(), f, lakes, &opts, func(*Row) error { return nil })
	return err
}

func TestValidPixelExpression(t *testing.T) {
	chl := func(expression string) satellitetest.Variable {
		v := satellitetest.Variable{Name: "conc_chl", Text: map[string]string{"units": "mg m^-3"}, Fill: fill, Floats: halves[float32](48, 0)}
		if expression != "" {
			v.Text["valid_pixel_expression"] = expression
		}
		return v
	}
	// Valid_PE is the highest bit, so that the number is negative.
	flags := satellitetest.Variable{Name: "c2rcc_flags", Text: map[string]string{"flag_meanings": "Cloud_risk Valid_PE"}, Ints: halves[int32](math.MinInt32, 8),
		Numbers: map[string][]int32{"flag_masks": {8, math.MinInt32}}}
	class := satellitetest.Variable{Name: "class", Text: map[string]string{"flag_meanings": "water land"}, Ints: halves[int32](1, 2), Numbers: map[string][]int32{"flag_values": {1, 2}}}
	bits := satellitetest.Variable{Name: "bits", Text: map[string]string{"flag_meanings": "low high"}, Ints: halves[int32](0x10, 0x21),
		Numbers: map[string][]int32{"flag_masks": {0x30, 0x30}, "flag_values": {0x10, 0x20}}}
	missing := satellitetest.Variable{Name: "missing", Text: map[string]string{"flag_meanings": "cloud"}, Ints: halves[int32](0, 255),
		Numbers: map[string][]int32{"flag_masks": {1}, "_FillValue": {255}}}
	scaled := satellitetest.Variable{Name: "scaled", Text: map[string]string{"scale_factor": "0.1"}, Ints: halves[int32](50, 20)}
	mask := satellitetest.Variable{Name: "water_mask", Text: map[string]string{"expression": "c2rcc_flags.Valid_PE && !inner"}, Scalar: true}
	inner := satellitetest.Variable{Name: "inner", Text: map[string]string{"expression": "c2rcc_flags.Cloud_risk"}, Scalar: true}
	for _, test := range []struct {
		expression, option string
		valid              int // of 400 pixels; 0 for an error
		want               float64
		err                string
	}{
		{expression: "", valid: 400, want: 24},
		{expression: "c2rcc_flags.Valid_PE", valid: 200, want: 48},
		{expression: "not c2rcc_flags.Cloud_risk", valid: 200, want: 48},
		{expression: "!c2rcc_flags.Cloud_risk && conc_chl > 0", valid: 200, want: 48},
		{expression: "(c2rcc_flags.raw & 8) == 0", valid: 200, want: 48},
		{expression: "class.water", valid: 200, want: 48},
		{expression: "class == 1", valid: 200, want: 48},
		{expression: "bits.low", valid: 200, want: 48},
		{expression: "!bits.high", valid: 200, want: 48},
		{expression: "!missing.cloud", valid: 200, want: 48}, // flags that are missing say nothing good
		{expression: "scaled > 3", valid: 200, want: 48},
		{expression: "scaled.raw > 30", valid: 200, want: 48},
		{expression: "water", valid: 200, want: 48},
		{expression: "true", valid: 400, want: 24},
		{expression: "c2rcc_flags.Valid_PE", option: "true", valid: 400, want: 24},
		{expression: "IDEPIX_CLOUD", option: "c2rcc_flags.Valid_PE", valid: 200, want: 48},
		{option: "c2rcc_flags.Valid_PE", valid: 200, want: 48},
		{expression: "IDEPIX_CLOUD", err: `valid_pixel_expression "IDEPIX_CLOUD": the file has no variable "IDEPIX_CLOUD": want --valid`},
		{expression: "c2rcc_flags.cloud", err: "has no flag \"cloud\", only [\"Cloud_risk\" \"Valid_PE\"]"},
		{expression: "pixel_flags.cloud", err: "pixel_flags.cloud"},
		{expression: "conc_chl.cloud", err: "no flag"},
		{expression: "lat > 50", err: "variable lat"},
		{expression: "fuzzy(conc_chl)", err: "fuzzy"},
		{expression: "conc_chl >", err: "want --valid"},
		{option: "conc_chl >", err: `valid "conc_chl >"`},
		{option: "nothing", err: `--valid "nothing": the file has no variable "nothing"`},
	} {
		t.Run(test.expression+test.option, func(t *testing.T) {
			f := lwqFile(chl(test.expression), flags, class, bits, missing, scaled, mask, inner)
			f.Attributes = nil
			file, opts := fileOf("S3A_OL_2_WFR_20250701_snap_c2rcc.nc", f.Encode()), Options{Valid: test.option, Shore: FixedShore(0)}
			if test.err != "" {
				if err := errOf(t, file, wholeRaster(t), opts); err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("the error is %v, want one with %q", err, test.err)
				}
				return
			}
			rows, _ := extractAll(t, file, wholeRaster(t), &opts)
			if r := rows["a"]; r.Valid != test.valid || math.Abs(r.Value-test.want) > 1e-6 {
				t.Errorf("%v of %d pixels, want %v of %d", r.Value, r.Valid, test.want, test.valid)
			}
		})
	}
}

// A variable with flags between its values, such as land, has no value there; one that has only flags is refused.
func TestFlagsAmongValues(t *testing.T) {
	v := satellitetest.Variable{Name: "chl", Text: map[string]string{"units": "mg m-3", "flag_meanings": "land cloud"}, Ints: halves[int32](12, 254),
		Numbers: map[string][]int32{"flag_values": {254, 255}}}
	f := lwqFile(v)
	f.Attributes = nil
	rows, _ := extractAll(t, fileOf(chlName, f.Encode()), wholeRaster(t), &Options{Shore: FixedShore(0)})
	if r := rows["a"]; r.Value != 12 || r.Valid != 200 {
		t.Errorf("the value is %+v, want 12 of 200 pixels", r)
	}
	v.Numbers = map[string][]int32{"flag_masks": {1, 2}}
	f.Variables = []satellitetest.Variable{v}
	if err := errOf(t, fileOf(chlName, f.Encode()), wholeRaster(t), Options{}); err == nil || !strings.Contains(err.Error(), "flag_masks") {
		t.Errorf("the error is %v, want one that names flag_masks", err)
	}
}

// Windows that are tested in several strips and groups hide the same pixels.
func TestValidityOfLargeWindows(t *testing.T) {
	const n = 1500
	f := chlRaster(n, n, func(x, y int) float64 { return float64(1 + (x+y)%7) })
	lakes := []Lake{pixels(t, "large", 0, 0, n, n), pixels(t, "small", 700, 700, 720, 720), {ID: "point", Point: [2]float64{10 + 5*step, 50 - 5*step}}}
	// Operands of two variables, so that their numbers are kept for a strip.
	im, err := tiff.Open(bytes.NewReader(f.Encode()), int64(len(f.Encode())), nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := newValidity("b1 > 3 && second < 6", true, nil, func(name string) (operand, error) {
		o, err := bandOperand(im.Images()[0], "b1")
		o.of = name
		return o, err
	})
	if err != nil {
		t.Fatal(err)
	}
	windows := []image.Rectangle{image.Rect(0, 0, n, n), image.Rect(3, 5, 9, 11), {}}
	if err := v.over(masked{im.Images()[0], 0}.gather)(t.Context(), windows, func(i int, part image.Rectangle, values []float64) error {
		for k, got := range values {
			x, y := pixelAt(part, k)
			if v := 1 + (x+y)%7; math.IsNaN(got) == (v == 4 || v == 5) {
				t.Fatalf("pixel %d, %d of window %d with %d is %v", x, y, i, v, got)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	rows, _ := extractAll(t, fileOf(chlName, f.Encode()), lakes, &Options{Valid: "b1 > 3 && band_1 < 6", Shore: FixedShore(0), Statistic: Mean})
	want := 0
	for y := range n {
		for x := range n {
			if v := 1 + (x+y)%7; v == 4 || v == 5 {
				want++
			}
		}
	}
	if r := rows["large"]; r.Valid != want || r.P10 != 4 || r.P90 != 5 {
		t.Errorf("the large lake is %+v, want %d pixels of 4 and 5", r, want)
	}
	if r := rows["small"]; r.Inside != 400 || r.P10 != 4 || r.P90 != 5 {
		t.Errorf("the small lake is %+v, want pixels of 4 and 5", r)
	}
}

func TestValidOfBands(t *testing.T) {
	lake := []Lake{pixels(t, "a", 0, 0, 10, 10)}
	f := chlRaster(10, 10, func(x, y int) float64 { return float64(x) })
	for option, want := range map[string]int{"b1 >= 5": 50, "band_1 >= 5 && !isnan(b1)": 50, "true": 100} {
		rows, _ := extractAll(t, fileOf(chlName, f.Encode()), lake, &Options{Valid: option, Shore: FixedShore(0)})
		if r := rows["a"]; r.Valid != want {
			t.Errorf("%q: %d pixels, want %d", option, r.Valid, want)
		}
	}
	if err := errOf(t, fileOf(chlName, f.Encode()), lake, Options{Valid: "cloud"}); err == nil || !strings.Contains(err.Error(), "b1 to b1") {
		t.Errorf("the error is %v, want one that names the bands", err)
	}
	// A NetCDF file that GDAL has converted has the expression, and not the flags.
	f.Items = map[string]string{"conc_chl#valid_pixel_expression": "c2rcc_flags.Valid_PE"}
	if err := errOf(t, fileOf(chlName, f.Encode()), lake, Options{}); err == nil || !strings.Contains(err.Error(), `valid_pixel_expression "c2rcc_flags.Valid_PE"`) {
		t.Errorf("the error is %v, want one that names the expression", err)
	}
	if rows, _ := extractAll(t, fileOf(chlName, f.Encode()), lake, &Options{Valid: "true", Shore: FixedShore(0)}); rows["a"].Valid != 100 {
		t.Errorf("%d pixels, want 100", rows["a"].Valid)
	}
}

// SNAP says in a header of its own which pixels count, the unit, the number for no data and the time.
func TestHeaderOfSNAP(t *testing.T) {
	header := func(valid, log10, noData string) string {
		return `<Dimap_Document name="x"><Production><PRODUCT_SCENE_RASTER_START_TIME>01-JUL-2025 09:30:00.000000</PRODUCT_SCENE_RASTER_START_TIME>` +
			`<PRODUCT_SCENE_RASTER_STOP_TIME>01-JUL-2025 09:33:00.000000</PRODUCT_SCENE_RASTER_STOP_TIME></Production><Image_Interpretation><Spectral_Band_Info>` +
			`<BAND_INDEX>0</BAND_INDEX><BAND_NAME>conc_chl</BAND_NAME><PHYSICAL_UNIT>mg m^-3</PHYSICAL_UNIT><LOG10_SCALED>` + log10 + `</LOG10_SCALED>` +
			`<NO_DATA_VALUE_USED>true</NO_DATA_VALUE_USED><NO_DATA_VALUE>` + noData + `</NO_DATA_VALUE><VALID_MASK_TERM>` + valid + `</VALID_MASK_TERM>` +
			`</Spectral_Band_Info></Image_Interpretation></Dimap_Document>`
	}
	for _, test := range []struct {
		header, option string
		valid          int // 0 for an error
		err            string
	}{
		{header("conc_chl &gt; 5", "false", "NaN"), "", 50, ""},
		{header("", "false", "9"), "", 90, ""},
		{header("c2rcc_flags.Valid_PE", "false", "NaN"), "", 0, `valid_pixel_expression "c2rcc_flags.Valid_PE": the file has no band`},
		{header("c2rcc_flags.Valid_PE", "false", "NaN"), "true", 100, ""},
		{header("", "true", "NaN"), "", 0, "logarithms: true"},
	} {
		f := chlRaster(10, 10, func(x, y int) float64 { return float64(x + 1) })
		f.NoData, f.Unit, f.SNAP = "", "", test.header
		file, lake := fileOf("chl.tif", f.Encode()), []Lake{pixels(t, "a", 0, 0, 10, 10)}
		if test.err != "" {
			if err := errOf(t, file, lake, Options{Valid: test.option}); err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("the error is %v, want one with %q", err, test.err)
			}
			continue
		}
		rows, summary := extractAll(t, file, lake, &Options{Valid: test.option, Shore: FixedShore(0)})
		if r := rows["a"]; r.Valid != test.valid || r.Date.String() != "2025-07-01" || summary.Variable != "band 1 (conc_chl)" {
			t.Errorf("%s: %+v of %s, want %d pixels", test.header, r, summary.Variable, test.valid)
		}
	}
}

// A mask beside a GeoTIFF hides pixels, or the file is refused.
func TestMaskBeside(t *testing.T) {
	raster := chlRaster(10, 10, func(x, y int) float64 { return []float64{999, 12}[x/5] }).Encode()
	mask := func(width int) []byte {
		f := satellitetest.TIFF{Width: width, Height: 10, Step: 1}
		for i := range width * 10 {
			f.Bytes = append(f.Bytes, byte(255*(i%width/5)))
		}
		return f.Encode()
	}
	for _, test := range []struct {
		name  string
		mask  []byte // nil for none
		valid int    // 0 for an error
		err   string
	}{
		{"none", nil, 100, ""},
		{"a mask", mask(10), 50, ""},
		{"another size", mask(20), 0, "20 x 10 pixels"},
		{"another file", []byte("<html>"), 0, "cannot be used"},
		{"empty", []byte{}, 0, "cannot be used"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, chlName)
			if test.mask != nil {
				if err := os.WriteFile(name+".msk", test.mask, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f := fileOf(name, raster)
			f.Beside = BesideLocal(name, os.Open)
			lake := []Lake{pixels(t, "a", 0, 0, 10, 10)}
			if test.err != "" {
				if err := errOf(t, f, lake, Options{}); err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), chlName+".msk") {
					t.Errorf("the error is %v, want one that names the mask, with %q", err, test.err)
				}
				return
			}
			rows, _ := extractAll(t, f, lake, &Options{Shore: FixedShore(0)})
			if r := rows["a"]; r.Valid != test.valid {
				t.Errorf("%d pixels have a value, want %d", r.Valid, test.valid)
			}
		})
	}
	// A number for no data that is not in the file, but beside it.
	bytesOf := indexRaster(func(i int) byte { return []byte{40, 255}[i%2] })
	name := filepath.Join(t.TempDir(), chlName)
	f := fileOf(name, bytesOf.Encode())
	f.Beside = BesideLocal(name, os.Open)
	for aux, want := range map[string]int{"": 100, `<PAMDataset><PAMRasterBand band="1"><NoDataValue>255</NoDataValue></PAMRasterBand></PAMDataset>`: 50} {
		if aux != "" {
			if err := os.WriteFile(name+".aux.xml", []byte(aux), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if err := os.RemoveAll(name + ".aux.xml"); err != nil {
			t.Fatal(err)
		}
		if rows, _ := extractAll(t, f, []Lake{pixels(t, "a", 0, 0, 10, 10)}, &Options{Shore: FixedShore(0), Scale: 1}); rows["a"].Valid != want {
			t.Errorf("with .aux.xml %q %d pixels have a value, want %d", aux, rows["a"].Valid, want)
		}
	}
	for _, err := range []error{fs.ErrPermission, errors.New("gone")} {
		f := fileOf(chlName, raster)
		f.Beside = func(string) (Beside, error) { return Beside{}, err }
		if got := errOf(t, f, nil, Options{}); !errors.Is(got, err) {
			t.Errorf("the error is %v, want %v", got, err)
		}
	}
	if _, err := BesideLocal(t.TempDir(), os.Open)(""); err == nil {
		t.Error("a folder was opened as a mask")
	}
}

// Ice is a gap with its own reason, by the meanings of the flags in the file.
func TestIce(t *testing.T) {
	quality := func(meanings string, ice int32, share int) satellitetest.Variable {
		v := satellitetest.Variable{Name: "quality_flags", Text: map[string]string{"flag_meanings": meanings}, Numbers: map[string][]int32{"flag_masks": {1, 2, 4}}}
		for i := range 400 {
			v.Ints = append(v.Ints, []int32{0, ice}[min(1, i%10/(10-share))])
		}
		return v
	}
	without := func(share int) []float32 { // no value where there is ice
		all := constant(12)
		for i := range all {
			if i%10/(10-share) > 0 {
				all[i] = fill
			}
		}
		return all
	}
	for _, test := range []struct {
		name   string
		chl    []float32
		flags  satellitetest.Variable
		valid  int
		reason Reason
		value  bool
	}{
		{"all ice", constant(fill), quality("bright cloud snow_ice", 4, 9), 0, Ice, false},
		{"ice with values", constant(12), quality("bright cloud snow_ice", 4, 9), 40, 0, true},
		{"a little ice", without(2), quality("bright cloud snow_ice", 4, 2), 320, 0, true},
		{"clouds and a little ice", constant(fill), quality("bright cloud snow_ice", 4, 2), 0, NoData, false},
		{"another order", constant(fill), quality("ice cloud bright", 1, 9), 0, Ice, false},
		{"clouds", constant(fill), quality("bright cloud snow_ice", 2, 9), 0, NoData, false},
		{"no meaning of ice", constant(12), quality("bright cloud ice_free", 4, 9), 400, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := lwqFile(chla(test.chl), test.flags)
			rows, summary := extractAll(t, fileOf("c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc", f.Encode()), wholeRaster(t), &Options{Shore: FixedShore(0)})
			r := rows["a"]
			if r.HasValue != test.value || r.Valid != test.valid || !test.value && (r.Reason != test.reason || summary.Gaps[test.reason] != 1) {
				t.Errorf("the row is %+v, want %+v", r, test)
			}
			// The gap says why.
			if o := r.Observation(); (o.Details.Flags == data.FlagsOf(data.Ice)) != (test.reason == Ice) || o.CheckImport() != nil {
				t.Errorf("the observation is %+v", o)
			}
		})
	}
	// Lakes CCI has classes. Where the class is not known, chlorophyll counts.
	class := satellitetest.Variable{Name: "lake_ice_cover_class", Text: map[string]string{"flag_meanings": "water ice cloud bad"}, Ints: halves[int32](2, -1),
		Numbers: map[string][]int32{"flag_values": {1, 2, 3, 4}, "_FillValue": {-1}}}
	f := lwqFile(chla(constant(12)), class)
	f.Attributes = nil
	rows, _ := extractAll(t, fileOf("ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc", f.Encode()), wholeRaster(t), &Options{Shore: FixedShore(0)})
	if r := rows["a"]; r.Valid != 200 || r.Value != 12 {
		t.Errorf("the row is %+v, want 200 pixels", r)
	}
	if Ice.String() != "ice" {
		t.Errorf("the reason is called %q", Ice)
	}
}

// Negative numbers are clean water: they count, and the report says so.
func TestNegativePixels(t *testing.T) {
	lakeOf := func(t *testing.T) []Lake { return []Lake{pixels(t, "a", 0, 0, 10, 10)} }
	for _, test := range []struct {
		name              string
		noData            string
		value             func(i int) float64
		valid             int
		want, limit, p10  float64
		floored, strange  int64
		has               bool
		stored, storedMax float64
	}{
		{"a clean lake", "-9999", func(i int) float64 { return -2.652 }, 100, 0, 0.02, 0, 100, 0, true, 0.01, 0.02},
		{"zeros", "-9999", func(i int) float64 { return 0 }, 100, 0, 0.02, 0, 0, 0, true, 0.01, 0.02},
		{"almost nothing", "-9999", func(i int) float64 { return 0.004 }, 100, 0.004, 0.02, 0.004, 0, 0, true, 0.01, 0.02},
		{"some negative", "-9999", func(i int) float64 { return []float64{-1, 4, 5, 6}[i%4] }, 100, 4.5, 0, 0, 25, 0, true, 4.5, 0},
		{"most negative", "-9999", func(i int) float64 { return []float64{-0.5, -1, -2.652, 104.79}[i%4] }, 100, 0, 0.02, 0, 75, 0, true, 0.01, 0.02},
		{"senseless", "-9999", func(i int) float64 { return []float64{-999, 7}[i%2] }, 50, 7, 0, 7, 0, 50, true, 7, 0},
		{"no number for no data", "", func(i int) float64 { return []float64{-1, 0, -0.5, 7}[i%4] }, 50, 3.5, 0, 0, 25, 0, true, 3.5, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := chlRaster(10, 10, func(x, y int) float64 { return test.value(y*10 + x) })
			f.NoData = test.noData
			rows, summary := extractAll(t, fileOf(chlName, f.Encode()), lakeOf(t), &Options{Shore: FixedShore(0)})
			r := rows["a"]
			if r.HasValue != test.has || r.Valid != test.valid || math.Abs(r.Value-test.want) > 1e-6 || r.Limit != test.limit || math.Abs(r.P10-test.p10) > 1e-6 ||
				summary.Floored != test.floored || summary.OutOfRange != test.strange {
				t.Errorf("the row is %+v, %d floored, %d out of range, want %+v", r, summary.Floored, summary.OutOfRange, test)
			}
			o := r.Observation()
			if o.Chlorophyll.Float() != test.stored || o.Details.BelowLimit != (test.storedMax > 0) || test.storedMax > 0 && o.Details.Upper.Value.Float() != test.storedMax {
				t.Errorf("the observation is %+v, want %v", o, test.stored)
			}
			var table strings.Builder
			w, _ := NewTable(&table)
			if err := errors.Join(w.Write(&r), w.Flush()); err != nil || strings.Contains(table.String(), "-0") && !strings.Contains(table.String(), "2025-07-01") {
				t.Errorf("the table is %s, %v", table.String(), err)
			}
		})
	}
	// Without an outline, and by the range of the file.
	f := chlRaster(30, 30, func(x, y int) float64 {
		if x < 5 || x > 15 || y < 5 || y > 15 {
			return -9999
		}
		return -3
	})
	point := []Lake{{ID: "a", Point: [2]float64{10 + 10*step, 50 - 10*step}}}
	rows, summary := extractAll(t, fileOf(chlName, f.Encode()), point, nil)
	if r := rows["a"]; !r.HasValue || r.Limit != leastLimit || summary.Floored != int64(r.Valid) || math.Signbit(r.P10) || math.Signbit(r.Value) {
		t.Errorf("a lake without an outline is %+v, %d floored", r, summary.Floored)
	}
	v := satellitetest.Variable{Name: "chl", Text: map[string]string{"units": "mg m-3", "valid_min": "0"}, Fill: fill, Floats: constant(-3)}
	u := satellitetest.Variable{Name: "chl_unc", Text: map[string]string{"units": "mg m-3"}, Fill: fill, Floats: halves[float32](-1, 2)}
	n := lwqFile(v, u)
	n.Attributes = nil
	if rows, summary := extractAll(t, fileOf(chlName, n.Encode()), wholeRaster(t), nil); rows["a"].HasValue || summary.OutOfRange == 0 || summary.Floored != 0 {
		t.Errorf("below valid_min: %+v, %+v", rows["a"], summary)
	}
	// A negative uncertainty is none.
	n.Variables[0].Floats = constant(9)
	if rows, _ := extractAll(t, fileOf(chlName, n.Encode()), wholeRaster(t), nil); rows["a"].Uncertainty != 2 {
		t.Errorf("the uncertainty is %v, want 2", rows["a"].Uncertainty)
	}
}

func TestUnits(t *testing.T) {
	for _, test := range []struct {
		unit  string
		scale float64
		log   float64 // of the value 50 µg/l
		err   string
	}{
		{"lg(re mg.m-3)", 0, math.Log10(50), ""},
		{"lg(re 1 mg m-3)", 0, math.Log10(50), ""},
		{"LG(re mg/m^3)", 0, math.Log10(50), ""},
		{"log10(mg m-3)", 0, math.Log10(50), ""},
		{"log10[mg/m^3]", 0, math.Log10(50), ""},
		{"log10 mg/m3", 0, math.Log10(50), ""},
		{"log10(mg/l)", 0, math.Log10(0.05), ""},
		{"ln(re mg m-3)", 0, math.Log(50), ""},
		{"lb(re mg m-3)", 0, math.Log2(50), ""},
		{"lg(re mg.m-3)", 1, math.Log10(50), ""},
		{"log10", 1, math.Log10(50), ""},
		{"lg(re cells)", 1000, math.Log10(0.05), ""},
		{"lg(re cells)", 0, 0, "--scale"},
		{"log10", 0, 0, "--scale"},
		{"log(mg m-3)", 0, 0, "several meanings"},
		{"log(mg m-3)", 1, 0, "several meanings"},
		{"mg m-3 (log10)", 1, 0, "not known"},
		{"dB", 1, 0, "meanings"},
		{"0.1 lg(re mg m-3)", 1, 0, "not known"},
	} {
		t.Run(fmt.Sprint(test.unit, test.scale), func(t *testing.T) {
			f := lwqFile(satellitetest.Variable{Name: "CHL_NN", Text: map[string]string{"units": test.unit}, Fill: fill, Floats: constant(float32(test.log))},
				satellitetest.Variable{Name: "CHL_NN_unc", Text: map[string]string{"units": test.unit}, Fill: fill, Floats: constant(0.1)})
			f.Attributes = nil
			tif := chlRaster(20, 20, func(x, y int) float64 { return test.log })
			tif.Unit = test.unit
			for _, file := range []File{fileOf("chl_2025-07-01.nc", f.Encode()), fileOf(chlName, tif.Encode())} {
				lakes := append(wholeRaster(t), pixels(t, "b", 0, 0, 20, 20))
				if test.err != "" {
					if err := errOf(t, file, lakes, Options{Scale: test.scale}); err == nil || !strings.Contains(err.Error(), test.err) {
						t.Errorf("the error is %v, want one with %q", err, test.err)
					}
					continue
				}
				rows, _ := extractAll(t, file, lakes, &Options{Scale: test.scale})
				for _, r := range rows {
					if r.HasValue && (math.Abs(r.Value-50) > 1e-4 || r.Uncertainty >= 0) {
						t.Errorf("%s is %v ± %v, want 50", file.Name, r.Value, r.Uncertainty)
					}
				}
				if len(rows) == 0 {
					t.Error("no row")
				}
			}
		})
	}
	// A name of logarithms with the unit of the value.
	for _, names := range [][2]string{{"chl_log10", ""}, {"log_chl", ""}, {"CHLlog10", ""}, {"CHL_LN", ""}, {"chl", "log10 of chlorophyll"}, {"chl", "Natural logarithm of chlorophyll"}} {
		f := lwqFile(satellitetest.Variable{Name: names[0], Text: map[string]string{"units": "mg m-3", "long_name": names[1]}, Fill: fill, Floats: constant(1.7)})
		f.Attributes = nil
		err := errOf(t, fileOf("a_2025-07-01.nc", f.Encode()), wholeRaster(t), Options{Variable: names[0], Scale: 1})
		if err == nil || !strings.Contains(err.Error(), "logarithms") {
			t.Errorf("%q: the error is %v, want one that names logarithms", names, err)
		}
	}
	for _, name := range []string{"chlor_a", "chl_oc3", "chla_mean", "ecology_chl", "chl_lagoon"} {
		f := lwqFile(satellitetest.Variable{Name: name, Text: map[string]string{"units": "mg m-3", "long_name": "Chlorophyll Concentration, OCI Algorithm"}, Fill: fill, Floats: constant(1.7)})
		f.Attributes = nil
		if err := errOf(t, fileOf("a_2025-07-01.nc", f.Encode()), wholeRaster(t), Options{Variable: name}); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A number for no data that no pixel can have states nothing, as if the file had none.
func TestImpossibleNoData(t *testing.T) {
	lake := []Lake{pixels(t, "a", 0, 0, 10, 10)}
	for noData, want := range map[string]int{"": 50, "-9999": 50, "256": 50, "nan": 50, "255": 100} {
		f := indexRaster(func(i int) byte { return byte(i % 2 * 40) })
		f.NoData = noData
		rows, _ := extractAll(t, fileOf(chlName, f.Encode()), lake, &Options{Scale: 1, Shore: FixedShore(0)})
		if r := rows["a"]; r.Valid != want {
			t.Errorf("no data %q: %d pixels have a value, want %d", noData, r.Valid, want)
		}
	}
	f := chlRaster(10, 10, func(x, y int) float64 { return []float64{-math.MaxFloat32, 0}[x%2] })
	for _, noData := range []string{"-3.40282e+38", "-3.4028235e+38", "-1.79769313486232e+308"} {
		f.NoData = noData
		rows, summary := extractAll(t, fileOf(chlName, f.Encode()), lake, &Options{Shore: FixedShore(0)})
		if r := rows["a"]; r.Valid != 50 || summary.OutOfRange != 0 {
			t.Errorf("no data %q: %d pixels have a value, %d are out of range", noData, r.Valid, summary.OutOfRange)
		}
	}
}
