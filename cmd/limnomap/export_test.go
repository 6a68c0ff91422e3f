package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/tiles/hilbert"
)

// exportTo exports zooms 0 to 4 of a database to a file in a new folder, and returns its path.
func exportTo(t testing.TB, db, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "export") + string(filepath.Separator)
	mustDo(t, os.Mkdir(path, 0o755))
	path += name
	mustRun(t, append([]string{"export", path, "--db", db, "--as-of", "data", "--zoom", "0-4"}, args...)...)
	return path
}

// filesOf returns all files in the folder of an export, by name.
func filesOf(t testing.TB, path string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	dir := filepath.Dir(strings.TrimSuffix(path, "/"))
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		files[strings.TrimPrefix(name, dir)] = string(content)
		return err
	})
	mustDo(t, err)
	return files
}

// A week that is read from the database gives the same map as one in memory.
func TestExportOfAnOldWeek(t *testing.T) {
	db := worldDB(t, 150)
	const old = "2025-08-18" // the older of the world's two weeks
	held := filesOf(t, exportTo(t, db, "map.pmtiles", "--date", old))
	read := filesOf(t, exportTo(t, db, "map.pmtiles", "--date", old, "--weeks", "1"))
	if !maps.Equal(held, read) {
		t.Error("a week that is read from the database differs from the same week in memory")
	}
	if newest := filesOf(t, exportTo(t, db, "map.pmtiles")); maps.Equal(read, newest) {
		t.Error("the map of the old week equals the map of the newest week")
	}
}

// Exports of one and of four tiles at a time have the same bytes.
func TestExportsAreEqualBytes(t *testing.T) {
	db := worldDB(t, 150)
	for _, name := range []string{"map.pmtiles", "map.mbtiles", "map/"} {
		one := filesOf(t, exportTo(t, db, name, "--concurrency", "1"))
		four := filesOf(t, exportTo(t, db, name, "--concurrency", "4"))
		if !maps.Equal(one, four) || len(one) == 0 {
			t.Errorf("%s: two exports differ: files %v and %v", name, slices.Sorted(maps.Keys(one)), slices.Sorted(maps.Keys(four)))
		}
		if other := filesOf(t, exportTo(t, db, name, "--style", "dots")); maps.Equal(one, other) {
			t.Errorf("%s: another style gives the same bytes", name)
		}
	}
}

// closedDB returns the database of a world with a closure that is active, and one that was active only at the end of the older of its
// two weeks.
func closedDB(t testing.TB) string {
	t.Helper()
	db := worldDB(t, 150)
	mustRun(t, "import", "advisories", limnomaptest.WriteFile(t, t.TempDir(), "advisories.csv", "id,lake_id,kind,cause,issuer,issued,valid_from,valid_until\n"+
		"now,SIM_CA_LAB_0000001,closure,cyanobacteria,Amt,2025-08-26,2025-08-26,\nover,SIM_SA_PAT_0000150,closure,bacteria,Amt,2025-08-20,2025-08-20,2025-08-25\n"), "--db", db)
	return db
}

