package ingest

import (
	"testing"

	"limnomap/data/store/storetest"
)

func TestFeatureNumbers(t *testing.T) {
	for _, test := range []struct{ written, want string }{
		{"12345", "12345"},
		{"12345.0", "12345"},
		{"1.2345e4", "12345"},
		{"-7.0", "-7"},
		{"12345.5", "12345.5"},
		{"1e-3", "1e-3"},
		{"9007199254740991.0", "9007199254740991"},
		{"9007199254740993.0", "9007199254740993.0"}, // not exact in float64
		{"9007199254740993", "9007199254740993"},
		{"1e999", "1e999"},
	} {
		if got, err := field([]byte(test.written)); got != test.want || err != nil {
			t.Errorf("field(%s) = %q, %v, want %q", test.written, got, err, test.want)
		}
	}
}

// Of two exports of the same list, one with all numbers in floating point, the second changes nothing.
func TestNumericIDsMatch(t *testing.T) {
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, "id,external_id,name,lat,lon\n12345,7,X,53.42,12.7\n")
	r := mustImport(t, Lakes, s, nil, features(featureOf(`"id":12345.0,"external_id":7.0,"name":"X"`, pointGeometry)))
	if r.Unchanged != 1 || !r.Written {
		lakes, _ := stored(t, s)
		t.Errorf("report: %v\nstored %v, want the lake unchanged", r, lakes)
	}
}
