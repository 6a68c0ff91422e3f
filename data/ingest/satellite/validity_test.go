package satellite

import (
	"bytes"
	"cmp"
	"image"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
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

func TestValidPixelExpression(t *testing.T) {
	// Valid_PE is the highest bit, so that the number is negative.
	others := []satellitetest.Variable{
		{Name: "c2rcc_flags", Text: map[string]string{"flag_meanings": "Cloud_risk Valid_PE"}, Ints: halves[int32](math.MinInt32, 8), Numbers: map[string][]int32{"flag_masks": {8, math.MinInt32}}},
		{Name: "class", Text: map[string]string{"flag_meanings": "water land"}, Ints: halves[int32](1, 2), Numbers: map[string][]int32{"flag_values": {1, 2}}},
		{Name: "bits", Text: map[string]string{"flag_meanings": "low high"}, Ints: halves[int32](0x10, 0x21), Numbers: map[string][]int32{"flag_masks": {0x30, 0x30}, "flag_values": {0x10, 0x20}}},
		{Name: "missing", Text: map[string]string{"flag_meanings": "cloud"}, Ints: halves[int32](0, 255), Numbers: map[string][]int32{"flag_masks": {1}, "_FillValue": {255}}},
		{Name: "few", Text: map[string]string{"flag_meanings": "cloud land"}, Ints: halves[int32](0, 1), Numbers: map[string][]int32{"flag_masks": {1}}},
		{Name: "scaled", Text: map[string]string{"scale_factor": "0.1"}, Ints: halves[int32](50, 20)},
		{Name: "water_mask", Text: map[string]string{"expression": "c2rcc_flags.Valid_PE && !inner"}, Scalar: true},
		{Name: "inner", Text: map[string]string{"expression": "c2rcc_flags.Cloud_risk"}, Scalar: true},
	}
	const half, all = "48 of 200 pixels", "24 of 400 pixels"
	for _, test := range []struct{ expression, option, want string }{
		{"", "", all}, {"c2rcc_flags.Valid_PE", "", half}, {"not c2rcc_flags.Cloud_risk", "", half}, {"!c2rcc_flags.Cloud_risk && conc_chl > 0", "", half},
		{"(c2rcc_flags.raw & 8) == 0", "", half}, {"class.water", "", half}, {"class == 1", "", half}, {"bits.low", "", half}, {"!bits.high", "", half},
		{"!missing.cloud", "", half}, // flags that are missing say nothing good
		{"scaled > 3", "", half}, {"scaled.raw > 30", "", half}, {"water", "", half}, {"true", "", all},
		{"c2rcc_flags.Valid_PE", "true", all}, {"IDEPIX_CLOUD", "c2rcc_flags.Valid_PE", half}, {"", "c2rcc_flags.Valid_PE", half},
		{"IDEPIX_CLOUD", "", `valid_pixel_expression "IDEPIX_CLOUD": the file has no variable "IDEPIX_CLOUD": want --valid`},
		{"c2rcc_flags.cloud", "", `no flag "cloud", only ["Cloud_risk" "Valid_PE"]`}, {"pixel_flags.cloud", "", "pixel_flags.cloud"}, {"conc_chl.cloud", "", "no flag"},
		{"few.cloud", "", "2 flag_meanings, 1 flag_masks"}, {"lat > 50", "", "variable lat"}, {"fuzzy(conc_chl)", "", "fuzzy"}, {"conc_chl >", "", "want --valid"},
		{"", "conc_chl >", `valid "conc_chl >"`}, {"", "nothing", `--valid "nothing": the file has no variable "nothing"`},
	} {
		chl := satellitetest.Variable{Name: "conc_chl", Text: map[string]string{"units": "mg m^-3", "valid_pixel_expression": test.expression}, Fill: fill, Floats: halves[float32](48, 0)}
		checkValue(t, netCDF("S3A_OL_2_WFR_20250701_snap_c2rcc.nc", append(others, chl)...), Options{Valid: test.option}, test.want)
	}
	// A variable with flags between its values, such as land, has no value there; one that has only flags is refused.
	chl := satellitetest.Variable{Name: "chl", Text: map[string]string{"units": "mg m-3", "flag_meanings": "land cloud"}, Ints: halves[int32](12, 254),
		Numbers: map[string][]int32{"flag_values": {254, 255}}}
	checkValue(t, netCDF("chl_20250701.nc", chl), Options{}, "12 of 200 pixels")
	chl.Numbers = map[string][]int32{"flag_masks": {1, 2}}
	checkValue(t, netCDF("chl_20250701.nc", chl), Options{}, "flag_masks")
}

// Windows that are tested in several strips and groups hide the same pixels.
func TestValidityOfLargeWindows(t *testing.T) {
	const n = 1500
	f := chlRaster(n, n, func(x, y int) float64 { return float64(1 + (x+y)%7) })
	lakes := []Lake{blockLake(t, "large", 0, 0, n, n), blockLake(t, "small", 700, 700, 720, 720)}
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
	for id, valid := range map[data.LakeID]int{"large": 2 * n * n / 7, "small": 2 * 20 * 20 / 7} {
		if r := rows[id]; r.P10 != 4 || r.P90 != 5 || r.Valid < valid-2 || r.Valid > valid+2 {
			t.Errorf("%+v, want about %d pixels of 4 and 5", r, valid)
		}
	}
}

// A GeoTIFF says in several ways which pixels count: here of 10 rows with the numbers 1 to 10, or of 50 bytes of 40 beside others.
func TestValidOfBands(t *testing.T) {
	header := func(valid, log10, noData string) string {
		return `<Dimap_Document name="x"><Production><PRODUCT_SCENE_RASTER_START_TIME>01-JUL-2025 09:30:00.000000</PRODUCT_SCENE_RASTER_START_TIME>` +
			`<PRODUCT_SCENE_RASTER_STOP_TIME>01-JUL-2025 09:33:00.000000</PRODUCT_SCENE_RASTER_STOP_TIME></Production><Image_Interpretation><Spectral_Band_Info>` +
			`<BAND_INDEX>0</BAND_INDEX><BAND_NAME>conc_chl</BAND_NAME><PHYSICAL_UNIT>mg m^-3</PHYSICAL_UNIT><LOG10_SCALED>` + log10 + `</LOG10_SCALED>` +
			`<NO_DATA_VALUE_USED>true</NO_DATA_VALUE_USED><NO_DATA_VALUE>` + noData + `</NO_DATA_VALUE><VALID_MASK_TERM>` + valid + `</VALID_MASK_TERM>` +
			`</Spectral_Band_Info></Image_Interpretation></Dimap_Document>`
	}
	// As GDAL writes it of a NetCDF file: the expression, and not the flags.
	gdal := map[string]string{"conc_chl#valid_pixel_expression": "c2rcc_flags.Valid_PE"}
	for _, test := range []struct {
		snap  string
		items map[string]string
		valid string
		want  string
	}{
		{"", nil, "", "5.5 of 100"}, {"", nil, "b1 >= 6", "8 of 50"}, {"", nil, "band_1 >= 6 && !isnan(b1)", "8 of 50"}, {"", nil, "true", "5.5 of 100"},
		{"", nil, "cloud", `no band "cloud": bands are b1 to b1`},
		{"", gdal, "", `valid_pixel_expression "c2rcc_flags.Valid_PE": the file has no band`}, {"", gdal, "true", "5.5 of 100"},
		{header("conc_chl &gt; 5", "false", "NaN"), nil, "", "8 of 50"}, {header("", "false", "9"), nil, "", "5 of 90"}, {header("", "true", "NaN"), nil, "", "logarithms: true"},
		{header("c2rcc_flags.Valid_PE", "false", "NaN"), nil, "", `valid_pixel_expression "c2rcc_flags.Valid_PE": the file has no band`},
		{header("c2rcc_flags.Valid_PE", "false", "NaN"), nil, "true", "5.5 of 100"},
	} {
		f := chlRaster(10, 10, func(x, y int) float64 { return float64(x + 1) })
		f.Items, f.SNAP = test.items, test.snap
		name := chlName
		if test.snap != "" { // it has the unit, the number for no data and the date too
			name, f.NoData, f.Unit = "chl.tif", "", ""
		}
		if s := checkValue(t, fileOf(name, f.Encode()), Options{Valid: test.valid}, test.want); s.Date != 0 && (s.Date.String() != "2025-07-01" || (s.Variable == "band 1 (conc_chl)") != (test.snap != "")) {
			t.Errorf("%s: %+v", test.want, s)
		}
	}
	// A number for no data that no pixel can have states nothing, as if the file had none: then 0 is padding.
	for noData, want := range map[string]string{"": "40 of 50", "-9999": "40 of 50", "256": "40 of 50", "nan": "40 of 50", "255": "20 of 100"} {
		f := indexRaster(func(i int) byte { return byte(i % 2 * 40) })
		f.NoData = noData
		checkValue(t, fileOf(chlName, f.Encode()), Options{Scale: 1}, want)
	}
	for _, noData := range []string{"-3.40282e+38", "-3.4028235e+38", "-1.79769313486232e+308"} {
		f := chlRaster(10, 10, func(x, y int) float64 { return []float64{-math.MaxFloat32, 7}[x%2] })
		f.NoData = noData
		if s := checkValue(t, fileOf(chlName, f.Encode()), Options{}, "7 of 50"); s.OutOfRange != 0 {
			t.Errorf("no data %q: %d are out of range", noData, s.OutOfRange)
		}
	}
}

// The mask and the metadata beside a GeoTIFF count, or the file is refused.
func TestFilesBeside(t *testing.T) {
	mask := func(width int) string {
		f := satellitetest.TIFF{Width: width, Height: 10, Step: 1}
		for i := range width * 10 {
			f.Bytes = append(f.Bytes, byte(255*(i%width/5)))
		}
		return string(f.Encode())
	}
	raster := indexRaster(func(i int) byte { return []byte{200, 12}[i%10/5] }).Encode()
	for _, test := range []struct{ ending, content, want string }{
		{".txt", "", "106 of 100 pixels"}, {".msk", mask(10), "12 of 50"}, {".msk", mask(20), chlName + ".msk beside it cannot be used: it has 20 x 10 pixels"},
		{".msk", "<html>", chlName + ".msk beside it cannot be used"}, {".msk", "", "cannot be used"}, {".aux.xml", "", ".aux.xml: EOF"},
		{".aux.xml", `<PAMDataset><PAMRasterBand band="1"><NoDataValue>200</NoDataValue></PAMRasterBand></PAMDataset>`, "12 of 50"},
	} {
		name := filepath.Join(t.TempDir(), chlName)
		if err := os.WriteFile(name+test.ending, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		f := fileOf(name, raster)
		f.Beside = BesideLocal(name, os.Open)
		checkValue(t, f, Options{Scale: 1}, test.want)
		if test.ending == ".msk" {
			f.Beside = func(end string) (Beside, error) {
				return Beside{}, map[string]error{auxEnd: fs.ErrNotExist, maskEnd: fs.ErrPermission}[end]
			}
			checkValue(t, f, Options{Scale: 1}, fs.ErrPermission.Error())
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
	// Lakes CCI has classes. Where the class is not known, chlorophyll counts.
	class := satellitetest.Variable{Name: "lake_ice_cover_class", Text: map[string]string{"flag_meanings": "water ice cloud bad"}, Ints: halves[int32](2, -1),
		Numbers: map[string][]int32{"flag_values": {1, 2, 3, 4}, "_FillValue": {-1}}}
	const meanings, cciName = "bright cloud snow_ice", "ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc"
	for _, test := range []struct {
		about, name string
		chl         float32
		flags       satellitetest.Variable
		want        string
	}{
		{"all ice", lwqName, fill, quality(meanings, 4, 9), "ice of 0 pixels"},
		{"ice with values", lwqName, 12, quality(meanings, 4, 9), "12 of 40 pixels"},
		{"a little ice", lwqName, 12, quality(meanings, 4, 2), "12 of 320 pixels"},
		{"clouds and a little ice", lwqName, fill, quality(meanings, 4, 2), "cloud or no data of 0 pixels"},
		{"another order", lwqName, fill, quality("ice cloud bright", 1, 9), "ice of 0 pixels"},
		{"clouds", lwqName, fill, quality(meanings, 2, 9), "cloud or no data of 0 pixels"},
		{"no meaning of ice", lwqName, 12, quality("bright cloud ice_free", 4, 9), "12 of 400 pixels"},
		{"classes", cciName, 12, class, "12 of 200 pixels"},
	} {
		t.Run(test.about, func(t *testing.T) {
			f := netCDF(test.name, chla(constant(test.chl)), test.flags)
			isIce := strings.HasPrefix(test.want, "ice")
			if s := checkValue(t, f, Options{}, test.want); (s.Gaps[Ice] == 1) != isIce {
				t.Errorf("the gaps are %v", s.Gaps)
			}
			rows, _ := extractAll(t, f, wholeRaster(t), &Options{Shore: FixedShore(0)})
			if r := rows["a"]; slices.Contains(r.Flags.All(), data.Ice) != isIce {
				t.Errorf("the row is %+v", r)
			}
		})
	}
}

// Negative numbers are clean water: they count, and the report says so.
func TestNegativePixels(t *testing.T) {
	for _, test := range []struct {
		name             string
		noData           string
		values           []float64
		want             string
		p10              float64
		floored, strange int64
		stored           float64
	}{
		{"a clean lake", "-9999", []float64{-2.652}, "<0.02 of 100", 0, 100, 0, 0.01},
		{"zeros", "-9999", []float64{0}, "<0.02 of 100", 0, 0, 0, 0.01},
		{"almost nothing", "-9999", []float64{0.004}, "<0.02 of 100", 0.004, 0, 0, 0.01},
		{"some negative", "-9999", []float64{-1, 4, 5, 6}, "4.5 of 100", 0, 25, 0, 4.5},
		{"most negative", "-9999", []float64{-0.5, -1, -2.652, 104.79}, "<0.02 of 100", 0, 75, 0, 0.01},
		{"senseless", "-9999", []float64{-999, 7}, "7 of 50", 7, 0, 50, 7},
		{"no number for no data", "", []float64{-1, 0, -0.5, 7}, "3.5 of 50", 0, 25, 0, 3.5},
	} {
		f := chlRaster(10, 10, func(x, y int) float64 { return test.values[(y*10+x)%len(test.values)] })
		f.NoData = test.noData
		file := fileOf(chlName, f.Encode())
		if s := checkValue(t, file, Options{}, test.want); s.Floored != test.floored || s.OutOfRange != test.strange {
			t.Errorf("%s: %d floored, %d out of range", test.name, s.Floored, s.OutOfRange)
		}
		rows, _ := extractAll(t, file, []Lake{blockLake(t, "a", 0, 0, 10, 10)}, &Options{Shore: FixedShore(0)})
		r := rows["a"]
		o := r.Observation()
		if math.Abs(r.P10-test.p10) > 1e-6 || math.Signbit(r.P10) || math.Signbit(r.Value) || o.Chlorophyll.Float() != test.stored ||
			o.Details.BelowLimit != (test.stored == 0.01) || o.Details.BelowLimit && o.Details.Upper.Value.Float() != 0.02 {
			t.Errorf("%s: %+v is %+v, want %v", test.name, r, o, test.stored)
		}
	}
	// Without an outline, and by the range of the file.
	f := chlRaster(30, 30, func(x, y int) float64 {
		if x < 5 || x > 15 || y < 5 || y > 15 {
			return -9999
		}
		return -3
	})
	rows, summary := extractAll(t, fileOf(chlName, f.Encode()), []Lake{{ID: "a", Point: [2]float64{10 + 10*step, 50 - 10*step}}}, nil)
	if r := rows["a"]; !r.HasValue || r.Limit != leastLimit || summary.Floored != int64(r.Valid) || math.Signbit(r.P10) || math.Signbit(r.Value) {
		t.Errorf("a lake without an outline is %+v, %d floored", r, summary.Floored)
	}
	v := satellitetest.Variable{Name: "chl", Text: map[string]string{"units": "mg m-3", "valid_min": "0"}, Fill: fill, Floats: constant(-3)}
	if s := checkValue(t, netCDF("chl_20250701.nc", v), Options{}, "cloud or no data of 0"); s.OutOfRange == 0 || s.Floored != 0 {
		t.Errorf("below valid_min: %+v", s)
	}
	// A negative uncertainty is none.
	v.Floats = constant(9)
	u := satellitetest.Variable{Name: "chl_unc", Text: map[string]string{"units": "mg m-3"}, Fill: fill, Floats: halves[float32](-1, 2)}
	checkValue(t, netCDF("chl_20250701.nc", v, u), Options{}, "9 ± 2 of 400")
}

func TestUnits(t *testing.T) {
	for _, test := range []struct {
		unit  string
		scale float64
		log   float64 // of the value 50 µg/l
		err   string
	}{
		{"lg(re mg.m-3)", 0, math.Log10(50), ""}, {"lg(re 1 mg m-3)", 0, math.Log10(50), ""}, {"LG(re mg/m^3)", 0, math.Log10(50), ""}, {"log10(mg m-3)", 0, math.Log10(50), ""},
		{"log10[mg/m^3]", 0, math.Log10(50), ""}, {"log10 mg/m3", 0, math.Log10(50), ""}, {"log10(mg/l)", 0, math.Log10(0.05), ""}, {"ln(re mg m-3)", 0, math.Log(50), ""},
		{"lb(re mg m-3)", 0, math.Log2(50), ""}, {"lg(re mg.m-3)", 1, math.Log10(50), ""}, {"log10", 1, math.Log10(50), ""}, {"lg(re cells)", 1000, math.Log10(0.05), ""},
		{"lg(re cells)", 0, 0, "--scale"}, {"log10", 0, 0, "--scale"}, {"log(mg m-3)", 0, 0, "several meanings"}, {"log(mg m-3)", 1, 0, "several meanings"},
		{"mg m-3 (log10)", 1, 0, "not known"}, {"dB", 1, 0, "meanings"}, {"0.1 lg(re mg m-3)", 1, 0, "not known"},
		{"mg.m**-3", 0, 50, ""}, {"MG/M³", 0, 50, ""}, {"μg L⁻¹", 0, 50, ""}, {"µg l^-1", 0, 50, ""}, {"g m-3", 0, 0.05, ""}, {"kg m^-3", 0, 5e-5, ""}, {"0.1 mg/l", 0, 1, "--scale"},
	} {
		tif := chlRaster(10, 10, func(x, y int) float64 { return test.log })
		tif.Unit = test.unit
		for _, file := range []File{fileOf(chlName, tif.Encode()), netCDF("chl_2025-07-01.nc",
			satellitetest.Variable{Name: "CHL_NN", Text: map[string]string{"units": test.unit}, Fill: fill, Floats: constant(float32(test.log))},
			satellitetest.Variable{Name: "CHL_NN_unc", Text: map[string]string{"units": "lg(re mg m-3)"}, Fill: fill, Floats: constant(0.1)})} { // which is a factor
			checkValue(t, file, Options{Scale: test.scale}, cmp.Or(test.err, "50 of "))
		}
	}
	// A name of logarithms with the unit of the value.
	for _, test := range []struct{ name, title, want string }{
		{"chl_log10", "", "logarithms"}, {"log_chl", "", "logarithms"}, {"CHLlog10", "", "logarithms"}, {"CHL_LN", "", "logarithms"}, {"chl", "log10 of chlorophyll", "logarithms"},
		{"chl", "Natural logarithm of chlorophyll", "logarithms"}, {"chlor_a", "Chlorophyll Concentration, OCI Algorithm", "1.7 of"}, {"chl_oc3", "", "1.7 of"}, {"ecology_chl", "", "1.7 of"},
		{"chl_lagoon", "", "1.7 of"},
	} {
		f := netCDF("a_2025-07-01.nc", satellitetest.Variable{Name: test.name, Text: map[string]string{"units": "mg m-3", "long_name": test.title}, Fill: fill, Floats: constant(1.7)})
		checkValue(t, f, Options{Variable: test.name, Scale: 1}, test.want)
	}
	// Attributes, also as GDAL keeps them in a GeoTIFF, and of a GeoTIFF without a unit its name.
	for _, test := range []struct {
		name  string
		items map[string]string
		want  string
	}{
		{"chl_2025-07-01", map[string]string{"scaling": "logarithmic"}, "logarithms"}, {"chl_2025-07-01", map[string]string{"scaling": "linear"}, "1.7 of"},
		{"chl_2025-07-01", map[string]string{"log10_scaled": "true"}, "logarithms"}, {"chl_2025-07-01", map[string]string{"log10_scaled": "false"}, "1.7 of"},
		{"chl_2025-07-01", map[string]string{"long_name": "log10 of chlorophyll"}, "logarithms"},
	} {
		tif := chlRaster(10, 10, func(x, y int) float64 { return 1.7 })
		tif.Items = test.items
		text := maps.Clone(test.items)
		text["units"] = "mg m-3"
		for _, f := range []File{fileOf(test.name+".tif", tif.Encode()), netCDF(test.name+".nc", satellitetest.Variable{Name: "chl", Text: text, Fill: fill, Floats: constant(1.7)})} {
			checkValue(t, f, Options{Scale: 1}, test.want)
		}
	}
	for _, test := range []struct {
		name, unit, want string
		items            map[string]string
	}{
		{"chl_2025-07-01.tif", "", "50 of", map[string]string{"units": "lg(re mg m-3)"}}, {"chl_2025-07-01.tif", "mg m-3", "1.7 of", map[string]string{"units": "lg(re mg m-3)"}},
		{"chl_log10_2025-07-01.tif", "", "logarithms", nil}, {"log_chl_2025-07-01.tif", "", "logarithms", nil}, {"chl_log10_2025-07-01.tif", "mg m-3", "1.7 of", nil},
	} {
		tif := chlRaster(10, 10, func(x, y int) float64 {
			if test.want == "50 of" {
				return math.Log10(50)
			}
			return 1.7
		})
		tif.Items, tif.Unit = test.items, test.unit
		checkValue(t, fileOf(test.name, tif.Encode()), Options{Scale: 1}, test.want)
	}
}
