package archive

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/paulmach/orb/maptile"
)

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/lakes/", testMetadata(), []pair{
		{maptile.New(0, 0, 0), "a"}, {maptile.New(0, 1, 1), "b"}, {maptile.New(0, 2, 2), "a"}, {maptile.New(0, 3, 2), "c"},
	})
	got := contents(t, dir+"/lakes")
	var doc map[string]any
	must(t, json.Unmarshal([]byte(got["tiles.json"]), &doc))
	delete(got, "tiles.json")
	if want := map[string]string{"0/0/0.png": "a", "1/0/1.png": "b", "2/0/2.png": "a", "2/0/3.png": "c"}; !maps.Equal(got, want) {
		t.Errorf("files = %v, want %v", got, want)
	}
	want := map[string]any{
		"tilejson": "3.0.0", "tiles": []any{"{z}/{x}/{y}.png"}, "scheme": "xyz", "name": "Lakes", "type": "overlay",
		"description": `Chlorophyll-a, in "µg/l"`, "attribution": `<a href="https://example.org/">Example</a>`, "version": "1.2.3",
		"bounds": []any{5.5, 47.25, 15.125, 55.0625}, "center": []any{10.5, 51.125, 6.0}, "minzoom": 0.0, "maxzoom": 12.0,
		"notice": "simulated values", "date": "2026-06-01",
	}
	if !reflect.DeepEqual(doc, want) {
		t.Errorf("tiles.json = %v, want %v", doc, want)
	}
}

func TestFolderWithoutTiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/lakes/", testMetadata(), nil)
	if got := list(t, dir); len(got) != 2 || got[1] != "lakes/tiles.json" {
		t.Errorf("files = %v, want lakes and lakes/tiles.json", got)
	}
}

func TestFolderIsASymbolicLink(t *testing.T) {
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	write(t, link+"/", testMetadata(), []pair{{maptile.New(0, 0, 0), "a"}})
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is %v, %v; want it unchanged", info, err)
	}
	if got := contents(t, dir); got["0/0/0.png"] != "a" {
		t.Errorf("files = %v, want a tile in the target of the link", got)
	}
}
