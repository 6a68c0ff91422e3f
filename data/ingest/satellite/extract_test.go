package satellite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/ingest/satellite/satellitetest"
)

const step = 0.01 // degrees, of the rasters of these tests

// chlRaster returns a file of float32 with the upper left corner at 10° east and 50° north.
func chlRaster(width, height int, value func(x, y int) float64) satellitetest.TIFF {
	f := satellitetest.TIFF{Width: width, Height: height, X0: 10, Y0: 50, Step: step, Unit: "mg m-3", NoData: "-9999"}
	for y := range height {
		for x := range width {
			f.Floats = append(f.Floats, float32(value(x, y)))
		}
	}
	return f
}

// blockLake returns a lake of whole pixels of chlRaster.
func blockLake(t testing.TB, id string, x0, y0, x1, y1 int) Lake {
	t.Helper()
	const inset = step / 1000 // the edges of pixels are rounded in an outline
	return squareLake(t, id, 10+float64(x0)*step-inset, 50-float64(y1)*step-inset, 10+float64(x1)*step+inset, 50-float64(y0)*step+inset)
}

const chlName = "chl_2025-07-01.tif"

func TestExtract(t *testing.T) {
	const cloud = -9999
	f := fileOf(chlName, chlRaster(60, 60, func(x, y int) float64 {
		switch {
		case x < 10 && y < 10:
			return cloud
		case x >= 20 && x < 30 && y < 10: // the lake with few pixels
			if y == 4 && x < 24 {
				return 70
			}
			return cloud
		case x >= 30 && x < 40 && y < 10: // 9 of 100
			if y == 4 && x < 39 {
				return 70
			}
			return cloud
		case x >= 40 && x < 50 && y < 10: // 15 of 100
			if y == 4 || y == 5 && x < 45 {
				return 70
			}
			return cloud
		}
		return float64(x)
	}).Encode())
	lakes := []Lake{
		blockLake(t, "clouded", 0, 0, 10, 10),
		blockLake(t, "clear", 10, 0, 20, 10),
		blockLake(t, "four", 20, 0, 30, 10),
		blockLake(t, "nine", 30, 0, 40, 10),
		blockLake(t, "fifteen", 40, 0, 50, 10),
		blockLake(t, "far", 200, 0, 210, 10),
		blockLake(t, "half", 53, 0, 63, 10),   // 7 of 10 columns are in the raster
		blockLake(t, "mostly", 57, 0, 67, 10), // 3 of 10
		blockLake(t, "two", 0, 20, 2, 21),
		squareLake(t, "none", 10.001, 49.5, 10.009, 49.509),
	}
	rows, summary := extractAll(t, f, lakes, &Options{Shore: FixedShore(0)})
	for _, test := range []struct {
		id             data.LakeID
		has            bool
		value          float64
		inside, valid  int
		quality        data.Quality
		flags          string
		reason         Reason
		method, source string
	}{
		{id: "clouded", inside: 100, reason: NoData},
		{id: "clear", has: true, value: 14.5, inside: 100, valid: 100},
		{id: "four", inside: 100, valid: 4, reason: TooFewPixels},
		{id: "nine", inside: 100, valid: 9, reason: TooFewPixels},
		{id: "fifteen", has: true, value: 70, inside: 100, valid: 15, quality: data.Poor, flags: "few_pixels"},
		{id: "half", has: true, value: 56, inside: 100, valid: 70, quality: data.Suspect},
	} {
		r, ok := rows[test.id]
		if !ok {
			t.Errorf("%s has no row", test.id)
			continue
		}
		delete(rows, test.id)
		if r.HasValue != test.has || r.Value != test.value || r.Inside != test.inside || r.Valid != test.valid || r.Quality != test.quality ||
			strings.Join(r.Flags.Names(), " ") != test.flags || !r.HasValue && r.Reason != test.reason {
			t.Errorf("%s is %+v, want %+v", test.id, r, test)
		}
		if r.Source != "chlorophyll raster" || r.Method != "median of pixels wholly inside the outline" || r.Date.String() != "2025-07-01" {
			t.Errorf("%s: source %q, method %q, date %s", test.id, r.Source, r.Method, r.Date)
		}
	}
	for id := range rows {
		t.Errorf("%s has a row, want none, since the raster does not show it", id)
	}
	want := [Reasons]int{NoData: 1, TooFewPixels: 3, Outside: 2, NoPixelInside: 1}
	if summary.Gaps != want || summary.Lakes != 3 || summary.Poor != 1 {
		t.Errorf("the summary is %+v, want the gaps %v", summary, want)
	}
	if summary.Bytes < 60*60*4/2 || summary.Bytes > 60*60*4*2 || summary.Pixels < 500 {
		t.Errorf("%d bytes and %d pixels were read", summary.Bytes, summary.Pixels)
	}
}

