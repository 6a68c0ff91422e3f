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

// sorted returns the tiles of these ids in their order, and by their place.
func sorted(ids map[uint64]string) (pairs []pair, tiles map[maptile.Tile]string) {
	tiles = map[maptile.Tile]string{}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		pairs = append(pairs, pair{hilbert.Tile(id), ids[id]})
		tiles[hilbert.Tile(id)] = ids[id]
	}
	return pairs, tiles
}

// list names everything below dir.
func list(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if path != dir {
			names = append(names, filepath.ToSlash(path[len(dir)+1:]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// contents returns the bytes of all files below dir by name.
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
				t.Errorf("two archives of the same tiles differ: %d and %d files", len(want), len(got))
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
		{"no folder to lie in", "none/lakes.pmtiles", nil, "no such file"},
		{"no folder to lie in", "none/lakes.mbtiles", nil, "no such file"},
		{"no folder to lie in", "none/lakes/", nil, "no such file"},
		{"a folder in the way", "folder.pmtiles", nil, "is no file"},
		{"a folder in the way", "folder.mbtiles", nil, "is no file"},
		{"a folder with something in it", "full/", nil, "not empty"},
		{"a file in the way", "file/", nil, "not a directory"},
		{"a database in use", "used.mbtiles", nil, "used.mbtiles-wal is there too"},
		{"no name", "lakes.pmtiles", func(m *Metadata) { m.Name = "" }, "name is empty"},
		{"zooms that fall", "lakes.pmtiles", func(m *Metadata) { m.MinZoom = 13 }, "zooms 13 to 12"},
		{"zooms too deep", "lakes.pmtiles", func(m *Metadata) { m.MaxZoom = 25 }, "24 is the largest"},
		{"centre too deep", "lakes.pmtiles", func(m *Metadata) { m.CenterZoom = 13 }, "zoom 13 is not from 0 to 12"},
		{"centre not given", "lakes.pmtiles", func(m *Metadata) { m.Center = orb.Point{} }, "centre 0,0 is not within"},
		{"centre NaN", "lakes.pmtiles", func(m *Metadata) { m.Center[1] = math.NaN() }, "centre 10.5,NaN is not within"},
		{"bound not given", "lakes.pmtiles", func(m *Metadata) { m.Bound = orb.Bound{} }, "bound 0,0,0,0 is not"},
		{"bound over the antimeridian", "lakes.pmtiles", func(m *Metadata) { m.Bound.Min[0] = 170 }, "bound 170,47.25,15.125,55.0625 is not"},
		{"bound beyond the world", "lakes.pmtiles", func(m *Metadata) { m.Bound.Max[0] = 181 }, "within the world"},
		{"bound NaN", "lakes.pmtiles", func(m *Metadata) { m.Bound.Max[1] = math.NaN() }, "rising and within the world"},
		{"bound infinite", "lakes.pmtiles", func(m *Metadata) { m.Bound.Max[1] = math.Inf(1) }, "within the world"},
		{"a text of ours", "lakes.mbtiles", func(m *Metadata) { m.More = map[string]string{"minzoom": "3"} }, `may not be called "minzoom"`},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.path, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, dir := range []string{"folder.pmtiles", "folder.mbtiles", "full"} {
				if err := os.Mkdir(dir, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{"full/old.png", "file", "used.mbtiles", "used.mbtiles-wal"} {
				if err := os.WriteFile(file, nil, 0o666); err != nil {
					t.Fatal(err)
				}
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
				t.Errorf("Create left something: %v, before %v", after, before)
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
		{"a lower zoom later", []maptile.Tile{maptile.New(0, 0, 2)}, maptile.New(0, 0, 1), "a", "tile 1/0/0: it comes after 2/0/0"},
		{"too shallow", nil, maptile.New(0, 0, 0), "a", "tile 0/0/0: the zoom is not from 1 to 12"},
		{"too deep", nil, maptile.New(0, 0, 13), "a", "tile 13/0/0: the zoom is not from 1 to 12"},
		{"off the world", nil, maptile.New(2, 0, 1), "a", "tile 1/2/0: there is no such tile; columns and rows are from 0 to 1"},
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
				if err != nil {
					t.Fatal(err)
				}
				defer w.Abort()
				for _, tile := range test.before {
					if err := w.Add(tile, []byte("a")); err != nil {
						t.Fatal(err)
					}
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
					t.Errorf("after an error there is left: %v", left)
				}
			})
		}
	}
}
