package netcdf

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestDecode(t *testing.T) {
	nan := math.NaN()
	type list = []testAttribute
	for _, test := range []struct {
		name       string
		values     any
		attributes list
		want       []float64
		states     []State
	}{
		{"plain", []int16{1, -32767, 5}, nil, []float64{1, nan, 5}, []State{Valid, Fill, Valid}},
		{"bytes have no default fill", []int8{1, -127}, nil, []float64{1, -127}, nil},
		{"the default is not missing beside a fill value", []int16{-1, -32767}, list{{"_FillValue", []int16{-1}}}, []float64{nan, -32767}, []State{Fill, Valid}},
		{"raw fill before scale", []int16{-1, 200}, list{{"_FillValue", []int16{-1}}, {"scale_factor", []float64{0.5}}, {"add_offset", []float64{10}}},
			[]float64{nan, 110}, []State{Fill, Valid}},
		{"a scaled value equal to the fill", []int16{2, 1}, list{{"_FillValue", []int16{1}}, {"scale_factor", []float64{0.5}}}, []float64{1, nan}, []State{Valid, Fill}},
		{"several missing values", []float32{1, 2, 3}, list{{"missing_value", []float32{1, 3}}}, []float64{nan, 2, nan}, []State{Fill, Valid, Fill}},
		{"missing value as text", []float32{-999, 2}, list{{"missing_value", "-999"}}, []float64{nan, 2}, []State{Fill, Valid}},
		{"text that is no number", []float32{-999, 2}, list{{"missing_value", "none"}}, []float64{-999, 2}, nil},
		{"fill value of another type", []float32{-9999.9, 2}, list{{"_FillValue", []float64{-9999.9}}}, []float64{nan, 2}, []State{Fill, Valid}},
		{"large fill with few digits", []float32{9.96921e36, 9.9692e36, 1 << 122}, list{{"_FillValue", []float32{-1}}}, []float64{nan, nan, 1 << 122},
			[]State{Fill, Fill, Valid}},
		{"fill of float64 in float32", []float32{-math.MaxFloat32, 1}, list{{"_FillValue", []float64{-math.MaxFloat64}}}, []float64{nan, 1}, []State{Fill, Valid}},
		{"fill with few digits", []float64{-math.MaxFloat64, 1}, list{{"missing_value", "-1.79769313486232e+308"}}, []float64{nan, 1}, []State{Fill, Valid}},
		{"fill and missing value", []float32{-1, -2, 1}, list{{"_FillValue", []float32{-1}}, {"missing_value", []float32{-2}}}, []float64{nan, nan, 1}, []State{Fill, Fill, Valid}},
		{"large fill of float64", []float64{9.969209968386869e36, 1}, nil, []float64{nan, 1}, []State{Fill, Valid}},
		{"NaN and infinity", []float32{float32(nan), float32(math.Inf(1)), 1}, nil, []float64{nan, math.Inf(1), 1}, []State{Fill, OutOfRange, Valid}},
		{"raw range", []int16{-1, 0, 250, 251}, list{{"valid_range", []int16{0, 250}}, {"scale_factor", []float64{0.1}}}, []float64{-0.1, 0, 25, 25.1},
			[]State{OutOfRange, Valid, Valid, OutOfRange}},
		{"range in floats of packed integers", []int16{-1, 0, 250, 251}, list{{"valid_range", []float32{0, 25}}, {"scale_factor", []float64{0.1}}},
			[]float64{-0.1, 0, 25, 25.1}, []State{OutOfRange, Valid, Valid, OutOfRange}},
		{"range in floats of plain integers", []int16{-1, 0, 25, 26}, list{{"valid_range", []float32{0, 25}}}, []float64{-1, 0, 25, 26},
			[]State{OutOfRange, Valid, Valid, OutOfRange}},
		{"minimum", []float32{-1, 0, 1e9}, list{{"valid_min", []float32{0}}}, []float64{-1, 0, 1e9}, []State{OutOfRange, Valid, Valid}},
		{"maximum", []float32{-1, 0, 1e9}, list{{"valid_max", []float32{0}}}, []float64{-1, 0, 1e9}, []State{Valid, Valid, OutOfRange}},
		{"maximum of float64 rounded as values", []float32{0.1}, list{{"valid_max", []float64{0.1}}}, []float64{float64(float32(0.1))}, nil},
		{"range of one number", []float32{-1, 2}, list{{"valid_range", []float32{0}}}, []float64{-1, 2}, nil},
		{"range of NaN", []float32{-1, 2}, list{{"valid_min", []float32{float32(nan)}}}, []float64{-1, 2}, nil},
		{"unsigned", []int8{0, -1, -2, -128}, list{{"_Unsigned", "true"}, {"_FillValue", []int8{-1}}, {"valid_max", []int8{-2}}}, []float64{0, nan, 254, 128},
			[]State{Valid, Fill, Valid, Valid}},
		{"signed", []uint8{0, 255, 128}, list{{"_Unsigned", "false"}, {"_FillValue", []uint8{128}}}, []float64{0, -1, nan}, []State{Valid, Valid, Fill}},
		{"offset only", []int32{1}, list{{"add_offset", []float32{-2}}}, []float64{-1}, nil},
		{"scale as text", []int32{100}, list{{"scale_factor", "0.5"}}, []float64{50}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := variable(t, test.values, test.attributes...)
			d, err := v.Decoder()
			if err != nil {
				t.Fatal(err)
			}
			w, _ := whole(v)
			raw, err := read(v, w)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range raw[0] {
				value, state := d.Decode(r)
				want := Valid
				if test.states != nil {
					want = test.states[i]
				}
				if state != want || !same(value, test.want[i]) && !near(value, test.want[i], 1e-9) {
					t.Errorf("Decode(%g) = %g, %v, want %g, %v", r, value, state, test.want[i], want)
				}
			}
		})
	}
}