func TestStatistics(t *testing.T) {
	f := fileOf(chlName, chlRaster(10, 10, func(x, y int) float64 { return float64(y*10+x) + 1 }).Encode())
	for _, test := range []struct {
		statistic Statistic
		want      float64
	}{{Median, 50.5}, {Mean, 50.5}, {P90, 90.1}} {
		rows, _ := extractAll(t, f, []Lake{blockLake(t, "a", 0, 0, 10, 10)}, &Options{Statistic: test.statistic, Shore: FixedShore(0)})
		r := rows["a"]
		if math.Abs(r.Value-test.want) > 1e-9 || math.Abs(r.P10-10.9) > 1e-9 || math.Abs(r.P90-90.1) > 1e-9 {
			t.Errorf("%s is %v with percentiles %v and %v, want %v, 10.9 and 90.1", test.statistic, r.Value, r.P10, r.P90, test.want)
		}
	}
}

func TestShore(t *testing.T) {
	// The water is turbid near the shore.
	f := fileOf(chlName, chlRaster(40, 40, func(x, y int) float64 { return 100 - 10*float64(min(x, y, 39-x, 39-y)) }).Encode())
	for _, test := range []struct {
		size   int // of a square in the corner
		shore  Shore
		inside int
		method string
	}{
		{8, AutoShore, 4 * 4, "median of pixels wholly inside the outline, 2 pixels from the shore"},
		{6, AutoShore, 4 * 4, "median of pixels wholly inside the outline, 1 pixel from the shore"},
		{4, AutoShore, 4 * 4, "median of pixels wholly inside the outline"},
		{20, FixedShore(5), 10 * 10, "median of pixels wholly inside the outline, 5 pixels from the shore"},
		{20, FixedShore(0), 20 * 20, "median of pixels wholly inside the outline"},
	} {
		t.Run(fmt.Sprint(test.size, test.shore), func(t *testing.T) {
			rows, _ := extractAll(t, f, []Lake{blockLake(t, "a", 0, 0, test.size, test.size)}, &Options{Shore: test.shore})
			if r := rows["a"]; r.Inside != test.inside || r.Method != test.method {
				t.Errorf("%d pixels by %q, want %d by %q", r.Inside, r.Method, test.inside, test.method)
			}
		})
	}
	_, summary := extractAll(t, f, []Lake{blockLake(t, "a", 0, 0, 4, 4)}, &Options{Shore: FixedShore(2)})
	if summary.Gaps[NoPixelInside] != 1 {
		t.Errorf("a lake of which the shore leaves nothing: %+v", summary.Gaps)
	}
}

// The pixels whose centre is inside are more than those that are wholly inside.
func TestInside(t *testing.T) {
	f := fileOf(chlName, chlRaster(40, 40, func(x, y int) float64 { return 5 }).Encode())
	lake := squareLake(t, "a", 10+4.4*step, 50-20.6*step, 10+20.6*step, 50-4.4*step)
	for inside, want := range map[Inside]int{Full: 15 * 15, Centre: 17 * 17} {
		method := map[Inside]string{Full: "median of pixels wholly inside the outline", Centre: "median of pixels with their centre inside the outline"}[inside]
		rows, _ := extractAll(t, f, []Lake{lake}, &Options{Inside: inside, Shore: FixedShore(0)})
		if r := rows["a"]; r.Inside != want || r.Method != method {
			t.Errorf("%s: %d pixels by %q, want %d", inside, r.Inside, r.Method, want)
		}
	}
}