// Only the newest week in a style with signs depends on the time of the export, which is in the metadata.
func TestExportOfStatements(t *testing.T) {
	closed, open := closedDB(t), worldDB(t, 150)
	base, _ := startServer(t, "--db", closed, "--as-of", "data")
	_, legend := limnomaptest.Get(t, base+"/api/v1/legend.json")
	byTime := snapshotVersion(t, closed)
	before := time.Now().Truncate(time.Second)
	for _, test := range []struct {
		name, db string
		args     []string
		signs    bool   // the legend explains them
		at       string // statements_at: empty for none, now for the time of the export
	}{
		{"heat", closed, nil, false, ""},
		{"heat of an old week", closed, []string{"--date", "2025-08-20"}, false, ""},
		{"dots", closed, []string{"--style", "dots"}, true, "now"},
		{"lakes, by its day", closed, []string{"--style", "lakes", "--date", "2025-08-31"}, true, "now"},
		{"dots of an old week", closed, []string{"--style", "dots", "--date", "2025-08-20"}, true, "2025-08-24T23:59:59Z"},
		{"dots without statements", open, []string{"--style", "dots"}, true, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(exportTo(t, test.db, "map/", test.args...), "tiles.json"))
			mustDo(t, err)
			var meta struct {
				Snapshot, Legend string
				At               *string `json:"statements_at"`
			}
			mustDo(t, json.Unmarshal(content, &meta))
			if strings.Contains(meta.Legend, `"signs"`) != test.signs || test.signs && meta.Legend+"\n" != string(legend) {
				t.Errorf("legend %s, want one with signs as in legend.json: %t", meta.Legend, test.signs)
			}
			if dependsOnTime := test.at == "now"; test.db == closed && (meta.Snapshot == byTime) != dependsOnTime {
				t.Errorf("snapshot %s; of the present time, which is %s: want %t", meta.Snapshot, byTime, dependsOnTime)
			}
			switch {
			case test.at == "":
				if meta.At != nil {
					t.Errorf("statements_at is %s, want none", *meta.At)
				}
			case meta.At == nil:
				t.Errorf("there is no statements_at, want %s", test.at)
			case test.at == "now":
				at, err := time.Parse(time.RFC3339, *meta.At)
				if err != nil || at.Before(before) || at.After(time.Now()) || !strings.HasSuffix(*meta.At, "Z") {
					t.Errorf("statements_at is %s (%v), want the time of the export in UTC", *meta.At, err)
				}
			case *meta.At != test.at:
				t.Errorf("statements_at is %s, want %s", *meta.At, test.at)
			}
		})
	}
}

// A map shows the closures that a server shows: those of the present, or those at the end of an old week.
func TestExportedClosuresEqualServedOnes(t *testing.T) {
	closed, open := closedDB(t), worldDB(t, 150)
	base, _ := startServer(t, "--db", closed, "--as-of", "data", "--tile-rate", "0")
	now, over := maptile.New(4, 5, 4), maptile.New(4, 10, 4) // the tiles of the two lakes
	for date, shown := range map[string]maptile.Tile{"2025-08-31": now, "2025-08-20": over} {
		args := []string{"--style", "dots", "--date", date}
		exported, without := readFolder(t, exportTo(t, closed, "map/", args...)), readFolder(t, exportTo(t, open, "map/", args...))
		for _, tile := range []maptile.Tile{now, over} {
			if _, want := limnomaptest.Get(t, base+tilePath(tile, ".png?style=dots&date="+date)); exported[tile] != string(want) {
				t.Errorf("%s: tile %v differs from the server's", date, tile)
			}
			if marked := exported[tile] != without[tile]; marked != (tile == shown) {
				t.Errorf("%s: tile %v shows a closure: %t", date, tile, marked)
			}
		}
	}
}

// Every tile of every kind of archive equals the tile of a server.
func TestExportedTilesEqualServedTiles(t *testing.T) {
	db := closedDB(t)
	base, _ := startServer(t, "--db", db, "--as-of", "data", "--tile-rate", "0")
	style := []string{"--style", "lakes", "--colormap", "viridis", "--scale", "2"}
	const suffix = "@2x.png?style=lakes&colormap=viridis"
	_, blank := limnomaptest.Get(t, base+tilePath(maptile.New(0, 0, 18), suffix))
	readers := map[string]func(testing.TB, string) map[maptile.Tile]string{
		"map.pmtiles": readPMTiles, "map.mbtiles": readMBTiles, "map/": readFolder,
	}
	for name, read := range readers {
		got := read(t, exportTo(t, db, name, style...))
		present := 0
		for z := maptile.Zoom(0); z <= 4; z++ {
			for x := range uint32(1) << z {
				for y := range uint32(1) << z {
					tile := maptile.New(x, y, z)
					_, want := limnomaptest.Get(t, base+tilePath(tile, suffix))
					png, ok := got[tile]
					if ok {
						present++
					}
					if ok == bytes.Equal(want, blank) || ok && png != string(want) {
						t.Errorf("%s: tile %d/%d/%d exists: %v, but differs from the server's", name, z, x, y, ok)
					}
				}
			}
		}
		if present != len(got) || present == 0 {
			t.Errorf("%s: %d tiles, of which %d equal those of the server", name, len(got), present)
		}
	}
}

