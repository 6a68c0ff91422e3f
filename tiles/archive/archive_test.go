package archive

import (
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/tiles/hilbert"
)

// kinds are names of archives, one for each format.
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

// A pair is a tile and its content.
type pair struct {
	tile maptile.Tile
	png  string
}

// write writes an archive.
func write(t testing.TB, path string, meta Metadata, pairs []pair) {
	t.Helper()
	w, err := Create(path, meta)
	must(t, err)
	defer w.Abort()
	for _, p := range pairs {
		must(t, w.Add(p.tile, []byte(p.png)))
	}
	must(t, w.Close())
}

// sorted returns the tiles of these ids in order, and as a map.
func sorted(ids map[uint64]string) (pairs []pair, tiles map[maptile.Tile]string) {
	tiles = map[maptile.Tile]string{}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		pairs = append(pairs, pair{hilbert.Tile(id), ids[id]})
		tiles[hilbert.Tile(id)] = ids[id]
	}
	return pairs, tiles
}

// list returns the names of all files and folders in dir.
func list(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if path != dir {
			names = append(names, filepath.ToSlash(path[len(dir)+1:]))
		}
		return err
	})
	must(t, err)
	return names
}

// contents returns the content of all files in dir by name.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range list(t, dir) {
		if raw, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			files[name] = string(raw)
		}
	}
	return files
}

func TestSameTilesSameBytes(t *testing.T) {
	pairs := manyPairs(3000, 9, func(i int) string { return strings.Repeat(distinct(i%1000), i%900+1) })
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			first, second := t.TempDir(), t.TempDir()
			write(t, first+"/"+kind, testMetadata(), pairs)
			write(t, second+"/"+kind, testMetadata(), pairs)
			got, want := contents(t, second), contents(t, first)
			if len(want) == 0 || !maps.Equal(got, want) {
				t.Errorf("two archives of the same tiles are different: %d and %d files", len(want), len(got))
			}
		})
	}
}

func TestCreateRefuses(t *testing.T) {
	tests := []struct {
		name, path string
		change     func(m *Metadata)
		want       string
	}{
		{"no kind", "lakes.zip", nil, "DIR/ (with the slash) are allowed"},
		{"no path", "", nil, "DIR/ (with the slash) are allowed"},
		{"no parent folder", "none/lakes.pmtiles", nil, "no such file"},
		{"no parent folder", "none/lakes.mbtiles", nil, "no such file"},
		{"no parent folder", "none/lakes/", nil, "no such file"},
		{"the name of a folder", "folder.pmtiles", nil, "is not a file"},
		{"the name of a folder", "folder.mbtiles", nil, "is not a file"},
		{"a folder that is not empty", "full/", nil, "not empty"},
		{"the name of a file", "file/", nil, "not a directory"},
		{"a database in use", "used.mbtiles", nil, "used.mbtiles-wal exists"},
		{"no name", "lakes.pmtiles", func(m *Metadata) { m.Name = "" }, "name is empty"},
		{"zooms in the wrong order", "lakes.pmtiles", func(m *Metadata) { m.MinZoom = 13 }, "zooms 13 to 12"},
		{"zooms too deep", "lakes.pmtiles", func(m *Metadata) { m.MaxZoom = 25 }, "24 is the largest"},
		{"centre too deep", "lakes.pmtiles", func(m *Metadata) { m.CenterZoom = 13 }, "centre, 13, must be 0 to 12"},
		{"centre not given", "lakes.pmtiles", func(m *Metadata) { m.Center = orb.Point{} }, "centre 0,0 is not within"},
		{"centre NaN", "lakes.pmtiles", func(m *Metadata) { m.Center[1] = math.NaN() }, "centre 10.5,NaN is not within"},
		{"bound not given", "lakes.pmtiles", func(m *Metadata) { m.Bound = orb.Bound{} }, "bound 0,0,0,0 must be"},
		{"bound across the antimeridian", "lakes.pmtiles", func(m *Metadata) { m.Bound.Min[0] = 170 }, "bound 170,47.25,15.125,55.0625 must be"},
		{"bound beyond the world", "lakes.pmtiles", func(m *Metadata) { m.Bound.Max[0] = 181 }, "within the world"},
		{"bound NaN", "lakes.pmtiles", func(m *Metadata) { m.Bound.Max[1] = math.NaN() }, "less than north, and within the world"},
		{"bound infinite", "lakes.pmtiles", func(m *Metadata) { m.Bound.Max[1] = math.Inf(1) }, "within the world"},
		{"a reserved text", "lakes.mbtiles", func(m *Metadata) { m.More = map[string]string{"minzoom": "3"} }, `may not be named "minzoom"`},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.path, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, dir := range []string{"folder.pmtiles", "folder.mbtiles", "full"} {
				must(t, os.Mkdir(dir, 0o777))
			}
			for _, file := range []string{"full/old.png", "file", "used.mbtiles", "used.mbtiles-wal"} {
				must(t, os.WriteFile(file, nil, 0o666))
			}
			before := list(t, ".")
			meta := testMetadata()
			if test.change != nil {
				test.change(&meta)
			}
			w, err := Create(test.path, meta)
			if err == nil {
				w.Abort()
				t.Fatalf("Create(%q) succeeded, want an error with %q", test.path, test.want)
			}
			if !strings.HasPrefix(err.Error(), "archive "+test.path+": ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Create(%q) = %q, want the path and %q", test.path, err, test.want)
			}
			if after := list(t, "."); !slices.Equal(after, before) {
				t.Errorf("Create left files: %v, before %v", after, before)
			}
		})
	}
}

