package archive

import (
	"database/sql"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/paulmach/orb/maptile"
	_ "modernc.org/sqlite"
	"pgregory.net/rapid"

	"limnomap/tiles/hilbert"
)

// readMBTiles reads an archive by the specification, which only fixes the names of its tables.
func readMBTiles(t testing.TB, path string) (metadata map[string]string, tiles map[maptile.Tile]string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	must(t, err)
	defer db.Close()
	metadata, tiles = map[string]string{}, map[maptile.Tile]string{}
	each(t, db, "SELECT name, value FROM metadata", func(rows *sql.Rows) error {
		var name, value string
		err := rows.Scan(&name, &value)
		metadata[name] = value
		return err
	})
	each(t, db, "SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles", func(rows *sql.Rows) error {
		var z, column, row uint32
		var data []byte
		err := rows.Scan(&z, &column, &row, &data)
		tiles[maptile.New(column, 1<<z-1-row, maptile.Zoom(z))] = string(data)
		return err
	})
	return metadata, tiles
}

func each(t testing.TB, db *sql.DB, query string, row func(*sql.Rows) error) {
	t.Helper()
	rows, err := db.Query(query)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		must(t, row(rows))
	}
	must(t, rows.Err())
}

func TestMBTilesRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.MapOfN(rapid.Uint64Range(0, hilbert.FirstID(13)-1), rapid.SampledFrom([]string{"a", "bb", "ccc"}), 0, 50).Draw(rt, "tiles")
		pairs, want := sorted(ids)
		path := filepath.Join(t.TempDir(), "lakes.mbtiles")
		write(t, path, testMetadata(), pairs)
		if _, got := readMBTiles(t, path); !maps.Equal(got, want) {
			rt.Fatalf("read %v", got)
		}
	})
}

func TestMBTilesMetadata(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a question? #1.mbtiles")
	write(t, path, testMetadata(), nil)
	copied := filepath.Join(t.TempDir(), "plain.mbtiles")
	raw, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(copied, raw, 0o666))
	got, _ := readMBTiles(t, copied)
	want := map[string]string{
		"name": "Lakes", "type": "overlay", "description": `Chlorophyll-a, in "µg/l"`, "version": "1.2.3",
		"attribution": `<a href="https://example.org/">Example</a>`, "notice": "simulated values", "date": "2026-06-01",
		"format": "png", "bounds": "5.5,47.25,15.125,55.0625", "center": "10.5,51.125,6", "minzoom": "0", "maxzoom": "12",
	}
	if !maps.Equal(got, want) {
		t.Errorf("metadata = %v, want %v", got, want)
	}
	if id := string(raw[68:72]); id != "MPBX" { // SQLite file format, section 1.3.14
		t.Errorf("application id = %q, want MPBX", id)
	}
}

func TestMBTilesStoresEqualTilesOnce(t *testing.T) {
	dir := t.TempDir()
	large := make([]byte, 100_000)
	write(t, dir+"/once.mbtiles", testMetadata(), manyPairs(1, 5, func(int) string { return string(large) }))
	write(t, dir+"/often.mbtiles", testMetadata(), manyPairs(100, 5, func(int) string { return string(large) }))
	files := contents(t, dir)
	if once, often := len(files["once.mbtiles"]), len(files["often.mbtiles"]); often != once {
		t.Errorf("a hundred equal tiles take %d bytes, one takes %d", often, once)
	}
}