func readFolder(t testing.TB, path string) map[maptile.Tile]string {
	t.Helper()
	tiles := make(map[maptile.Tile]string)
	for name, content := range filesOf(t, path) {
		var tile maptile.Tile
		if n, _ := fmt.Sscanf(name, "/map/%d/%d/%d.png", &tile.Z, &tile.X, &tile.Y); n == 3 {
			tiles[tile] = content
		}
	}
	return tiles
}

func readMBTiles(t testing.TB, path string) map[maptile.Tile]string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	mustDo(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT zoom_level, tile_column, tile_row, tile_data FROM tiles")
	mustDo(t, err)
	defer rows.Close()
	tiles := make(map[maptile.Tile]string)
	for rows.Next() {
		var tile maptile.Tile
		var png string
		mustDo(t, rows.Scan(&tile.Z, &tile.X, &tile.Y, &png))
		tile.Y = 1<<tile.Z - 1 - tile.Y // MBTiles counts rows from the south
		tiles[tile] = png
	}
	mustDo(t, rows.Err())
	return tiles
}

// readPMTiles reads a small PMTiles archive of version 3, without leaf directories.
func readPMTiles(t testing.TB, path string) map[maptile.Tile]string {
	t.Helper()
	file, err := os.ReadFile(path)
	mustDo(t, err)
	section := func(at int) []byte {
		offset, length := binary.LittleEndian.Uint64(file[at:]), binary.LittleEndian.Uint64(file[at+8:])
		return file[offset : offset+length]
	}
	root, err := gzip.NewReader(bytes.NewReader(section(8)))
	mustDo(t, err)
	directory, err := io.ReadAll(root)
	mustDo(t, err)
	next := func() uint64 {
		v, n := binary.Uvarint(directory)
		directory = directory[n:]
		return v
	}
	entries := make([]struct{ id, run, length, offset uint64 }, next())
	for i := range entries {
		entries[i].id = next()
		if i > 0 {
			entries[i].id += entries[i-1].id
		}
	}
	for i := range entries {
		entries[i].run = next()
	}
	for i := range entries {
		entries[i].length = next()
	}
	data := section(56)
	tiles := make(map[maptile.Tile]string)
	for i := range entries {
		e := &entries[i]
		if offset := next(); offset > 0 {
			e.offset = offset - 1
		} else {
			e.offset = entries[i-1].offset + entries[i-1].length
		}
		for id := e.id; id < e.id+e.run; id++ {
			tiles[hilbert.Tile(id)] = string(data[e.offset : e.offset+e.length])
		}
	}
	return tiles
}

func TestExportMetadata(t *testing.T) {
	path := exportTo(t, worldDB(t, 20), "map/", "--attribution", "Lake Office", "--bound=-100,20,-60,70")
	var meta struct {
		Name, Description, Attribution, Week, Date, Snapshot, Style, Legend string
		MinZoom, MaxZoom                                                    int
		Bounds                                                              [4]float64
		Center                                                              [3]float64
	}
	content, err := os.ReadFile(filepath.Join(path, "tiles.json"))
	mustDo(t, err)
	mustDo(t, json.Unmarshal(content, &meta))
	if meta.Attribution != "Lake Office" || meta.Date != "2025-08-25" || meta.Week != "2025-W35" || meta.MaxZoom != 4 ||
		!strings.Contains(meta.Description, meta.Week) || len(meta.Snapshot) != 16 || meta.Style != "heat" {
		t.Errorf("tiles.json has %+v", meta)
	}
	var legend struct{ Unit string }
	if err := json.Unmarshal([]byte(meta.Legend), &legend); err != nil || legend.Unit != "µg/l" {
		t.Errorf("legend %s: %v, want one in µg/l", meta.Legend, err)
	}
	// Bounds are edges of tiles; a tile of zoom 4 is 22.5 degrees wide.
	if w, e := meta.Bounds[0], meta.Bounds[2]; w < -112.5 || e > -45 || w >= e || meta.Center[0] != (w+e)/2 {
		t.Errorf("bounds %v, centre %v, want those of the tiles in the archive", meta.Bounds, meta.Center)
	}
	simulated := filepath.Join(t.TempDir(), "demo") + "/"
	mustRun(t, "export", simulated, "--zoom", "0")
	if content, err = os.ReadFile(simulated + "tiles.json"); err != nil || strings.Count(string(content), "imulated") < 2 {
		t.Errorf("the tiles.json of the demo does not contain \"imulated\" twice: %v\n%s", err, content)
	}
}

