package satellite

import (
	"errors"
	"math"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/ingest/satellite/satellitetest"
)

const fill = 9.96921e36

// lwqFile returns a small file of LWQ with the upper left corner at 10° east and 50° north and steps of 1/448°.
func lwqFile(variables ...satellitetest.Variable) satellitetest.NetCDF {
	const n, d = 20, 1.0 / 448
	f := satellitetest.NetCDF{Attributes: map[string]string{"title": "Lake Water Quality 300m", "product_version": "V2.1.1",
		"time_coverage_start": "2025-09-01T00:00:00Z", "time_coverage_end": "2025-09-10T23:59:59Z"}, Variables: variables}
	for i := range n {
		f.Lats = append(f.Lats, 50-d/2-float64(i)*d)
		f.Lons = append(f.Lons, 10+d/2+float64(i)*d)
	}
	return f
}

func constant(v float32) []float32 {
	all := make([]float32, 400)
	for i := range all {
		all[i] = v
	}
	return all
}

func chla(values []float32) satellitetest.Variable {
	return satellitetest.Variable{Name: "chla_mean", Text: map[string]string{"units": "mg m-3"}, Fill: fill, Floats: values}
}

func wholeRaster(t testing.TB) []Lake {
	const d = 1.0 / 448
	return []Lake{squareLake(t, "a", 10-1e-5, 50-20*d-1e-5, 10+20*d+1e-5, 50+1e-5)}
}

func TestLWQ(t *testing.T) {
	values := constant(12)
	values[7] = fill
	percent := satellitetest.Variable{Name: "chla_uncertainty", Text: map[string]string{"units": "%"}, Fill: fill, Floats: constant(30)}
	counts := satellitetest.Variable{Name: "num_obs", Fill: -1, Floats: constant(2)}
	f := lwqFile(chla(values), percent, counts)
	rows, summary := extractAll(t, fileOf(lwqName, f.Encode()), wholeRaster(t), &Options{Shore: FixedShore(0)})
	r := rows["a"]
	if r.Value != 12 || r.Valid != 399 || r.Inside != 400 || math.Abs(r.Uncertainty-3.6) > 1e-6 {
		t.Errorf("the value is %+v, want 12 ± 3.6 of 399 pixels", r)
	}
	if r.Source != "Copernicus LWQ300" || r.Version != "V2.1.1 2 observations" || r.Date.String() != "2025-09-10" {
		t.Errorf("source %q, version %q, date %s", r.Source, r.Version, r.Date)
	}
	if summary.Product.ID != LWQ || summary.Variable != "chla_mean" || summary.Version != "V2.1.1" {
		t.Errorf("the summary is %+v", summary)
	}
	// The content is enough, whatever the name; a time of processing orders the files of a version.
	f.Attributes["date_created"] = "2025-09-14T10:00:00Z"
	rows, _ = extractAll(t, fileOf("download.nc", f.Encode()), wholeRaster(t), nil)
	if r := rows["a"]; r.Source != "Copernicus LWQ300" || r.Version != "V2.1.1 2025-09-14T10:00:00Z" || r.Date.String() != "2025-09-10" {
		t.Errorf("source %q, version %q, date %s", r.Source, r.Version, r.Date)
	}
}

func TestLWQ1HasNoChlorophyll(t *testing.T) {
	f := fileOf("c_gls_LWQ300_202509010000_GLOBE_OLCI_V1.3.0.nc", lwqFile(satellitetest.Variable{Name: "trophic_state_index", Fill: fill, Floats: constant(50)}).Encode())
	checkValue(t, f, Options{}, "--variable trophic_state_index")
	rows, _ := extractAll(t, f, wholeRaster(t), &Options{Variable: "trophic_state_index"})
	if r := rows["a"]; math.Abs(r.Value-7.22) > 0.01 || !strings.HasPrefix(r.Method, "tsi: median of pixels ") {
		t.Errorf("index 50 is %v by %q, want 7.22 by tsi", r.Value, r.Method)
	}
}

func TestChlorophyllOfAnyProgram(t *testing.T) {
	other := func(name, unit string, v float32) satellitetest.Variable {
		return satellitetest.Variable{Name: name, Text: map[string]string{"units": unit}, Floats: constant(v)}
	}
	two := []satellitetest.Variable{other("chl_oc3", "mg m-3", 9), other("chl_re_gons", "mg m-3", 8)}
	for _, test := range []struct {
		variables  []satellitetest.Variable
		opts       Options
		want       string
		outOfRange bool
	}{
		{[]satellitetest.Variable{other("chl_re_gons", "mg m^-3", 9), other("rhos_665", "1", 0.1)}, Options{}, "9 of 400", false}, // ACOLITE
		{[]satellitetest.Variable{other("chl", "g m-3", 0.009)}, Options{}, "9 of 400", false},
		{[]satellitetest.Variable{other("chl", "", 9)}, Options{}, "--scale", false},
		{[]satellitetest.Variable{other("chl", "", 9)}, Options{Scale: 2}, "18 of 400", false},
		{two, Options{}, "chl_oc3, chl_re_gons", false},
		{two, Options{Variable: "chl_re_gons"}, "8 of 400", false},
		{[]satellitetest.Variable{other("turbidity", "FNU", 9)}, Options{}, "turbidity", false},
		{[]satellitetest.Variable{other("chl", "mg m-3", -999.5)}, Options{}, "cloud or no data", true},
	} {
		s := checkValue(t, netCDF("S2A_MSI_2021_04_01_11_06_52_T31UDS_L2W.nc", test.variables...), test.opts, test.want)
		if (s.OutOfRange > 0) != test.outOfRange || s.Date != 0 && (s.Product.ID != OwnRaster || s.Date.String() != "2021-04-01") {
			t.Errorf("%s: %+v", test.want, s)
		}
	}
}