func TestAddRefuses(t *testing.T) {
	tests := []struct {
		name   string
		before []maptile.Tile
		tile   maptile.Tile
		png    string
		want   string
	}{
		{"out of order", []maptile.Tile{maptile.New(1, 1, 1)}, maptile.New(0, 1, 1), "a", "tile 1/0/1: it comes after 1/1/1"},
		{"twice", []maptile.Tile{maptile.New(1, 1, 1)}, maptile.New(1, 1, 1), "a", "tile 1/1/1: it comes twice"},
		{"a smaller zoom later", []maptile.Tile{maptile.New(0, 0, 2)}, maptile.New(0, 0, 1), "a", "tile 1/0/0: it comes after 2/0/0"},
		{"zoom too small", nil, maptile.New(0, 0, 0), "a", "tile 0/0/0: the zoom must be 1 to 12"},
		{"zoom too large", nil, maptile.New(0, 0, 13), "a", "tile 13/0/0: the zoom must be 1 to 12"},
		{"outside the world", nil, maptile.New(2, 0, 1), "a", "tile 1/2/0: no such tile: columns and rows are 0 to 1"},
		{"empty", nil, maptile.New(0, 0, 1), "", "tile 1/0/0: it has 0 bytes"},
		{"huge", nil, maptile.New(0, 0, 1), strings.Repeat("x", maxTileBytes+1), "are allowed"},
	}
	for _, kind := range kinds {
		for _, test := range tests {
			t.Run(test.name+" "+kind, func(t *testing.T) {
				dir := t.TempDir()
				meta := testMetadata()
				meta.MinZoom = 1
				w, err := Create(dir+"/"+kind, meta)
				must(t, err)
				defer w.Abort()
				for _, tile := range test.before {
					must(t, w.Add(tile, []byte("a")))
				}
				first := w.Add(test.tile, []byte(test.png))
				if first == nil || !strings.Contains(first.Error(), test.want) {
					t.Fatalf("Add(%v) = %v, want an error with %q", test.tile, first, test.want)
				}
				if err := w.Add(maptile.New(0, 0, 12), []byte("a")); err != first {
					t.Errorf("Add after an error = %v, want the same error", err)
				}
				if err := w.Close(); err != first {
					t.Errorf("Close after an error = %v, want the same error", err)
				}
				if left := list(t, dir); len(left) > 0 {
					t.Errorf("files left after an error: %v", left)
				}
			})
		}
	}
}

// must ends the test if err is not nil.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
