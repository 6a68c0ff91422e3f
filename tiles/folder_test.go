package tiles

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// openTestFolder returns the folder of a cache, closed when the test ends.
func openTestFolder(tb testing.TB, dir string) *Folder {
	tb.Helper()
	f, err := OpenFolder(dir)
	mustDo(tb, err)
	tb.Cleanup(func() { _ = f.Close() })
	return f
}

func TestFolderTellsWhatEachFileIs(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	d := newTestDisk(t, dir, 1<<20, clock)
	for i := range 6 {
		d.put(numberedKey(i), newTile([]byte("a tile")))
	}
	used := clock.now().Add(-3 * time.Hour).Truncate(time.Second)
	path := func(i int) string { return entryPath(dir, numberedKey(i)) }
	flipped := encodeEntry(numberedKey(1), []byte("a tile"))
	flipped[len(flipped)-1] ^= 1
	unnamed := Key{Renderer: "a name of several words"}
	unnamedPath := entryPath(dir, unnamed)
	abandoned, young := path(0)+".0123456789abcdef"+tempSuffix, path(0)+".fedcba9876543210"+tempSuffix
	mustDo(t,
		os.Chtimes(path(0), used, used),
		os.WriteFile(path(1), flipped, 0o644),
		os.Truncate(path(2), 7),
		os.WriteFile(path(3), encodeEntry(numberedKey(4), []byte("a tile")), 0o644),
		os.Remove(path(5)), os.Symlink(path(4), path(5)),
		os.MkdirAll(filepath.Dir(unnamedPath), 0o755),
		os.WriteFile(unnamedPath, encodeEntry(unnamed, []byte("a tile")), 0o644),
		os.WriteFile(abandoned, []byte("half"), 0o644), os.Chtimes(abandoned, used, used),
		os.WriteFile(young, []byte("half"), 0o644),
		os.WriteFile(filepath.Join(dir, "README"), nil, 0o644),
	)
	want := map[string]struct {
		key              Key
		walked, verified error
	}{
		path(0):     {key: numberedKey(0)},
		path(1):     {key: numberedKey(1), verified: ErrDamaged},
		path(2):     {walked: ErrDamaged, verified: ErrDamaged},
		path(3):     {walked: ErrDamaged, verified: ErrDamaged},
		path(4):     {key: numberedKey(4)},
		unnamedPath: {walked: ErrDamaged, verified: ErrDamaged},
		abandoned:   {walked: ErrUnfinished, verified: ErrUnfinished},
	}
	err := openTestFolder(t, dir).Walk(t.Context(), func(e Entry) error {
		w, ok := want[e.Path()]
		delete(want, e.Path())
		got := e.Verify()
		if !ok || e.Key != w.key || !errors.Is(e.Err, w.walked) || !errors.Is(got, w.verified) || e.Bytes != blockSize {
			t.Errorf("%s: %+v, verified %v; want key %+v, errors %v and %v", e.Path(), e, got, w.key, w.walked, w.verified)
		}
		if e.Key == numberedKey(0) && !e.Used.Equal(used) {
			t.Errorf("%s was used %v, want %v", e.Path(), e.Used, used)
		}
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Errorf("Walk = %v, and did not visit %v", err, want)
	}
}

// TestFolderBesideAService has entries vanish and change while they are visited.
func TestFolderBesideAService(t *testing.T) {
	dir := t.TempDir()
	d := newTestDisk(t, dir, 1<<20, newTestClock())
	for i := range 2 {
		d.put(numberedKey(i), newTile([]byte("a tile")))
	}
	err := openTestFolder(t, dir).Walk(t.Context(), func(e Entry) error {
		d.put(e.Key, newTile([]byte("a longer tile, of a renderer that is not what it was")))
		if err := e.Verify(); err != nil {
			t.Errorf("an entry written anew: %v, want no error", err)
		}
		return errors.Join(os.Remove(e.Path()), e.Verify(), e.Remove())
	})
	if err != nil {
		t.Errorf("an entry removed by another: %v, want no error", err)
	}
}

func TestFolderWalkEnds(t *testing.T) {
	dir := t.TempDir()
	d := newTestDisk(t, dir, 1<<20, newTestClock())
	for i := range 3 {
		d.put(numberedKey(i), newTile([]byte("a tile")))
	}
	f := openTestFolder(t, dir)
	visits := 0
	if err := f.Walk(t.Context(), func(Entry) error { visits++; return errFake }); err != errFake || visits != 1 {
		t.Errorf("Walk = %v after %d visits, want the first's error", err, visits)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Walk(ctx, func(Entry) error { visits++; return nil }); err != context.Canceled || visits != 1 {
		t.Errorf("Walk after the end of its context = %v after %d visits, want none", err, visits-1)
	}
}
