package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
)

// worldDB returns a database of simulated lakes on all continents, with two weeks of values.
func worldDB(t testing.TB, lakes int) string {
	t.Helper()
	dir := t.TempDir()
	db, out := filepath.Join(dir, "world.db"), []string{filepath.Join(dir, "lakes.csv"), filepath.Join(dir, "obs.csv")}
	mustRun(t, "demo", "--lakes", strconv.Itoa(lakes), "--weeks", "2", "--out", strings.Join(out, ","))
	mustRun(t, "import", "lakes", out[0], "--db", db)
	mustRun(t, "import", "observations", out[1], "--db", db)
	return db
}

// numbers returns the numbers in a text that pattern's groups match.
func numbers(t testing.TB, text, pattern string) []int {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%q does not match %q", text, pattern)
	}
	var all []int
	for _, group := range m[1:] {
		n, err := strconv.Atoi(group)
		mustDo(t, err)
		all = append(all, n)
	}
	return all
}

const warmed = `(\d+) tiles drawn, (\d+) existed already`

// renders returns the number of tiles that a server has drawn.
func renders(t testing.TB, base string) int {
	t.Helper()
	_, metrics := limnomaptest.Get(t, base+"/metrics")
	return numbers(t, string(metrics), `(?m)^limnomap_tile_renders_total (\d+)$`)[0]
}

// tilePath returns the path of a tile.
func tilePath(t maptile.Tile, suffix string) string {
	return fmt.Sprintf("/api/v1/tiles/%d/%d/%d%s", t.Z, t.X, t.Y, suffix)
}

// A server with the same folder draws none of the tiles that warm has drawn.
func TestWarmThenServe(t *testing.T) {
	db, dir := worldDB(t, 150), t.TempDir()
	profile := []string{"--db", db, "--cache-dir", dir, "--profile", "who2021"}
	warm := append([]string{"warm", "--zoom", "0-4", "--style", "heat,dots", "--colormap", "limno,viridis", "--scale", "1,2"}, profile...)
	out := mustRun(t, warm...)
	n := numbers(t, out, warmed)
	if n[0] == 0 || n[1] != 0 {
		t.Fatalf("warm prints:\n%s", out)
	}
	if again := numbers(t, mustRun(t, warm...), warmed); again[0] != 0 || again[1] != n[0] {
		t.Errorf("warming again drew %d tiles and found %d, want 0 and %d", again[0], again[1], n[0])
	}
	base, _ := startServer(t, append(profile, "--tile-rate", "0")...)
	for z := maptile.Zoom(0); z <= 4; z++ {
		for x := range uint32(1) << z {
			for y := range uint32(1) << z {
				for _, suffix := range []string{".png", "@2x.png", ".png?style=dots", "@2x.png?style=dots&colormap=viridis"} {
					limnomaptest.Get(t, base+tilePath(maptile.New(x, y, z), suffix))
				}
			}
		}
	}
	if n := renders(t, base); n != 0 {
		t.Errorf("the server has drawn %d tiles, want 0", n)
	}
	limnomaptest.Get(t, base+"/api/v1/tiles/0/0/0.png?style=lakes")
	if n := renders(t, base); n != 1 {
		t.Errorf("for a tile of another zoom the server has drawn %d tiles, want 1", n)
	}
}

// Warm draws two weeks, the older one from the database. A server that has both in memory draws none of their tiles.
func TestWarmWeeks(t *testing.T) {
	db, dir := worldDB(t, 50), t.TempDir()
	var weeks struct{ Weeks []struct{ Date string } }
	base, _ := startServer(t, "--db", db, "--cache-dir", dir)
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/dates", &weeks)
	if len(weeks.Weeks) != 2 {
		t.Fatalf("there are %d weeks, want 2", len(weeks.Weeks))
	}
	first, last := weeks.Weeks[0].Date, weeks.Weeks[1].Date
	mustRun(t, "warm", "--zoom", "2", "--bound=-170,-60,170,80", "--date", first+","+last, "--weeks", "1", "--db", db, "--cache-dir", dir)
	for _, date := range []string{first, last} {
		for x := range uint32(4) {
			limnomaptest.Get(t, base+tilePath(maptile.New(x, 1, 2), ".png?date="+date))
		}
	}
	if n := renders(t, base); n != 0 {
		t.Errorf("the server has drawn %d tiles, want 0", n)
	}
	_, _, err := runCommand(t, "warm", "--date", "1999-01-01", "--db", db, "--cache-dir", dir)
	if err == nil || !strings.Contains(err.Error(), `"1999-01-01"`) || !strings.Contains(err.Error(), first) {
		t.Errorf("a week without data: %v, want an error that names it and the first week", err)
	}
}

