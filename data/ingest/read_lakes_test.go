package ingest

import (
	"context"
	"strings"
	"testing"

	"limnomap/data"
)

func readLakes(t *testing.T, text string, opts *Options) ([]data.Lake, Report, error) {
	t.Helper()
	return ReadLakes(context.Background(), []File{textFile("lakes", text)}, opts)
}

// A GeoJSON of outlines needs only ids.
func TestReadLakesOfOutlines(t *testing.T) {
	lakes, report, err := readLakes(t, `{"type": "FeatureCollection", "features": [
		{"type": "Feature", "properties": {"id": "a"}, "geometry": {"type": "Polygon", "coordinates": [[[10, 50], [10.1, 50], [10.1, 50.1], [10, 50]]]}},
		{"type": "Feature", "properties": {"id": "b"}, "geometry": {"type": "Point", "coordinates": [11, 51]}}]}`, nil)
	if err != nil || report.Rejected > 0 || len(lakes) != 2 {
		t.Fatalf("%d lakes, %v, %v", len(lakes), report.Bad, err)
	}
	if a := lakes[0]; a.ID != "a" || a.Name != "a" || a.Outline == "" || a.AreaKM2 == 0 {
		t.Errorf("the first lake is %+v", a)
	}
	if b := lakes[1]; b.Outline != "" || b.Point.Lon() != 11 {
		t.Errorf("the second lake is %+v", b)
	}
}

func TestReadLakesOfCSV(t *testing.T) {
	for _, test := range []struct {
		name, text string
		opts       *Options
		lakes, bad int
	}{
		{"without names", "id,lat,lon\na,50,10\nb,51,11\n", nil, 2, 0},
		{"with a bad row", "id,lat,lon\na,50,10\nb,151,11\n", nil, 0, 1},
		{"with a bad row to skip", "id,lat,lon\na,50,10\nb,151,11\n", &Options{SkipBad: true}, 1, 1},
		{"repeated", "id,lat,lon\na,50,10\na,50,10\n", nil, 1, 0},
		{"contradicting", "id,lat,lon\na,50,10\na,50,11\n", nil, 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			lakes, report, err := readLakes(t, test.text, test.opts)
			if err != nil || len(lakes) != test.lakes || report.Rejected != test.bad {
				t.Errorf("%d lakes and %d bad rows (%v), %v; want %d and %d", len(lakes), report.Rejected, report.Bad, err, test.lakes, test.bad)
			}
		})
	}
}

func TestReadLakesNamesAFault(t *testing.T) {
	if _, _, err := readLakes(t, "identity,lat,lon\na,50,10\n", nil); err == nil || !strings.Contains(err.Error(), "lacks the column id") {
		t.Errorf("a file without ids gives %v", err)
	}
}
