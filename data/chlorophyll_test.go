package data_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"limnomap/data"
)

func TestChlorophyllOf(t *testing.T) {
	tests := []struct {
		in   float64
		want data.Chlorophyll
	}{
		{0, 0},
		{math.Copysign(0, -1), 0}, // negative zero, from some programs' arithmetic
		{0.004, 0},
		{0.005, 1},
		{1.004, 100},
		{1.005, 101}, // the nearest double is 1.00499999999999989
		{8.345, 835},
		{9.994, 999},
		{9.995, 1000},
		{9.996, 1000},
		{12.345, 1235},
		{1499.995, 1500_00},
		{1500, 1500_00},
	}
	for _, tt := range tests {
		if got, err := data.ChlorophyllOf(tt.in); err != nil || got != tt.want {
			t.Errorf("ChlorophyllOf(%v) = %d, %v, want %d", tt.in, got, err, tt.want)
		}
	}
}

func TestChlorophyllOfImplausible(t *testing.T) {
	for _, f := range []float64{-1, 1501, math.NaN(), math.Inf(1), math.Inf(-1), math.Nextafter(0, -1), math.Nextafter(1500, 2000)} {
		if got, err := data.ChlorophyllOf(f); err != data.ErrImplausible || got != data.NoChlorophyll {
			t.Errorf("ChlorophyllOf(%v) = %d, %v, want none and ErrImplausible", f, got, err)
		}
	}
}

// Every possible value is printed in its shortest form and parsed back unchanged.
func TestChlorophyllRoundTrip(t *testing.T) {
	for c := data.Chlorophyll(0); c <= data.MaxChlorophyll; c++ {
		s := c.String()
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || f != c.Float() {
			t.Fatalf("Chlorophyll(%d).String() = %q, want %v", c, s, c.Float())
		}
		if got, err := data.ChlorophyllOf(f); err != nil || got != c {
			t.Fatalf("ChlorophyllOf(%v) = %d, %v, want %d", f, got, err, c)
		}
		if _, decimals, _ := strings.Cut(s, "."); len(decimals) > 2 || strings.HasSuffix(decimals, "0") {
			t.Fatalf("Chlorophyll(%d).String() = %q, want at most two decimals and no zero at the end", c, s)
		}
	}
}

func TestChlorophyllJSON(t *testing.T) {
	tests := []struct {
		c    data.Chlorophyll
		want string
	}{
		{data.NoChlorophyll, "null"}, {0, "0"}, {7, "0.07"}, {10, "0.1"}, {1000, "10"}, {1230, "12.3"}, {1500_00, "1500"},
	}
	for _, tt := range tests {
		got, err := json.Marshal(struct {
			C data.Chlorophyll `json:"c"`
		}{tt.c})
		if want := `{"c":` + tt.want + `}`; err != nil || string(got) != want {
			t.Errorf("json of %d = %s, %v, want %s", tt.c, got, err, want)
		}
	}
}