func TestWarmDryRun(t *testing.T) {
	db, dir := worldDB(t, 150), filepath.Join(t.TempDir(), "cache")
	args := []string{"warm", "--zoom", "1-4", "--style", "lakes", "--scale", "2", "--db", db, "--cache-dir", dir}
	dry := mustRun(t, append(args, "--dry-run")...)
	const counts = `Of (\d+) tiles (\d+) have a lake in reach`
	want := numbers(t, dry, counts)
	if want[0] != 4+16+64+256 || !strings.Contains(dry, "estimated") {
		t.Errorf("--dry-run prints:\n%s", dry)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("--dry-run has created %s", dir)
	}
	const tooMuch = "too much: --cache-disk has room for 0.1 MB"
	if tight := mustRun(t, append(args, "--dry-run", "--cache-disk", "128KiB")...); !strings.Contains(tight, tooMuch) || strings.Contains(dry, "too much") {
		t.Errorf("--dry-run with a small cache lacks %q:\n%s", tooMuch, tight)
	}
	out := mustRun(t, args...)
	if got := numbers(t, out, counts); got[0] != want[0] || got[1] != want[1] || numbers(t, out, warmed)[0] != want[1] {
		t.Errorf("--dry-run estimated %v, warm printed\n%s", want, out)
	}
	var bytes int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		bytes += (info.Size() + 4095) / 4096 * 4096
		return err
	})
	mustDo(t, err)
	if said := fmt.Sprintf("%.1f MB on disk", float64(bytes)/1e6); !strings.Contains(out, said) {
		t.Errorf("the folder has %s, and warm printed\n%s", said, out)
	}
}

// Tiles that are named several times are counted once.
func TestWarmCountsOnce(t *testing.T) {
	dir := t.TempDir()
	args := []string{"warm", "--zoom", "0-2", "--cache-dir", dir}
	once := mustRun(t, append(args, "--date", "2025-08-25")...)
	again := mustRun(t, append(args, "--style", "heat,heat", "--colormap", "limno,limno", "--scale", "1,1", "--date", "2025-08-25,2025-08-26")...)
	if want, got := numbers(t, once, warmed)[0], numbers(t, again, warmed); got[0] != 0 || got[1] != want {
		t.Errorf("%d tiles named several times: warm prints\n%s", want, again)
	}
}

func TestWarmKeepsWithinTheCache(t *testing.T) {
	db, dir := worldDB(t, 150), filepath.Join(t.TempDir(), "cache")
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"too many tiles", []string{"--zoom", "0-7", "--cache-disk", "1MiB"}, "nothing was written"},
		{"too large tiles", []string{"--zoom", "2-3", "--scale", "2", "--cache-disk", "200KiB"}, "the disk cache is full after"},
		{"no free space", []string{"--zoom", "2", "--cache-min-free", "1000TiB"}, "--cache-min-free leave room for 0.0 MB"},
		{"no cache", []string{"--cache-disk", "0"}, "--cache-disk"},
		{"no folder", []string{"--cache-dir", filepath.Join(db, "cache")}, "not a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"warm", "--db", db, "--as-of", "data", "--cache-dir", dir}, tt.args...)
			if _, _, err := runCommand(t, args...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("limnomap %s: %v, want an error that contains %q", strings.Join(args, " "), err, tt.want)
			}
		})
	}
}
