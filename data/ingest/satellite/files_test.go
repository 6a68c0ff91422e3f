package satellite

import (
	"bytes"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
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
