package tiles

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles/disk"
)

// warmTiles is how many tiles warmPyramid has.
const warmTiles = 1 + 4 + 16

func warmPyramid() Pyramid {
	return Pyramid{MaxZoom: 2, Bound: world, Scale: 1, Style: render.Heat, Colormap: "limno"}
}

// entriesIn returns the names of the files in dir and its sub-folders.
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
	r, v, dir := new(fakeRenderer), new(snapshot.View), t.TempDir()
	opts := diskOptions(t, dir)
	s := newTestService(t, r, opts)
	done := 0
	warm := func() Warmed {
		t.Helper()
		w, err := newPlot(t, s, v, warmPyramid()).Warm(t.Context(), opts.Disk.(syncDisk).fill, func() { done++ })
		mustDo(t, err)
		return w
	}
	if w, want := warm(), (Warmed{Drawn: warmTiles}); w != want || done != warmTiles || len(entriesIn(t, dir)) != warmTiles {
		t.Fatalf("Warm = %+v, calls done %d times and writes %d files, want %+v", w, done, len(entriesIn(t, dir)), want)
	}
	if w, want := warm(), (Warmed{Found: warmTiles}); w != want || r.total() != warmTiles {
		t.Errorf("Warm again = %+v after %d renders, want %+v", w, r.total(), want)
	}
	other := newTestService(t, r, diskOptions(t, dir))
	for tile := range warmPyramid().tiles(everything()) {
		mustTile(t, other, v, warmPyramid().request(tile))
	}
	if r.total() != warmTiles {
		t.Errorf("%d warmed tiles are drawn when they are asked for", r.total()-warmTiles)
	}
}

func TestWarmContinuesAfterAnInterruption(t *testing.T) {
	r, v := new(fakeRenderer), new(snapshot.View)
	s := newTestService(t, r, &Options{Renders: 3})
	store := newTestDisk(t, t.TempDir()).fill
	p := warmPyramid()
	p.MaxZoom = 5
	ctx, cancel := context.WithCancel(t.Context())
	done := 0
	first, err := newPlot(t, s, v, p).Warm(ctx, store, func() {
		if done++; done == 300 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || first.Drawn < 300 || first.Drawn == p.Size() {
		t.Fatalf("Warm = %+v, %v after %d tiles, want it interrupted", first, err, done)
	}
	second, err := newPlot(t, s, v, p).Warm(t.Context(), store, func() {})
	if err != nil || second.Found != first.Drawn || second.Found+second.Drawn != p.Size() {
		t.Errorf("Warm after %+v = %+v, %v; want the rest of %d", first, second, err, p.Size())
	}
}

func TestWarmEndsWhenTheDiskIsFull(t *testing.T) {
	const blocks = 10
	c, err := disk.Open(t.TempDir(), &disk.Options{Bytes: blocks * disk.MinEntrySize, MinFree: -1})
	mustDo(t, err)
	defer c.Close()
	s := newTestService(t, new(fakeRenderer), nil)
	w, err := newPlot(t, s, new(snapshot.View), warmPyramid()).Warm(t.Context(), disk.NewFill(c), func() {})
	if !errors.Is(err, disk.ErrFull) || w.Drawn != blocks*8/10 {
		t.Errorf("Warm = %+v, %v; want %v after %d tiles", w, err, disk.ErrFull, blocks*8/10)
	}
}

func TestWarmFails(t *testing.T) {
	store := newTestDisk(t, t.TempDir()).fill
	tests := []struct {
		name string
		r    *fakeRenderer
	}{
		{"a renderer that fails", &fakeRenderer{err: errFake}},
		{"tiles that are too large", &fakeRenderer{png: func(render.Spec) ([]byte, error) { return make([]byte, largestTile+1), nil }}},
	}
	for _, tt := range tests {
		s := newTestService(t, tt.r, nil)
		if w, err := newPlot(t, s, new(snapshot.View), warmPyramid()).Warm(t.Context(), store, func() {}); err == nil || w.Drawn != 0 {
			t.Errorf("%s: Warm = %+v, %v; want an error", tt.name, w, err)
		}
	}
}
