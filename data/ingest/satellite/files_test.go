package satellite

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/ingest/satellite/satellitetest"
	"limnomap/data/outline"
)

// fileOf returns bytes as a file.
func fileOf(name string, b []byte) File {
	return File{Name: name, ReaderAt: bytes.NewReader(b), Size: int64(len(b))}
}

// squareLake returns a lake whose outline is a rectangle.
func squareLake(t testing.TB, id string, west, south, east, north float64) Lake {
	t.Helper()
	ring := orb.Ring{{west, south}, {east, south}, {east, north}, {west, north}, {west, south}}
	shore, err := outline.New(orb.MultiPolygon{{ring}})
	if err != nil {
		t.Fatal(err)
	}
	return Lake{ID: data.LakeID(id), Point: orb.Point{(west + east) / 2, (south + north) / 2}, Outline: shore}
}

// extractAll returns the rows of lakes by their ids.
func extractAll(t testing.TB, f File, lakes []Lake, opts *Options) (map[data.LakeID]Row, Summary) {
	t.Helper()
	rows := make(map[data.LakeID]Row)
	summary, err := Extract(t.Context(), f, lakes, opts, func(r *Row) error {
		if _, twice := rows[r.Lake]; twice {
			t.Errorf("lake %s has two rows", r.Lake)
		}
		rows[r.Lake] = *r
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, summary
}

// valueOf returns what a file says about a lake in all of it, such as "48 of 200 pixels" or "ice of 0 pixels", or its error.
func valueOf(t testing.TB, f File, opts Options) (string, Summary) {
	t.Helper()
	lakes := wholeRaster(t)
	if strings.HasSuffix(f.Name, ".tif") {
		lakes = []Lake{blockLake(t, "a", 0, 0, 10, 10)}
	}
	opts.Shore = FixedShore(0)
	text := ""
	summary, err := Extract(t.Context(), f, lakes, &opts, func(r *Row) error {
		switch {
		case !r.HasValue:
			text = r.Reason.String()
		case r.Limit > 0:
			text = fmt.Sprintf("<%v", r.Limit)
		default:
			text = fmt.Sprintf("%.4g", r.Value)
		}
		if r.Uncertainty >= 0 {
			text += fmt.Sprintf(" ± %.4g", r.Uncertainty)
		}
		text += fmt.Sprintf(" of %d pixels", r.Valid)
		if o := r.Observation(); o.CheckImport() != nil {
			t.Errorf("%s: %+v: %v", f.Name, o, o.CheckImport())
		}
		return nil
	})
	if err != nil {
		return err.Error(), summary
	}
	return text, summary
}

// checkValue compares what a file says about a lake in all of it with a text of valueOf, or a part of its error.
func checkValue(t testing.TB, f File, opts Options, want string) Summary {
	t.Helper()
	got, summary := valueOf(t, f, opts)
	if !strings.Contains(got, want) || len(got) > 500 {
		t.Errorf("%s with %+v: %q, want %q", f.Name, opts, got, want)
	}
	return summary
}

// netCDF returns a file of some variables and without global attributes.
func netCDF(name string, variables ...satellitetest.Variable) File {
	f := lwqFile(variables...)
	f.Attributes = nil
	return fileOf(name, f.Encode())
}