// indexRaster returns a GeoTIFF of bytes.
func indexRaster(value func(i int) byte) satellitetest.TIFF {
	f := satellitetest.TIFF{Width: 10, Height: 10, X0: 10, Y0: 50, Step: step}
	for i := range 100 {
		f.Bytes = append(f.Bytes, value(i))
	}
	return f
}

func TestCyAN(t *testing.T) {
	index := func(value func(i int) byte) File { return fileOf(cyanFile, indexRaster(value).Encode()) }
	land := index(func(i int) byte {
		if i < 30 {
			return 254
		}
		return 130
	})
	if s := checkValue(t, land, Options{}, "11.27 of 70 pixels"); s.Product.ID != CyAN || s.Source != "EPA CyAN" || s.Date.String() != "2020-07-25" {
		t.Errorf("%+v", s)
	}
	if s := checkValue(t, land, Options{Source: "EPA CyAN V6"}, "11.27 of 70 pixels"); s.Source != "EPA CyAN V6" {
		t.Errorf("the source is %q", s.Source)
	}
	checkValue(t, index(func(int) byte { return 255 }), Options{}, "cloud or no data of 0")
	// Clean water is a value below the limit of detection, neither negative nor missing.
	rows, _ := extractAll(t, index(func(i int) byte { return byte(i / 60 * 130) }), []Lake{blockLake(t, "a", 0, 0, 10, 10)}, &Options{Shore: FixedShore(0)})
	r := rows["a"]
	if !r.HasValue || r.Limit != indexLimit || r.Valid != 100 || r.Value >= indexLimit || r.P90 < 11 {
		t.Errorf("clean water is %+v, want a value below %v", r, indexLimit)
	}
	var table strings.Builder
	w, err := NewTable(&table)
	if err := errors.Join(err, w.Write(&r), w.Flush()); err != nil {
		t.Fatal(err)
	}
	want := "lake_id,date,chl,data_type,n_inside,n_valid,p10,p90,uncertainty,method,source,version,quality,flags,period_start,composite\n" +
		"a,2020-07-25,<3.07,satellite,100,100,0,11.2714,,CI = 10^(0.011714 DN - 4.1870866): median of pixels wholly inside the outline,EPA CyAN,,,,2020-07-19,maximum\n"
	if table.String() != want {
		t.Errorf("the table is\n%s\nwant\n%s", table.String(), want)
	}
}

func TestVersionOf(t *testing.T) {
	for _, test := range []struct{ version, made, want string }{
		{"V2.1.1", "", "V2.1.1"},
		{" V2.1.1 ", "2025-09-14T10:00:00Z", "V2.1.1 2025-09-14T10:00:00Z"},
		{"", "2025-09-14", "2025-09-14T00:00:00Z"},
		{strings.Repeat("x", 65), "", ""},
		{"V2\x00", "", ""},
	} {
		if got := versionOf(test.version, test.made); got != test.want {
			t.Errorf("versionOf(%q, %q) = %q, want %q", test.version, test.made, got, test.want)
		}
	}
}

func TestSourcesAreOfTheirProduct(t *testing.T) {
	for _, p := range Products() {
		if got, ok := OfSource(p.Source); !ok || got.ID != p.ID {
			t.Errorf("the source %q is of %q, want %q", p.Source, got.ID, p.ID)
		}
		if len(p.Source) > 100 || data.LakeID(p.ID) == "" {
			t.Errorf("the product %q has the source %q", p.ID, p.Source)
		}
	}
}

