package netcdf

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// An axisOfTest is a coordinate variable, or a dimension without one if it has no values.
type axisOfTest struct {
	name       string
	values     any
	attributes []testAttribute
}

// gridFile returns the variable "v" of a file, over the axes in their order.
func gridFile(t *testing.T, axes []axisOfTest, attributes []testAttribute, more ...testVariable) *Variable {
	t.Helper()
	c := &classicWriter{variables: more}
	n := 1
	var ids []int
	for i, axis := range axes {
		length := 3
		if axis.values != nil {
			_, length, _ = encode(axis.values)
			c.variables = append(c.variables, testVariable{axis.name, []int{i}, axis.attributes, axis.values})
		}
		c.dimensions = append(c.dimensions, Dimension{axis.name, int64(length)})
		n *= length
		ids = append(ids, i)
	}
	c.variables = append(c.variables, testVariable{"v", ids, attributes, make([]int8, n)})
	v, _ := c.open(t).Variable("v")
	return v
}

func units(text string) []testAttribute { return []testAttribute{{"units", text}} }

func TestGrid(t *testing.T) {
	type axes = []axisOfTest
	lat := axisOfTest{"lat", steps(10, 50, -0.5), nil}
	lon := axisOfTest{"lon", steps(20, 10, 0.5), nil}
	split := slices.Concat(steps(360, 0.25, 0.5), steps(360, -179.75, 0.5))
	utm := []testAttribute{{"grid_mapping", "crs"}}
	crs := testVariable{"crs", nil, []testAttribute{{"grid_mapping_name", "transverse_mercator"}, {"false_easting", []float64{500000}},
		{"standard_parallel", []float64{1, 2}}}, []int32{0}}
	plate := testVariable{"crs", nil, []testAttribute{{"grid_mapping_name", "latitude_longitude"}}, "x"}
	for _, test := range []struct {
		name       string
		axes       axes
		attributes []testAttribute
		more       []testVariable
		want       Grid
	}{
		{"names", axes{lat, lon}, nil, nil, Grid{X: 1, Y: 0, Width: 20, Height: 10, Transform: [6]float64{9.75, 0.5, 0, 50.25, 0, -0.5}, Geographic: true}},
		{"columns first", axes{lon, {"time", []float64{0}, nil}, lat}, nil, nil,
			Grid{X: 0, Y: 2, Width: 20, Height: 10, Transform: [6]float64{9.75, 0.5, 0, 50.25, 0, -0.5}, Geographic: true}},
		{"units", axes{{"a", steps(10, 40, 1), units("degrees_north")}, {"b", steps(20, 10, 1), units("degree_E")}}, nil, nil,
			Grid{X: 1, Y: 0, Width: 20, Height: 10, Transform: [6]float64{9.5, 1, 0, 39.5, 0, 1}, Geographic: true}},
		{"standard names", axes{{"a", steps(10, 40, 1), []testAttribute{{"standard_name", "latitude"}}}, {"b", steps(20, 10, 1), []testAttribute{{"standard_name", "longitude"}}}},
			nil, nil, Grid{X: 1, Y: 0, Width: 20, Height: 10, Transform: [6]float64{9.5, 1, 0, 39.5, 0, 1}, Geographic: true}},
		{"global, float32, south up", axes{{"lat", singles(steps(216, -90+1.0/24, 1.0/12)), nil}, {"lon", singles(steps(4320, -180+1.0/24, 1.0/12)), nil}}, nil, nil,
			Grid{X: 1, Y: 0, Width: 4320, Height: 216, Transform: [6]float64{-180, 1.0 / 12, 0, -90, 0, 1.0 / 12}, Geographic: true, Period: 4320}},
		{"0 to 360", axes{lat, {"lon", steps(720, 0.25, 0.5), nil}}, nil, nil,
			Grid{X: 1, Y: 0, Width: 720, Height: 10, Transform: [6]float64{0, 0.5, 0, 50.25, 0, -0.5}, Geographic: true, Period: 720}},
		{"coordinates of few digits", axes{lat, {"lon", steps(4320, 0, 0.083334), nil}}, nil, nil,
			Grid{X: 1, Y: 0, Width: 4320, Height: 10, Transform: [6]float64{-0.041667, 0.083334, 0, 50.25, 0, -0.5}, Geographic: true, Period: 4320}},
		{"not around the Earth", axes{lat, {"lon", steps(710, 0.25, 0.5), nil}}, nil, nil,
			Grid{X: 1, Y: 0, Width: 710, Height: 10, Transform: [6]float64{0, 0.5, 0, 50.25, 0, -0.5}, Geographic: true}},
		{"both ends of the Earth", axes{lat, {"lon", steps(361, -180, 1), nil}}, nil, nil,
			Grid{X: 1, Y: 0, Width: 361, Height: 10, Transform: [6]float64{-180.5, 1, 0, 50.25, 0, -0.5}, Geographic: true, Period: 360}},
		{"a jump at 180", axes{lat, {"lon", split, nil}}, nil, nil,
			Grid{X: 1, Y: 0, Width: 720, Height: 10, Transform: [6]float64{0, 0.5, 0, 50.25, 0, -0.5}, Geographic: true, Period: 720}},
		{"across the date line", axes{lat, {"lon", slices.Concat(steps(10, 175, 0.5), steps(10, -180, 0.5)), nil}}, nil, nil,
			Grid{X: 1, Y: 0, Width: 20, Height: 10, Transform: [6]float64{174.75, 0.5, 0, 50.25, 0, -0.5}, Geographic: true}},
		{"packed coordinates", axes{lat, {"lon", []int16{0, 1, 2}, []testAttribute{{"scale_factor", []float64{0.5}}, {"add_offset", []float64{10}}}}}, nil, nil,
			Grid{X: 1, Y: 0, Width: 3, Height: 10, Transform: [6]float64{9.75, 0.5, 0, 50.25, 0, -0.5}, Geographic: true}},
		{"projection", axes{{"y", steps(10, 5300150, -300), units("m")}, {"x", steps(20, 400150, 300), units("m")}}, utm, []testVariable{crs},
			Grid{X: 1, Y: 0, Width: 20, Height: 10, Transform: [6]float64{400000, 300, 0, 5300300, 0, -300}}},
		{"kilometres", axes{{"y", steps(10, 5300.15, -0.3), units("km")}, {"x", steps(20, 400.15, 0.3), units("km")}}, utm, []testVariable{crs},
			Grid{X: 1, Y: 0, Width: 20, Height: 10, Transform: [6]float64{400000, 300, 0, 5300300, 0, -300}}},
		{"x and y of longitude and latitude", axes{{"y", steps(10, 50, -0.5), nil}, {"x", steps(20, 10, 0.5), nil}}, utm, []testVariable{plate},
			Grid{X: 1, Y: 0, Width: 20, Height: 10, Transform: [6]float64{9.75, 0.5, 0, 50.25, 0, -0.5}, Geographic: true}},
		{"axes", axes{{"rows", steps(10, 50, -1), []testAttribute{{"axis", "Y"}}}, {"columns", steps(20, 10, 1), []testAttribute{{"axis", "X"}}}}, nil, nil,
			Grid{X: 1, Y: 0, Width: 20, Height: 10, Transform: [6]float64{9.5, 1, 0, 50.5, 0, -1}}},
		{"axes by the attribute", axes{{"rows", nil, nil}, {"columns", nil, nil}}, []testAttribute{{"coordinates", "time latitude longitude"}},
			[]testVariable{{"latitude", []int{0}, nil, steps(3, 50, -1)}, {"longitude", []int{1}, nil, steps(3, 10, 1)}},
			Grid{X: 1, Y: 0, Width: 3, Height: 3, Transform: [6]float64{9.5, 1, 0, 50.5, 0, -1}, Geographic: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, err := gridFile(t, test.axes, test.attributes, test.more...).Grid(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for i, number := range g.Transform {
				if near(number, test.want.Transform[i], 1e-4*math.Abs(test.want.Transform[1])) {
					g.Transform[i] = test.want.Transform[i] // but for rounding
				}
			}
			mapping := g.Mapping
			g.Mapping = nil
			if g.X != test.want.X || g.Y != test.want.Y || g.Width != test.want.Width || g.Height != test.want.Height ||
				g.Transform != test.want.Transform || g.Geographic != test.want.Geographic || g.Period != test.want.Period {
				t.Errorf("grid %+v, want %+v", *g, test.want)
			}
			if (mapping != nil) != (test.attributes != nil && test.attributes[0].name == "grid_mapping") {
				t.Errorf("mapping %v", mapping)
			}
			if mapping["grid_mapping_name"] == "transverse_mercator" && (mapping["false_easting"] != 500000.0 || len(mapping["standard_parallel"].([]float64)) != 2) {
				t.Errorf("mapping %v", mapping)
			}
		})
	}
}

func TestGridErrors(t *testing.T) {
	type axes = []axisOfTest
	lat := axisOfTest{"lat", steps(10, 50, -0.5), nil}
	irregular := steps(20, 10, 0.5)
	irregular[7] += 0.1
	swath := []testVariable{{"longitude", []int{0, 1}, nil, make([]float32, 9)}, {"latitude", []int{0, 1}, nil, make([]float32, 9)}}
	for _, test := range []struct {
		name       string
		axes       axes
		attributes []testAttribute
		more       []testVariable
		want       error
		text       string
	}{
		{"irregular", axes{lat, {"lon", irregular, nil}}, nil, nil, ErrUnsupported, "gdalwarp"},
		{"one value", axes{lat, {"lon", []float64{5}, nil}}, nil, nil, ErrUnsupported, "1 value"},
		{"constant", axes{lat, {"lon", []float64{5, 5}, nil}}, nil, nil, ErrUnsupported, "from 5 to 5"},
		{"too coarse for float32", axes{lat, {"lon", singles(steps(20, 170, 1e-5)), nil}}, nil, nil, ErrUnsupported, "irregular"},
		{"a missing value", axes{lat, {"lon", []float64{1, math.NaN(), 3}, nil}}, nil, nil, ErrFormat, "lon"},
		{"latitudes", axes{{"lat", steps(10, 85, 1), nil}, {"lon", steps(10, 1, 1), nil}}, nil, nil, ErrFormat, "from 85 to 94"},
		{"feet", axes{{"y", steps(10, 5300150, -300), units("m")}, {"x", steps(20, 400150, 300), units("US_survey_foot")}}, nil, nil, ErrUnsupported, "us_survey_foot"},
		{"mixed", axes{lat, {"x", steps(10, 1, 1), nil}}, nil, nil, ErrUnsupported, "longitude or latitude"},
		{"swath by the attribute", axes{{"rows", nil, nil}, {"columns", nil, nil}}, []testAttribute{{"coordinates", "longitude latitude"}}, swath, ErrUnsupported, "level 3"},
		{"swath", axes{{"rows", nil, nil}, {"columns", nil, nil}}, nil, swath, ErrUnsupported, "level 3"},
		{"no axes", axes{{"rows", nil, nil}, {"columns", nil, nil}}, nil, nil, ErrUnsupported, "rows, columns"},
		{"one axis", axes{lat, {"columns", nil, nil}}, nil, nil, ErrUnsupported, "lat, columns"},
		{"two of rows", axes{lat, {"latitude", steps(10, 50, -1), nil}}, nil, nil, ErrUnsupported, "latitude"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, err := gridFile(t, test.axes, test.attributes, test.more...).Grid(context.Background())
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("grid %v, error %v, want %v with %q", g, err, test.want, test.text)
			}
		})
	}
}

