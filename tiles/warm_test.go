package tiles

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/render"
)

// warmTiles is how many tiles warmPyramid has.
const warmTiles = 1 + 4 + 16

func warmPyramid() Pyramid {
	return Pyramid{MaxZoom: 2, Bound: world, Scale: 1, Style: render.Heat, Colormap: "limno"}
}

func warmOptions(dir string) *Options {
	return &Options{Dir: dir, Variant: "who2003", Renders: 3, MinFree: -1}
}

// entriesIn returns the names of the files under dir.
func entriesIn(tb testing.TB, dir string) []string {
	tb.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return names
}

func TestWarmedTilesAreNotDrawnAgain(t *testing.T) {
	r, v, dir := new(fakeRenderer), new(data.View), t.TempDir()
	s := newTestService(t, r, warmOptions(dir))
	done := 0
	warm := func() Warmed {
		t.Helper()
		w, err := newPlot(t, s, v, warmPyramid()).Warm(t.Context(), 0, func() { done++ })
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	if w, want := warm(), (Warmed{Drawn: warmTiles, Bytes: warmTiles * blockSize}); w != want || done != warmTiles {
		t.Fatalf("Warm = %+v and calls done %d times, want %+v", w, done, want)
	}
	if w, want := warm(), (Warmed{Found: warmTiles, Bytes: warmTiles * blockSize}); w != want || r.total() != warmTiles {
		t.Errorf("Warm again = %+v after %d renders, want %+v", w, r.total(), want)
	}
	names := entriesIn(t, dir)
	if len(names) != warmTiles {
		t.Fatalf("%d files, want %d", len(names), warmTiles)
	}
	mustDo(t, os.Truncate(names[0], 400))
	mustDo(t, os.WriteFile(names[1], nil, 0o644))
	mustDo(t, os.Remove(names[2]))
	if w := warm(); w.Drawn != 3 || w.Found != warmTiles-3 {
		t.Errorf("Warm with three entries spoilt = %+v", w)
	}
	before := r.total()
	other := newTestService(t, r, warmOptions(dir))
	for tile := range warmPyramid().tiles(everything()) {
		mustTile(t, other, v, warmPyramid().request(tile))
	}
	if r.total() != before {
		t.Errorf("%d warmed tiles are drawn when they are asked for", r.total()-before)
	}
}

func TestWarmGoesOnWhereItWas(t *testing.T) {
	r, v := new(fakeRenderer), new(data.View)
	s := newTestService(t, r, warmOptions(t.TempDir()))
	p := warmPyramid()
	p.MaxZoom = 5
	ctx, cancel := context.WithCancel(t.Context())
	done := 0
	first, err := newPlot(t, s, v, p).Warm(ctx, 0, func() {
		if done++; done == 300 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || first.Drawn < 300 || first.Drawn == p.Size() {
		t.Fatalf("Warm = %+v, %v after %d tiles, want it interrupted", first, err, done)
	}
	second, err := newPlot(t, s, v, p).Warm(t.Context(), 0, func() {})
	if err != nil || second.Found != first.Drawn || second.Found+second.Drawn != p.Size() {
		t.Errorf("Warm after %+v = %+v, %v; want the rest of %d", first, second, err, p.Size())
	}
}

// TestWarmEndsBeforeItEvicts gives warming less room than it needs.
func TestWarmEndsBeforeItEvicts(t *testing.T) {
	const blocks = 10
	dir := t.TempDir()
	opts := warmOptions(dir)
	opts.DiskBytes = blocks * blockSize
	s := newTestService(t, new(fakeRenderer), opts)
	w, err := newPlot(t, s, new(data.View), warmPyramid()).Warm(t.Context(), 0, func() {})
	if !errors.Is(err, ErrFull) {
		t.Fatalf("Warm = %+v, %v; want %v", w, err, ErrFull)
	}
	mustDo(t, s.Close())
	if n := int64(len(entriesIn(t, dir))); n != w.Drawn || w.Bytes != n*blockSize || n != blocks*8/10 {
		t.Errorf("%d tiles are there after %+v in %d blocks", n, w, blocks)
	}
	opts.DiskBytes = 1 << 20
	s = newTestService(t, new(fakeRenderer), opts)
	if _, err := newPlot(t, s, new(data.View), warmPyramid()).Warm(t.Context(), 1<<20, func() {}); !errors.Is(err, ErrFull) {
		t.Errorf("Warm after as much as there is room for = %v, want %v", err, ErrFull)
	}
}

// TestWarmPushesOutOldTiles fills the folder with tiles of another view first, last used long ago.
func TestWarmPushesOutOldTiles(t *testing.T) {
	dir := t.TempDir()
	opts := warmOptions(dir)
	opts.DiskBytes = 30 * blockSize
	old := newTestService(t, &fakeRenderer{epoch: 1}, opts)
	if _, err := newPlot(t, old, new(data.View), warmPyramid()).Warm(t.Context(), 0, func() {}); err != nil {
		t.Fatal(err)
	}
	mustDo(t, old.Close())
	olds := entriesIn(t, dir)
	for _, name := range olds {
		lastYear := time.Now().AddDate(-1, 0, 0)
		mustDo(t, os.Chtimes(name, lastYear, lastYear))
	}
	s := newTestService(t, new(fakeRenderer), opts)
	w, err := newPlot(t, s, new(data.View), warmPyramid()).Warm(t.Context(), 0, func() {})
	if err != nil || w.Drawn != warmTiles {
		t.Fatalf("Warm = %+v, %v; want all %d tiles in the place of old ones", w, err, warmTiles)
	}
	mustDo(t, s.Close())
	fresh := slices.DeleteFunc(entriesIn(t, dir), func(name string) bool { return slices.Contains(olds, name) })
	if len(fresh) != warmTiles {
		t.Errorf("%d of %d warmed tiles are there", len(fresh), warmTiles)
	}
}

// TestWarmKeepsWhatItFinds goes on with a warming of twenty minutes ago, since when a server has filled the folder.
func TestWarmKeepsWhatItFinds(t *testing.T) {
	const first = 1 + 4
	dir, v := t.TempDir(), new(data.View)
	opts := warmOptions(dir)
	opts.DiskBytes = 30 * blockSize
	warm := func(r *fakeRenderer, zooms maptile.Zoom) Warmed {
		t.Helper()
		s := newTestService(t, r, opts)
		p := warmPyramid()
		p.MaxZoom = zooms
		w, err := newPlot(t, s, v, p).Warm(t.Context(), 0, func() {})
		mustDo(t, err, s.Close())
		return w
	}
	// Ten minutes pass for each file.
	pass := func() {
		t.Helper()
		for _, name := range entriesIn(t, dir) {
			info, err := os.Stat(name)
			mustDo(t, err)
			used := info.ModTime().Add(-10 * time.Minute)
			mustDo(t, os.Chtimes(name, used, used))
		}
	}
	warm(new(fakeRenderer), 1)
	pass()
	warm(&fakeRenderer{epoch: 1}, 2) // what is asked of the server
	if got := len(entriesIn(t, dir)); got != first+warmTiles {
		t.Fatalf("%d tiles are there, want %d", got, first+warmTiles)
	}
	pass()
	if w := warm(new(fakeRenderer), 2); w.Found != first || w.Drawn != warmTiles-first {
		t.Fatalf("Warm = %+v, want %d tiles found", w, first)
	}
	if w := warm(new(fakeRenderer), 2); w.Found != warmTiles {
		t.Errorf("%d tiles are left of %d that were warmed", w.Found, warmTiles)
	}
}

func TestWarmFails(t *testing.T) {
	dir := t.TempDir()
	mustDo(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	tests := []struct {
		name string
		r    *fakeRenderer
		opts *Options
	}{
		{"without a disk cache", new(fakeRenderer), &Options{}},
		{"with a file for a folder", new(fakeRenderer), warmOptions(filepath.Join(dir, "file"))},
		{"with a renderer that fails", &fakeRenderer{err: errFake}, warmOptions(t.TempDir())},
		{"with tiles that are too large", &fakeRenderer{png: func(render.Spec) []byte { return make([]byte, maxPNG+1) }}, warmOptions(t.TempDir())},
	}
	for _, tt := range tests {
		s := newTestService(t, tt.r, tt.opts)
		if w, err := newPlot(t, s, new(data.View), warmPyramid()).Warm(t.Context(), 0, func() {}); err == nil || w.Drawn != 0 {
			t.Errorf("%s: Warm = %+v, %v; want an error", tt.name, w, err)
		}
	}
}