// A fill value that no number of the type can be declares nothing.
func TestHasFill(t *testing.T) {
	for _, test := range []struct {
		name       string
		values     any
		attributes []testAttribute
		want       bool
	}{
		{"none", []float32{1}, nil, false}, {"a default", []int16{1}, nil, false}, {"a fill value", []float32{1}, []testAttribute{{"_FillValue", []float32{-1}}}, true},
		{"a missing value", []int16{1}, []testAttribute{{"missing_value", []int16{-1}}}, true},
		{"NaN in floats", []float32{1}, []testAttribute{{"_FillValue", []float32{float32(math.NaN())}}}, true},
		{"NaN in integers", []int16{1}, []testAttribute{{"missing_value", []float32{float32(math.NaN())}}}, false},
		{"-9999 in bytes", []uint8{1}, []testAttribute{{"missing_value", []int16{-9999}}}, false},
		{"255 in bytes", []uint8{1}, []testAttribute{{"missing_value", []int16{255}}}, true},
		{"255 in signed bytes", []int8{1}, []testAttribute{{"missing_value", []int16{255}}}, false},
		{"255 in unsigned bytes", []int8{1}, []testAttribute{{"_Unsigned", "true"}, {"missing_value", []int16{255}}}, true},
		{"-1 in unsigned bytes", []int8{1}, []testAttribute{{"_Unsigned", "true"}, {"_FillValue", []int8{-1}}}, true},
	} {
		d, err := variable(t, test.values, test.attributes...).Decoder()
		if err != nil {
			t.Fatal(err)
		}
		if got := d.HasFill(); got != test.want {
			t.Errorf("%s: HasFill() = %v, want %v", test.name, got, test.want)
		}
	}
}

func TestIntegers(t *testing.T) {
	v := variable(t, []int8{0}, testAttribute{"masks", []int32{8, math.MinInt32}}, testAttribute{"floats", []float64{1, 4096}}, testAttribute{"half", []float64{0.5}},
		testAttribute{"text", "1"})
	var sign int64 = math.MinInt32
	for name, want := range map[string][]uint64{"masks": {8, uint64(sign)}, "floats": nil, "half": nil, "text": nil, "none": nil} {
		if got := v.Integers(name); !slices.Equal(got, want) {
			t.Errorf("Integers(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestDecoderErrors(t *testing.T) {
	for _, test := range []struct {
		values    any
		attribute testAttribute
		want      error
	}{
		{[]int16{1}, testAttribute{"scale_factor", []float64{0}}, ErrFormat},
		{[]int16{1}, testAttribute{"scale_factor", []float64{math.NaN()}}, ErrFormat},
		{[]int16{1}, testAttribute{"add_offset", []float64{math.Inf(1)}}, ErrFormat},
		{"text", testAttribute{"a", "b"}, ErrUnsupported},
	} {
		if _, err := variable(t, test.values, test.attribute).Decoder(); !errors.Is(err, test.want) {
			t.Errorf("Decoder of %v with %v: %v, want %v", test.values, test.attribute, err, test.want)
		}
	}
	d, err := variable(t, []float32{1}, testAttribute{"units", "mg m-3"}).Decoder()
	if err != nil || d.Unit() != "mg m-3" {
		t.Errorf("Unit() = %q, %v", d.Unit(), err)
	}
}