func TestTimes(t *testing.T) {
	v := gridFile(t, []axisOfTest{{"depth", []float64{0}, nil}, {"time", []float64{20332, 20332.5}, units("days since 1970-01-01")}}, nil)
	times, err := v.Times(context.Background())
	want := []time.Time{time.Date(2025, 9, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 9, 1, 12, 0, 0, 0, time.UTC)}
	if err != nil || !slices.Equal(times, want) || v.TimeDimension() != 1 {
		t.Errorf("Times() = %v, %v, dimension %d", times, err, v.TimeDimension())
	}
	v = gridFile(t, []axisOfTest{{"depth", []float64{0}, nil}}, nil)
	if times, err := v.Times(context.Background()); times != nil || err != nil || v.TimeDimension() != -1 {
		t.Errorf("without a time: Times() = %v, %v", times, err)
	}
	v = gridFile(t, []axisOfTest{{"depth", []float64{0}, nil}}, []testAttribute{{"coordinates", "lat time"}},
		testVariable{"time", nil, units("seconds since 1970-01-01"), []int32{86400}})
	if times, err := v.Times(context.Background()); err != nil || len(times) != 1 || times[0].Unix() != 86400 || v.TimeDimension() != -1 {
		t.Errorf("scalar time: Times() = %v, %v", times, err)
	}
	for _, test := range []struct {
		units, calendar string
		values          any
		want            error
	}{
		{"days since 1970-01-01", "noleap", []float64{1}, ErrUnsupported},
		{"months since 1970-01-01", "", []float64{1}, ErrUnsupported},
		{"days since 1970-02-30", "", []float64{1}, ErrFormat},
		{"days since yesterday", "", []float64{1}, ErrFormat},
		{"days since 1970-01-01 25:00", "", []float64{1}, ErrFormat},
		{"days since 1970-01-01 00:00 +99", "", []float64{1}, ErrFormat},
		{"days since 1970-01-01 00:00 +", "", []float64{1}, ErrFormat},
		{"days since 99999-01-01", "", []float64{1}, ErrFormat},
		{"days since ", "", []float64{1}, ErrFormat},
		{"days since 1970-01-01", "", []float64{1e300}, ErrFormat},
		{"days since 1970-01-01", "", []float64{math.NaN()}, ErrFormat},
		{"days since 1970-01-01", "", []float64{math.Inf(1)}, ErrFormat},
		{"days since 1970-01-01", "", "text", ErrUnsupported},
	} {
		v := gridFile(t, []axisOfTest{{"time", test.values, []testAttribute{{"units", test.units}, {"calendar", test.calendar}, {"axis", "T"}}}}, nil)
		if times, err := v.Times(context.Background()); !errors.Is(err, test.want) {
			t.Errorf("%q, %q, %v: Times() = %v, %v, want %v", test.units, test.calendar, test.values, times, err, test.want)
		}
	}
}