func TestDisc(t *testing.T) {
	f := fileOf(chlName, chlRaster(40, 40, func(x, y int) float64 { return 5 }).Encode())
	lakes := []Lake{{ID: "a", Point: orb.Point{10.2, 49.8}}, {ID: "far", Point: orb.Point{11, 49.8}}}
	rows, summary := extractAll(t, f, lakes, &Options{WithoutOutline: Disc(3000)})
	// A pixel is 1,112 m high and 718 m wide here.
	want := math.Pi * 3000 * 3000 / (1112 * 718)
	r := rows["a"]
	if r.Quality != data.Suspect || r.Method != "median of pixels in a disc with a radius of 3000 m" || math.Abs(float64(r.Inside)-want) > 0.15*want {
		t.Errorf("a disc is %+v, want about %.0f pixels of quality suspect", r, want)
	}
	if summary.Gaps[Outside] != 1 {
		t.Errorf("the gaps are %v, want one lake outside", summary.Gaps)
	}
	_, summary = extractAll(t, f, lakes, &Options{WithoutOutline: Skip})
	if summary.Skipped != 2 || summary.Lakes != 0 {
		t.Errorf("the summary is %+v, want two lakes skipped", summary)
	}
}

// A lake with more pixels than a mask may have is reported, and the others have their values. One that is outside needs no mask.
func TestTooManyPixels(t *testing.T) {
	const fine = 1e-4
	f := chlRaster(40, 40, func(x, y int) float64 { return 5 })
	f.Step = fine
	lakes := []Lake{
		squareLake(t, "here", 10, 50-30*fine, 10+30*fine, 50),
		squareLake(t, "huge", 9, 49, 11, 51),
		squareLake(t, "huge, east", 12, 49, 14, 51), squareLake(t, "huge, west", 7, 49, 9, 51),
		squareLake(t, "huge, north", 9, 52, 11, 54), squareLake(t, "huge, south", 9, 46, 11, 48),
	}
	rows, summary := extractAll(t, fileOf(chlName, f.Encode()), lakes, nil)
	if summary.Lakes != 1 || rows["here"].Value != 5 || summary.Gaps[TooLarge] != 1 || summary.Gaps[Outside] != 4 {
		t.Errorf("%d lakes have a value and the gaps are %v, want one too large and four outside", summary.Lakes, summary.Gaps)
	}
	points := []Lake{{ID: "here", Point: orb.Point{10 + 20*fine, 50 - 20*fine}}, {ID: "there", Point: orb.Point{12, 50}}}
	if _, summary := extractAll(t, fileOf(chlName, f.Encode()), points, &Options{WithoutOutline: Disc(100_000)}); summary.Gaps[TooLarge] != 1 || summary.Gaps[Outside] != 1 {
		t.Errorf("the gaps of discs are %v, want one too large and one outside", summary.Gaps)
	}
}

// A panic on one of the goroutines reaches the caller.
func TestInParallelPanics(t *testing.T) {
	defer func() {
		if said := fmt.Sprint(recover()); !strings.HasPrefix(said, "lost\n") || !strings.Contains(said, "extract_test.go") {
			t.Errorf("the panic says %q", said)
		}
	}()
	inParallel(4, 100, func(_, i int) {
		if i == 50 {
			panic("lost")
		}
	})
}

// A value beyond what any lake has is stored as the largest, with a flag: the lake must not look clean.
func TestHugeValue(t *testing.T) {
	f := fileOf(chlName, chlRaster(10, 10, func(x, y int) float64 { return 9000 }).Encode())
	rows, _ := extractAll(t, f, []Lake{blockLake(t, "a", 0, 0, 10, 10)}, nil)
	if r := rows["a"]; r.Value != 1500 || r.Flags != data.FlagsOf(data.OutOfRange) {
		t.Errorf("9,000 µg/l is %v with flags %v", r.Value, r.Flags.Names())
	}
}

