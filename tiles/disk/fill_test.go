package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// openTestCache opens a cache until the test ends.
func openTestCache(tb testing.TB, dir string, budget int64) *Cache {
	tb.Helper()
	c, err := Open(dir, &Options{Bytes: budget, MinFree: -1})
	must(tb, err)
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// fill puts the entries of n keys that are not there, and returns how many it found.
func fill(tb testing.TB, f *Fill, n int) (found int) {
	tb.Helper()
	for i := range n {
		has, err := f.Has(numberedSum(i))
		must(tb, err)
		if has {
			found++
			continue
		}
		must(tb, f.Put(tb.Context(), numberedKey(i), []byte("a tile")))
	}
	return found
}

func TestFillFindsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	c := openTestCache(t, dir, 1<<20)
	if f := NewFill(c); fill(t, f, 20) != 0 || f.Bytes() != 20*MinEntrySize || countEntries(t, dir) != 20 {
		t.Errorf("%d bytes filled, and %d entries; want 20 entries", f.Bytes(), countEntries(t, dir))
	}
	must(t, os.Truncate(entryPath(dir, 3), 20), os.WriteFile(entryPath(dir, 4), nil, 0o644), os.Remove(entryPath(dir, 5)))
	if f := NewFill(c); fill(t, f, 20) != 17 || f.Bytes() != 20*MinEntrySize {
		t.Errorf("%d bytes filled again, want 20 entries of which 17 were found", f.Bytes())
	}
}

// TestFillEndsBeforeItEvicts gives a fill less room than it needs.
func TestFillEndsBeforeItEvicts(t *testing.T) {
	const blocks = 10
	dir := t.TempDir()
	f := NewFill(openTestCache(t, dir, blocks*MinEntrySize))
	var err error
	n := 0
	for ; err == nil; n++ {
		err = f.Put(t.Context(), numberedKey(n), []byte("a tile"))
	}
	if n--; !errors.Is(err, ErrFull) || n != blocks*8/10 || countEntries(t, dir) != n || f.Bytes() != int64(n)*MinEntrySize {
		t.Errorf("Put = %v after %d entries, and %d are there; want ErrFull after %d", err, n, countEntries(t, dir), blocks*8/10)
	}
	if got, want := f.cache.Room(), Room(blocks*MinEntrySize); got != want || want != blocks*MinEntrySize*85/100 {
		t.Errorf("Room = %d and %d, want the same", got, want)
	}
}

// TestFillPushesOutOldEntries fills a folder that is full of entries that were last used long ago.
func TestFillPushesOutOldEntries(t *testing.T) {
	const blocks = 30
	dir := t.TempDir()
	old := newSyncCache(t, dir, blocks*MinEntrySize, newTestClock())
	for i := range blocks * 9 / 10 {
		old.put(1000+i, "an old tile")
		lastYear := time.Now().AddDate(-1, 0, 0)
		must(t, os.Chtimes(entryPath(dir, 1000+i), lastYear, lastYear))
	}
	f := NewFill(openTestCache(t, dir, blocks*MinEntrySize))
	fill(t, f, 21)
	for i := range 21 {
		if _, err := os.Stat(entryPath(dir, i)); err != nil {
			t.Errorf("an entry of the fill is gone: %v", err)
		}
	}
}

// TestFillKeepsWhatItFinds repeats a fill of twenty minutes ago, since when a server has filled the folder.
func TestFillKeepsWhatItFinds(t *testing.T) {
	const first, all = 5, 21
	dir := t.TempDir()
	// pass makes all files ten minutes older.
	pass := func() {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		must(t, err)
		for _, name := range names {
			info, err := os.Stat(name)
			must(t, err)
			used := info.ModTime().Add(-10 * time.Minute)
			must(t, os.Chtimes(name, used, used))
		}
	}
	c := openTestCache(t, dir, 30*MinEntrySize)
	fill(t, NewFill(c), first)
	pass()
	for i := range all { // entries that clients asked for
		must(t, NewFill(c).Put(t.Context(), numberedKey(1000+i), []byte("a tile")))
	}
	pass()
	if found := fill(t, NewFill(c), all); found != first {
		t.Fatalf("%d entries found, want %d", found, first)
	}
	if found := fill(t, NewFill(c), all); found != all {
		t.Errorf("%d of %d filled entries are left", found, all)
	}
}

func TestFillFails(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o644))
	if err := NewFill(openTestCache(t, file, 1<<20)).Put(t.Context(), numberedKey(1), []byte("a tile")); err == nil {
		t.Error("Put into a file instead of a folder succeeded")
	}
	if err := NewFill(openTestCache(t, t.TempDir(), 1<<30)).Put(t.Context(), numberedKey(1), make([]byte, maxBody+1)); err == nil {
		t.Error("Put of a body that is too large succeeded")
	}
}
