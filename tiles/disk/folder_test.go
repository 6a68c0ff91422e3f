package disk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// openTestFolder opens the folder of a cache until the test ends.
func openTestFolder(tb testing.TB, dir string) *Folder {
	tb.Helper()
	f, err := OpenFolder(dir)
	must(tb, err)
	tb.Cleanup(func() { _ = f.Close() })
	return f
}

func TestWalkAndVerify(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	c := newSyncCache(t, dir, 1<<20, clock)
	for i := range 6 {
		c.put(i, "a tile")
	}
	used := clock.now().Add(-3 * time.Hour).Truncate(time.Second)
	path := func(n int) string { return entryPath(dir, n) }
	flipped := encodeEntry(numberedKey(1), []byte("a tile"))
	flipped[len(flipped)-1] ^= 1
	abandoned, young := path(0)+".0123456789abcdef"+tempSuffix, path(0)+".fedcba9876543210"+tempSuffix
	must(t,
		os.Chtimes(path(0), used, used),
		os.WriteFile(path(1), flipped, 0o644),
		os.Truncate(path(2), 7),
		os.WriteFile(path(3), encodeEntry(numberedKey(4), []byte("a tile")), 0o644),
		os.Remove(path(5)), os.Symlink(path(4), path(5)),
		os.WriteFile(abandoned, []byte("half"), 0o644), os.Chtimes(abandoned, used, used),
		os.WriteFile(young, []byte("half"), 0o644),
		os.WriteFile(filepath.Join(dir, "README"), nil, 0o644),
	)
	want := map[string]struct {
		key              []byte
		walked, verified error
	}{
		path(0):   {key: numberedKey(0)},
		path(1):   {key: numberedKey(1), verified: ErrDamaged},
		path(2):   {walked: ErrDamaged, verified: ErrDamaged},
		path(3):   {walked: ErrDamaged, verified: ErrDamaged},
		path(4):   {key: numberedKey(4)},
		abandoned: {walked: ErrUnfinished, verified: ErrUnfinished},
	}
	err := openTestFolder(t, dir).Walk(t.Context(), func(e Entry) error {
		w, ok := want[e.Path()]
		delete(want, e.Path())
		got := e.Verify()
		if !ok || string(e.Key) != string(w.key) || !errors.Is(e.Err, w.walked) || !errors.Is(got, w.verified) || e.Bytes != MinEntrySize {
			t.Errorf("%s: %+v, Verify = %v; want key %q, errors %v and %v", e.Path(), e, got, w.key, w.walked, w.verified)
		}
		if string(e.Key) == string(numberedKey(0)) && !e.Used.Equal(used) {
			t.Errorf("%s was used %v, want %v", e.Path(), e.Used, used)
		}
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Errorf("Walk = %v, and did not visit %v", err, want)
	}
}

// TestWalkWhileACacheWrites replaces and removes entries while they are visited.
func TestWalkWhileACacheWrites(t *testing.T) {
	dir := t.TempDir()
	c := newSyncCache(t, dir, 1<<20, newTestClock())
	for i := range 2 {
		c.put(i, "a tile")
	}
	err := openTestFolder(t, dir).Walk(t.Context(), func(e Entry) error {
		c.write(e.Key, []byte("a longer tile"))
		if err := e.Verify(); err != nil {
			t.Errorf("Verify of a replaced entry = %v, want no error", err)
		}
		return errors.Join(os.Remove(e.Path()), e.Verify(), e.Remove())
	})
	if err != nil {
		t.Errorf("an entry that another process removed: %v, want no error", err)
	}
}

func TestWalkEnds(t *testing.T) {
	dir := t.TempDir()
	c := newSyncCache(t, dir, 1<<20, newTestClock())
	for i := range 3 {
		c.put(i, "a tile")
	}
	f := openTestFolder(t, dir)
	visits := 0
	if err := f.Walk(t.Context(), func(Entry) error { visits++; return errFake }); err != errFake || visits != 1 {
		t.Errorf("Walk = %v after %d visits, want the error of the first", err, visits)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Walk(ctx, func(Entry) error { visits++; return nil }); err != context.Canceled || visits != 1 {
		t.Errorf("Walk with a cancelled context = %v after %d visits, want none", err, visits-1)
	}
}
