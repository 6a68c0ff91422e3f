package ingest

import (
	"fmt"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestFeatureNumbers(t *testing.T) {
	for _, test := range []struct{ written, want string }{
		{"12345", "12345"},
		{"12345.0", "12345"},
		{"12345.000", "12345"},
		{"1.2345e4", "12345"},
		{"1.2345E+4", "12345"},
		{"-7.0", "-7"},
		{"0.0", "0"},
		{"12345.5", "12345.5"},
		{"112.60", "112.60"},
		{"1e-3", "1e-3"},
		{"9007199254740991.0", "9007199254740991"},
		{"9007199254740993.0", "9007199254740993.0"}, // not exact in float64
		{"9007199254740993", "9007199254740993"},
		{"12345678901234567890", "12345678901234567890"},
		{"1e999", "1e999"},
	} {
		if got, err := field([]byte(test.written)); got != test.want || err != nil {
			t.Errorf("field(%s) = %q, %v, want %q", test.written, got, err, test.want)
		}
	}
}

// An integer is read the same, however a program writes it.
func TestIntegersAreReadAlike(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int64Range(-maxInteger, maxInteger).Draw(rt, "n")
		want := strconv.FormatInt(n, 10)
		for _, written := range []string{want, want + ".0", fmt.Sprintf("%.1f", float64(n)), fmt.Sprintf("%.17e", float64(n)), fmt.Sprintf("%.17E", float64(n))} {
			if got, err := field([]byte(written)); got != want || err != nil {
				rt.Fatalf("field(%s) = %q, %v, want %q", written, got, err, want)
			}
		}
	})
}

// Of two exports of the same list, one with all numbers in floating point, the second changes nothing.
func TestNumericIDsMatch(t *testing.T) {
	s := newStore(t)
	mustImport(t, Lakes, s, nil, "id,external_id,name,lat,lon\n12345,7,X,53.42,12.7\n")
	r := mustImport(t, Lakes, s, nil, features(featureOf(`"id":12345.0,"external_id":7.0,"name":"X"`, pointGeometry)))
	if r.Unchanged != 1 || !r.Written {
		lakes, _ := stored(t, s)
		t.Errorf("report: %v\nstored %v, want the lake unchanged", r, lakes)
	}
}
