package archive

import (
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// kinds are the names of an archive of each kind.
var kinds = []string{"lakes.pmtiles", "lakes.mbtiles", "lakes/"}

func testMetadata() Metadata {
	return Metadata{
		Name:        "Lakes",
		Description: `Chlorophyll-a, in "µg/l"`,
		Attribution: `<a href="https://example.org/">Example</a>`,
		Version:     "1.2.3",
		Bound:       orb.Bound{Min: orb.Point{5.5, 47.25}, Max: orb.Point{15.125, 55.0625}},
		MinZoom:     0,
		MaxZoom:     12,
		Center:      orb.Point{10.5, 51.125},
		CenterZoom:  6,
		More:        map[string]string{"notice": "simulated values", "date": "2026-06-01"},
	}
}

// A pair is a tile and what is in it.
type pair struct {
	tile maptile.Tile
	png  string
}

// write writes an archive.
func write(t testing.TB, path string, meta Metadata, pairs []pair) {
	t.Helper()
	w, err := Create(path, meta)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	for _, p := range pairs {
		if err := w.Add(p.tile, []byte(p.png)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestEachKindIsWritten(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			path := t.TempDir() + "/" + kind
			write(t, path, testMetadata(), []pair{{maptile.New(0, 0, 0), "a"}, {maptile.New(1, 0, 1), "b"}, {maptile.New(0, 0, 2), "a"}})
		})
	}
}
