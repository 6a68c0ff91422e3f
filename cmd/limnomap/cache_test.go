package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles"
	"limnomap/tiles/disk"
)

// cachedTiles is how many tiles fillCache draws: in two styles the tile of the world, and one for each lake at six zooms.
const cachedTiles = 2 * (1 + 6*3)

// fillCache returns a folder with the tiles of zoom 0 to 6 for three lakes, in two styles: one lake in Germany, two on the
// sides of the antimeridian.
func fillCache(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cache, err := disk.Open(dir, nil)
	mustDo(t, err)
	defer cache.Close()
	s, err := tiles.New(render.New(colormap.Limits{Level1: 10, Level2: 50}), &tiles.Options{Disk: cache, Variant: "who2003"})
	mustDo(t, err)
	defer s.Close()
	points := []orb.Point{{11.31, 47.91}, {178.5, -38}, {-178.5, -38}}
	view := &snapshot.View{WithData: len(points)}
	for _, p := range points {
		view.Lakes = append(view.Lakes, data.Lake{Point: p})
		view.States = append(view.States, snapshot.State{Chlorophyll: 3_40})
	}
	for _, style := range []render.StyleID{render.Heat, render.Dots} {
		for zoom := range maptile.Zoom(7) {
			for _, p := range points {
				req := tiles.Request{Tile: maptile.At(p, zoom), Scale: 1, Style: style, Colormap: colormap.Default}
				if _, err := s.Tile(t.Context(), view.Values(), req); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return dir
}

// cacheEntries returns the files of a cache.
func cacheEntries(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "??", "*"))
	mustDo(t, err)
	return names
}

func TestCacheStats(t *testing.T) {
	dir := fillCache(t)
	out := mustRun(t, "cache", "stats", "--cache-dir", dir)
	for _, want := range []string{
		`tiles +38 \(`, `of other renderers +0 \(`, `not tiles +0 \(`, `heat +0 +1 `, `heat +6 +3 `, `dots +6 +3 `,
		`(?s)dots.*heat`, `least recent use +20\d\d-`,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("stats lack %q:\n%s", want, out)
		}
	}
	out = mustRun(t, "cache", "stats", "--cache-dir", dir, "--zoom", "6", "--style", "heat")
	if !strings.Contains(out, "3 (") || strings.Contains(out, "dots") {
		t.Errorf("stats of zoom 6 and one style:\n%s", out)
	}
	if out = mustRun(t, "cache", "stats", "--cache-dir", t.TempDir()); !strings.Contains(out, "0 (") || strings.Contains(out, "STYLE") {
		t.Errorf("stats of an empty folder:\n%s", out)
	}
}

func TestCachePurgeRemovesSelectedTiles(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		left  int
	}{
		{"everything", nil, 0},
		{"a zoom", []string{"--zoom", "6"}, cachedTiles - 2*3},
		{"zooms", []string{"--zoom", "0-1"}, cachedTiles - 2*(1+3)},
		{"a style", []string{"--style", "dots"}, cachedTiles / 2},
		{"both styles", []string{"--style", "dots,heat"}, 0},
		{"a zoom of a style", []string{"--zoom", "0", "--style", "dots"}, cachedTiles - 1},
		{"Germany, with the tile of the world", []string{"--bound", "5.8,47.2,15.1,55.1"}, cachedTiles - 2*7},
		{"across the antimeridian", []string{"--bound", "177,-40,-177,-30"}, 2 * 6},
		{"an area with lakes only on the tile of the world", []string{"--bound=-100,30,-90,40"}, cachedTiles - 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := fillCache(t)
			if got := len(cacheEntries(t, dir)); got != cachedTiles {
				t.Fatalf("the cache holds %d tiles, want %d", got, cachedTiles)
			}
			args := append([]string{"cache", "purge", "--cache-dir", dir}, test.flags...)
			dry := mustRun(t, append(args, "--dry-run")...)
			if got := len(cacheEntries(t, dir)); got != cachedTiles || !strings.Contains(dry, "would be removed") {
				t.Errorf("a dry run leaves %d tiles of %d:\n%s", got, cachedTiles, dry)
			}
			out := mustRun(t, args...)
			if got := len(cacheEntries(t, dir)); got != test.left {
				t.Errorf("%d tiles are left, want %d", got, test.left)
			}
			if out != strings.Replace(dry, "would be removed", "removed", 1) {
				t.Errorf("the dry run printed\n%sand the real one\n%s", dry, out)
			}
		})
	}
}

func TestCachePurgeKeepsOtherFiles(t *testing.T) {
	dir, outside := fillCache(t), t.TempDir()
	entry := cacheEntries(t, dir)[0]
	precious := limnomaptest.WriteFile(t, outside, filepath.Base(entry), "precious")
	foreign := []string{
		limnomaptest.WriteFile(t, dir, "README", "not ours"),
		limnomaptest.WriteFile(t, filepath.Dir(entry), "notes.txt", "not ours"),
		limnomaptest.WriteFile(t, dir, filepath.Base(entry), "in no sub-folder"),
	}
	mustDo(t, os.Remove(entry))
	mustDo(t, os.Symlink(precious, entry))
	mustRun(t, "cache", "purge", "--cache-dir", dir)
	for _, name := range append(foreign, precious, entry) {
		if _, err := os.Lstat(name); err != nil {
			t.Errorf("a purge removed a file that is not of the cache: %v", err)
		}
	}
	if got, want := len(cacheEntries(t, dir)), 2; got != want { // the link and the notes
		t.Errorf("%d files are left in sub-folders, want %d", got, want)
	}
}