// What a file says about numbers for no data, and what the product says where the file says nothing.
func TestNoDataAndScale(t *testing.T) {
	index := func(noData string, value func(i int) byte) []byte {
		f := indexRaster(value)
		f.NoData = noData
		return f.Encode()
	}
	noaa := index("", func(i int) byte { return byte(130 + i%2*121) })
	checkValue(t, fileOf("sentinel-3a.2019200.0719.1543C.L3.LE3.v930seadasv7521_1_2.CIcyano.tif", noaa), Options{}, "12.1 of 50")
	// A pixel that a file declares as no data is no clean water, as gdalwarp -dstnodata 0 writes it.
	half := func(i int) byte { return byte(i / 60 * 130) }
	checkValue(t, fileOf(cyanFile, index("0", half)), Options{}, "11.27 of 40")
	checkValue(t, fileOf(cyanFile, index("", half)), Options{}, "<3.07 of 100")
	// An index that is not stored as digital numbers would be read as clean water.
	checkValue(t, netCDF("ci_2025-07-19.nc", satellitetest.Variable{Name: "CI_cyano", Floats: constant(0.05)}), Options{Product: CyAN, Variable: "CI_cyano"}, "this variable has float32")

	// A raster that declares no number for no data is padded with 0, which is not clean water.
	padded := chlRaster(10, 10, func(x, y int) float64 { return float64(x/5) * 15 })
	for noData, want := range map[string]string{"": "15 of 50", "-9999": "7.5 of 100"} {
		padded.NoData = noData
		checkValue(t, fileOf(chlName, padded.Encode()), Options{}, want)
	}
	checkValue(t, netCDF("chl_2025-07-01.nc", satellitetest.Variable{Name: "chl", Text: map[string]string{"units": "mg m-3"}, Floats: make([]float32, 400)}), Options{}, "cloud or no data of 0")

	// The option for the unit does not change products whose unit is known. It is also that of the uncertainty, unless that is in per cent.
	checkValue(t, fileOf(lwqName, lwqFile(chla(constant(12))).Encode()), Options{Scale: 1000}, "12 of 400")
	for unit, want := range map[string]string{"": "900 ± 200 of", "%": "900 ± 18 of"} {
		checkValue(t, netCDF("chl_2025-07-01.nc", satellitetest.Variable{Name: "chl", Floats: constant(9)},
			satellitetest.Variable{Name: "chl_unc", Text: map[string]string{"units": unit}, Floats: constant(2)}), Options{Scale: 100}, want)
	}

	// Variables about chlorophyll that are not its concentration are not taken without being asked for.
	for _, name := range []string{"CHL_log10", "chl_mean_log", "chlorophyll_bloom_days", "chl_uncertainty", "chl_flags", "chl_climatology"} {
		checkValue(t, netCDF("a_2025-07-01.nc", satellitetest.Variable{Name: name, Text: map[string]string{"units": "mg m-3"}, Floats: constant(1.5)}), Options{}, "no variable that is known as chlorophyll")
	}
}

// The highest values of a bloom are the first to be out of range: without them it looks cleaner. Without the lowest ones, a clean lake looks worse.
func TestOutOfRange(t *testing.T) {
	some, biased := data.FlagsOf(data.OutOfRange), data.FlagsOf(data.OutOfRange, data.Biased)
	for _, test := range []struct {
		name      string
		low, high int // of 400 pixels of 10 µg/l
		lowest    float32
		highest   float32
		quality   data.Quality
		flags     data.Flags
	}{
		{"few", 0, 4, 0, 1200, data.QualityUnknown, 0},
		{"high", 0, 40, 0, 1200, data.QualityUnknown, biased},
		{"most are high", 0, 250, 0, 1200, data.Poor, biased},
		{"low", 40, 0, 0.25, 0, data.QualityUnknown, biased},
		{"negative", 40, 0, -1.5, 0, data.QualityUnknown, biased},
		{"as many at both ends", 40, 30, 0.25, 1200, data.QualityUnknown, some},
		{"more at one end", 15, 50, 0.25, 1200, data.QualityUnknown, biased},
		{"maybe a number for no data that the file does not declare", 40, 0, -999, 0, data.QualityUnknown, some},
		{"maybe another one", 0, 40, 0, 1e20, data.QualityUnknown, some},
		{"infinite", 0, 40, 0, float32(math.Inf(1)), data.QualityUnknown, some},
	} {
		values := constant(10)
		for i := range test.low {
			values[i] = test.lowest
		}
		for i := range test.high {
			values[399-i] = test.highest
		}
		v := chla(values)
		v.Text["valid_min"], v.Text["valid_max"] = "0.5", "1000"
		rows, summary := extractAll(t, fileOf("c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc", lwqFile(v).Encode()), wholeRaster(t), &Options{Shore: FixedShore(0)})
		r, all := rows["a"], test.low+test.high
		if r.Value != 10 || r.Quality != test.quality || r.Flags != test.flags || r.P90 != 10 || r.Valid != 400-all || summary.OutOfRange != int64(all) {
			t.Errorf("%s: %+v, want the quality %q and the flags %v", test.name, r, test.quality, test.flags.Names())
		}
	}
}

func TestVersionAndDekadInName(t *testing.T) {
	f := lwqFile(chla(constant(12)))
	delete(f.Attributes, "product_version")
	f.Attributes["time_coverage_end"] = f.Attributes["time_coverage_start"]
	rows, _ := extractAll(t, fileOf("c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.2.nc", f.Encode()), wholeRaster(t), nil)
	if r := rows["a"]; r.Version != "V2.1.2" || r.Date.String() != "2025-09-10" {
		t.Errorf("version %q, date %s, want V2.1.2 and the last day of the ten", r.Version, r.Date)
	}
	for name, want := range map[string]string{"ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc": "V2.1.0", "chl_2025-07-01.tif": "", "S2A_MSIL2A_20250701T103031.nc": ""} {
		if got := versionOfName(Product{ID: OwnRaster}, name); got != want {
			t.Errorf("versionOfName(%q) = %q, want %q", name, got, want)
		}
	}
}