func TestExportDryRun(t *testing.T) {
	db := worldDB(t, 150)
	path := filepath.Join(t.TempDir(), "map.pmtiles")
	args := []string{"export", path, "--db", db, "--zoom", "0-4"}
	out := mustRun(t, append(args, "--dry-run")...)
	const counts = `Of (\d+) tiles (\d+) have a lake in reach`
	want := numbers(t, out, counts)
	about := numbers(t, out, `About (\d+) tiles of`)[0]
	if left := filesOf(t, path); len(left) != 0 {
		t.Errorf("--dry-run has written %v", slices.Collect(maps.Keys(left)))
	}
	out = mustRun(t, args...)
	// The estimate draws all of so few tiles.
	if got := numbers(t, out, counts); !slices.Equal(got, want) || numbers(t, out, `(\d+) tiles of`)[0] != about {
		t.Errorf("--dry-run estimated %v and %d tiles, the export printed\n%s", want, about, out)
	}
}

func TestExportNeedsForceToOverwrite(t *testing.T) {
	db := worldDB(t, 20)
	path := exportTo(t, db, "map.mbtiles")
	before := filesOf(t, path)
	if _, _, err := runCommand(t, "export", path, "--db", db); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("a second export without --force: %v, want an error that names --force", err)
	}
	if !maps.Equal(filesOf(t, path), before) {
		t.Error("a refused export has changed the file")
	}
	mustRun(t, "export", path, "--db", db, "--zoom", "0-2", "--force")
	if after := filesOf(t, path); len(after) != 1 || maps.Equal(after, before) {
		t.Errorf("--force has left %v", slices.Collect(maps.Keys(after)))
	}
	folder := exportTo(t, db, "map/")
	if _, _, err := runCommand(t, "export", folder, "--db", db, "--force"); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("an export into a folder that is not empty: %v, want an error", err)
	}
}

func TestExportErrorsLeaveNothing(t *testing.T) {
	db := worldDB(t, 20)
	dir := t.TempDir()
	for _, name := range []string{"map.pmtiles", "map.mbtiles", "map/"} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := run(ctx, []string{"export", dir + "/" + name, "--db", db}, io.Discard, io.Discard)
		if err == nil || err.Error() != "interrupted: nothing was written" {
			t.Errorf("%s: an interrupted export: %v", name, err)
		}
	}
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"unknown kind", []string{filepath.Join(dir, "map.png")}, ".pmtiles"},
		{"no folder", []string{filepath.Join(dir, "absent", "map.pmtiles")}, "does not exist"},
		{"no folder for a folder", []string{filepath.Join(dir, "absent", "map") + "/"}, "does not exist"},
		{"week", []string{filepath.Join(dir, "map.pmtiles"), "--date", "2199-01-01"}, `"2199-01-01"`},
		{"style", []string{filepath.Join(dir, "map.pmtiles"), "--style", "blots"}, `"heat","dots","lakes","pixels"`},
		{"colour map", []string{filepath.Join(dir, "map.pmtiles"), "--colormap", "pink"}, `"limno"`},
		{"scale", []string{filepath.Join(dir, "map.pmtiles"), "--scale", "3"}, "--scale"},
		{"zoom", []string{filepath.Join(dir, "map.pmtiles"), "--zoom", "9-0"}, "--zoom"},
		{"bound", []string{filepath.Join(dir, "map.pmtiles"), "--bound", "1,2,3"}, "--bound"},
		{"concurrency", []string{filepath.Join(dir, "map.pmtiles"), "--concurrency", "-1"}, "--concurrency"},
	}
	for _, tt := range tests {
		args := append([]string{"export", "--db", db}, tt.args...)
		if _, _, err := runCommand(t, args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error that contains %q", tt.name, err, tt.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left behind, %v", left, err)
	}
}