func TestCacheVerifyRemovesDamagedTiles(t *testing.T) {
	dir := fillCache(t)
	if out := mustRun(t, "cache", "purge", "--damaged", "--cache-dir", dir); !strings.Contains(out, "38 (") {
		t.Errorf("verify of a valid cache:\n%s", out)
	}
	entries := cacheEntries(t, dir)
	damage := map[string]func([]byte) []byte{
		entries[0]: func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		entries[1]: func(b []byte) []byte { b[0] ^= 1; return b },
		entries[2]: func(b []byte) []byte { return b[:len(b)/2] },
		entries[3]: func(b []byte) []byte { return nil },
	}
	for name, change := range damage {
		raw, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, change(raw), 0o644)
		}
		mustDo(t, err)
	}
	for _, step := range []struct {
		flag string
		said string
		left int
	}{
		{"--dry-run", "and not removed", cachedTiles},
		{"--zoom=0-20", "4 (", cachedTiles - len(damage)},
	} {
		out, _, err := runCommand(t, "cache", "purge", "--damaged", "--cache-dir", dir, step.flag)
		if err == nil || !strings.Contains(err.Error(), step.said) {
			t.Errorf("verify %s of a damaged cache: error %v, want one that contains %q", step.flag, err, step.said)
		}
		for name := range damage {
			if !strings.Contains(out, filepath.Base(name)) {
				t.Errorf("verify %s does not name %s:\n%s", step.flag, name, out)
			}
		}
		if got := len(cacheEntries(t, dir)); got != step.left {
			t.Errorf("verify %s leaves %d tiles, want %d", step.flag, got, step.left)
		}
	}
	mustRun(t, "cache", "purge", "--damaged", "--cache-dir", dir)
}

// TestCacheEntryOfNoTile has an undamaged entry whose key is not that of a tile.
func TestCacheEntryOfNoTile(t *testing.T) {
	dir := t.TempDir()
	cache, err := disk.Open(dir, nil)
	mustDo(t, err)
	defer cache.Close()
	mustDo(t, disk.NewFill(cache).Put(t.Context(), []byte("not the key of a tile"), []byte("a tile")))
	if out := mustRun(t, "cache", "stats", "--cache-dir", dir); !regexp.MustCompile(`not tiles +1 \(`).MatchString(out) {
		t.Errorf("stats do not count it:\n%s", out)
	}
	mustRun(t, "cache", "purge", "--cache-dir", dir)
	if left := cacheEntries(t, dir); len(left) > 0 {
		t.Errorf("purge left %v", left)
	}
}

func TestCacheCommandsInterrupted(t *testing.T) {
	dir := fillCache(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, command := range []string{"stats", "purge --damaged", "purge"} {
		var out, errOut bytes.Buffer
		err := run(ctx, strings.Fields("cache "+command+" --cache-dir "+dir), &out, &errOut)
		if err == nil || !strings.Contains(err.Error(), "interrupted") || out.Len() == 0 {
			t.Errorf("cache %s, interrupted: error %v and %q, want an error, and how many tiles were visited", command, err, &out)
		}
	}
	if got := len(cacheEntries(t, dir)); got != cachedTiles {
		t.Errorf("%d tiles are left, want %d", got, cachedTiles)
	}
}

func TestCacheCommandErrors(t *testing.T) {
	file := limnomaptest.WriteFile(t, t.TempDir(), "file", "")
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"a folder that does not exist", []string{"--cache-dir", "absent"}, "absent"},
		{"a file", []string{"--cache-dir", file}, "not a directory"},
		{"an unknown style", []string{"--style", "hot"}, `must be one of "heat","dots","lakes","pixels","mvt" but got "hot"`},
		{"an invalid zoom", []string{"--zoom", "0-99"}, "0-99"},
		{"an invalid bound", []string{"--bound", "1,2,3"}, "has 3 numbers"},
	}
	for _, test := range tests {
		for _, command := range []string{"stats", "purge --damaged", "purge"} {
			args := append(strings.Fields("cache "+command+" --cache-dir "+t.TempDir()), test.args...)
			if _, _, err := runCommand(t, args...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("cache %s of %s: error %v, want one that contains %q", command, test.name, err, test.want)
			}
		}
	}
}

func TestDefaultCacheFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "caches"))
	want, err := userCacheDir()
	mustDo(t, err)
	if got := (&cacheFlags{CacheDisk: 1}).folder(nil); got != want {
		t.Errorf("serve caches in %s, want %s", got, want)
	}
	if _, _, err := runCommand(t, "cache", "stats"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("cache stats without a folder: error %v, want one that names %s", err, want)
	}
	if _, err := os.Stat(want); !os.IsNotExist(err) {
		t.Errorf("the folder was created: %v, want %v", err, fs.ErrNotExist)
	}
}