// A lake across the antimeridian has its pixels on both edges of a global raster.
func TestAntimeridian(t *testing.T) {
	const w, h = 360, 180
	f := satellitetest.TIFF{Width: w, Height: h, X0: -180, Y0: 90, Step: 1, Unit: "mg m-3", NoData: "-9999"}
	for y := range h {
		for x := range w {
			f.Floats = append(f.Floats, float32(x))
		}
		_ = y
	}
	lake := squareLake(t, "a", 176.999, -10.001, 183.001, 10.001) // columns 357 to 359 and 0 to 2
	rows, _ := extractAll(t, fileOf(chlName, f.Encode()), []Lake{lake}, &Options{Shore: FixedShore(0), Statistic: Mean})
	if r := rows["a"]; r.Inside != 120 || r.Valid != 120 || r.Value != (357+358+359+0+1+2)/6.0 {
		t.Errorf("the lake is %+v, want 120 pixels and the mean of both edges", r)
	}
	// The same with longitudes from 0 to 360.
	f.X0 = 0
	rows, _ = extractAll(t, fileOf(chlName, f.Encode()), []Lake{lake}, &Options{Shore: FixedShore(0), Statistic: Mean})
	if r := rows["a"]; r.Inside != 120 || r.Value != (177+178+179+180+181+182)/6.0 {
		t.Errorf("the lake is %+v, want 120 pixels from 177° to 183°", r)
	}
}

func TestExtractErrors(t *testing.T) {
	plain := chlRaster(10, 10, func(x, y int) float64 { return 5 })
	noUnit := plain
	noUnit.Unit = ""
	lakes := []Lake{blockLake(t, "a", 0, 0, 10, 10)}
	for _, test := range []struct {
		name string
		file File
		opts Options
		want string
	}{
		{"empty", fileOf("a.tif", nil), Options{}, "the file is empty"},
		{"web page", fileOf("a.tif", []byte("<!DOCTYPE html>")), Options{}, "failed download"},
		{"no unit", fileOf(chlName, noUnit.Encode()), Options{}, "--scale"},
		{"no date", fileOf("chl.tif", plain.Encode()), Options{}, "--date"},
		{"future", fileOf("chl_2099-01-01.tif", plain.Encode()), Options{}, "2099-01-01: want a day until tomorrow"},
		{"variable of a GeoTIFF", fileOf(chlName, plain.Encode()), Options{Variable: "chl"}, "--band"},
		{"band", fileOf(chlName, plain.Encode()), Options{Band: 2}, "band 2: the file has 1"},
		{"index of floats", fileOf(chlName, plain.Encode()), Options{Product: CyAN}, "uint8; this file has float32"},
		{"source of another", fileOf(chlName, plain.Encode()), Options{Source: "EPA CyAN V6"}, "--product cyan"},
		{"product", fileOf(chlName, plain.Encode()), Options{Product: "modis"}, "want one of lwq"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Extract(t.Context(), test.file, lakes, &test.opts, func(*Row) error { return nil })
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one with %q", err, test.want)
			}
		})
	}
	t.Run("of the caller", func(t *testing.T) {
		full := errors.New("full")
		if _, err := Extract(t.Context(), fileOf(chlName, plain.Encode()), lakes, nil, func(*Row) error { return full }); !errors.Is(err, full) {
			t.Errorf("the error is %v, want that of the caller", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Extract(ctx, fileOf(chlName, plain.Encode()), lakes, nil, func(*Row) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v, want that of the context", err)
		}
	})
}

// Progress grows to 1.
func TestProgress(t *testing.T) {
	f := fileOf(chlName, chlRaster(60, 60, func(x, y int) float64 { return 5 }).Encode())
	var lakes []Lake
	for i := range 9 {
		lakes = append(lakes, blockLake(t, fmt.Sprint("a", i), i%3*20, i/3*20, i%3*20+20, i/3*20+20))
	}
	last := 0.0
	extractAll(t, f, lakes, &Options{Progress: func(done float64) {
		if done < last || done > 1 {
			t.Errorf("progress is %v after %v", done, last)
		}
		last = done
	}})
	if last != 1 {
		t.Errorf("the last progress is %v", last)
	}
}