func TestTimeBounds(t *testing.T) {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	january, february, march := day(2022, 1, 1), day(2022, 2, 1), day(2022, 3, 1)
	numbers, both := []float64{18993, 19024, 19024, 19052}, []time.Time{january, february, february, march}
	nv := axisOfTest{"nv", []float64{0, 1}, nil}
	months := func(bounds string) []axisOfTest {
		attributes := units("days since 1970-01-01")
		if bounds != "" {
			attributes = append(attributes, testAttribute{bounds, "time_bnds"})
		}
		return []axisOfTest{{"time", []float64{18993, 19024}, attributes}, nv}
	}
	for _, test := range []struct {
		name       string
		axes       []axisOfTest
		attributes []testAttribute
		more       []testVariable
		want       []time.Time
		err        error
	}{
		{"none", months(""), nil, nil, nil, nil},
		{"bounds", months("bounds"), nil, []testVariable{{"time_bnds", []int{0, 1}, nil, numbers}}, both, nil},
		{"climatology", months("climatology"), nil, []testVariable{{"time_bnds", []int{0, 1}, nil, numbers}}, both, nil},
		{"units of their own", months("bounds"), nil, []testVariable{{"time_bnds", []int{0, 1}, units("hours since 2022-01-01"), []int32{0, 24, 24, 48}}},
			[]time.Time{january, day(2022, 1, 2), day(2022, 1, 2), day(2022, 1, 3)}, nil},
		{"scalar", []axisOfTest{nv}, []testAttribute{{"coordinates", "time"}},
			[]testVariable{{"time", nil, months("bounds")[0].attributes, []float64{18993}}, {"time_bnds", []int{0}, nil, numbers[:2]}}, both[:2], nil},
		{"without the attribute", months(""), nil, []testVariable{{"time_bounds", []int{0, 1}, nil, numbers}}, both, nil},
		{"the name of something else", months(""), nil, []testVariable{{"time_bounds", []int{0}, nil, numbers[:2]}}, nil, nil},
		{"missing", months("bounds"), nil, nil, nil, nil},
		{"one dimension", months("bounds"), nil, []testVariable{{"time_bnds", []int{0}, nil, numbers[:2]}}, nil, ErrUnsupported},
		{"not a number", months("bounds"), nil, []testVariable{{"time_bnds", []int{0, 1}, nil, []float64{math.NaN(), 1, 2, 3}}}, nil, ErrFormat},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := gridFile(t, test.axes, test.attributes, test.more...).TimeBounds(t.Context())
			if !errors.Is(err, test.err) || !slices.EqualFunc(got, test.want, time.Time.Equal) {
				t.Errorf("TimeBounds() = %v, %v, want %v, %v", got, err, test.want, test.err)
			}
		})
	}
	// A time that no dimension and no attribute has, but the file.
	v := gridFile(t, []axisOfTest{{"depth", []float64{0}, nil}, {"time", []float64{18993}, units("days since 1970-01-01")}}, nil,
		testVariable{"chl", []int{0}, nil, []int8{1}})
	chl, _ := v.file.Variable("chl")
	if times, err := chl.Times(t.Context()); err != nil || len(times) != 1 || !times[0].Equal(day(2022, 1, 1)) {
		t.Errorf("the time of the file: Times() = %v, %v", times, err)
	}
}
