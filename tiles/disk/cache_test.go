package disk

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestDamagedEntryIsReplaced(t *testing.T) {
	encoded := func(n int) []byte { return encodeEntry(numberedKey(n), []byte("a tile")) }
	tests := []struct {
		name    string
		damage  func(path string) error
		damaged float64 // counted as damage, not as a plain miss
	}{
		{"vanished", os.Remove, 0},
		{"emptied", func(path string) error { return os.Truncate(path, 0) }, 1},
		{"torn", func(path string) error { return os.Truncate(path, int64(prefixLen)+3) }, 1},
		{"foreign", func(path string) error { return os.WriteFile(path, []byte("not a tile at all"), 0o644) }, 1},
		{"grown", func(path string) error { return os.Truncate(path, 1<<40) }, 1},
		{"another key's", func(path string) error { return os.WriteFile(path, encoded(2), 0o644) }, 1},
		{"flipped", func(path string) error {
			raw := encoded(1)
			raw[len(raw)-1] ^= 1
			return os.WriteFile(path, raw, 0o644)
		}, 1},
		{"a folder", func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o755)
		}, 1},
		{"a link", func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Symlink(path, path)
		}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			c := newSyncCache(t, dir, 1<<20, newTestClock())
			c.put(1, "a tile")
			must(t, test.damage(entryPath(dir, 1)))
			if got, ok := c.get(1); ok {
				t.Errorf("get = %q, want a miss", got)
			}
			if got := testutil.ToFloat64(c.metrics.damaged); got != test.damaged {
				t.Errorf("%v damaged entries counted, want %v", got, test.damaged)
			}
			if _, err := os.Lstat(entryPath(dir, 1)); !os.IsNotExist(err) {
				t.Errorf("the damaged entry is still there: %v", err)
			}
			c.put(1, "a tile")
			if got, ok := c.get(1); !ok || got != "a tile" {
				t.Errorf("get after a new put = %q, %v, want the tile", got, ok)
			}
		})
	}
}

func TestCacheFollowsNoLinkOutOfItsFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	c := newSyncCache(t, dir, MinEntrySize, newTestClock())
	path := entryPath(dir, 1)
	foreign := filepath.Join(outside, filepath.Base(path))
	raw := encodeEntry(numberedKey(1), []byte("a tile"))
	must(t, os.WriteFile(foreign, raw, 0o644))

	t.Run("by an entry", func(t *testing.T) {
		must(t, os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(foreign, path))
		if got, ok := c.get(1); ok {
			t.Errorf("get = %q, want a miss", got)
		}
	})
	t.Run("by a sub-folder", func(t *testing.T) {
		must(t, os.RemoveAll(filepath.Dir(path)), os.Symlink(outside, filepath.Dir(path)))
		if got, ok := c.get(1); ok {
			t.Errorf("get = %q, want a miss", got)
		}
		for i := range 8 {
			c.put(i, "a tile")
		}
		c.trim(t.Context())
	})
	if got, err := os.ReadFile(foreign); err != nil || string(got) != string(raw) {
		t.Errorf("the file outside is %q, %v, want it unchanged", got, err)
	}
}

func TestTrimRemovesLeastRecentlyUsed(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	c := newSyncCache(t, dir, 20*MinEntrySize, clock)
	for i := range 19 {
		c.put(i, "a tile")
		used := clock.now().Add(-time.Duration(40-i) * time.Hour)
		must(t, os.Chtimes(entryPath(dir, i), used, used))
	}
	c.get(0) // the oldest becomes the newest
	c.put(19, "a tile")
	for i := range 20 {
		_, err := os.Lstat(entryPath(dir, i))
		if want := i < 1 || i > 3; (err == nil) != want {
			t.Errorf("entry %d is there: %v, want %v", i, err == nil, want)
		}
	}
	if got := testutil.ToFloat64(c.metrics.evictions); got != 3 {
		t.Errorf("%v evictions counted, want 3: down to lowWater", got)
	}
	if got := testutil.ToFloat64(c.metrics.entries); got != 17 {
		t.Errorf("%v entries counted, want 17", got)
	}
}

func TestReadsRenewModificationTimesAtMostHourly(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	c := newSyncCache(t, dir, 1<<20, clock)
	c.put(1, "a tile")
	tests := []struct {
		name string
		age  time.Duration
		want bool
	}{
		{"half an hour", 30 * time.Minute, false},
		{"two hours", 2 * time.Hour, true},
	}
	for _, test := range tests {
		used := clock.now().Add(-test.age).Truncate(time.Second)
		must(t, os.Chtimes(entryPath(dir, 1), used, used))
		if _, ok := c.get(1); !ok {
			t.Fatal("get is a miss, want a hit")
		}
		info, err := os.Stat(entryPath(dir, 1))
		must(t, err)
		if got := !info.ModTime().Equal(used); got != test.want {
			t.Errorf("after %s the modification time is renewed: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestTrimRemovesOldTemporaryFilesAndNoForeignFiles(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	c := newSyncCache(t, dir, 1, clock) // every entry exceeds the budget
	path := entryPath(dir, 1)
	shard, name := filepath.Split(path)
	must(t, os.MkdirAll(filepath.Join(shard, sumName(numberedSum(2))), 0o755), os.MkdirAll(filepath.Join(dir, "photos"), 0o755))
	files := []struct {
		path string
		age  time.Duration
		kept bool
	}{
		{path + ".0123456789abcdef.tmp", time.Hour, false},
		{path + ".fedcba9876543210.tmp", time.Minute, true},
		{path, time.Hour, false},
		{filepath.Join(shard, "notes.tmp"), time.Hour, true},
		{path + ".png", time.Hour, true},
		{filepath.Join(shard, "README"), time.Hour, true},
		{filepath.Join(dir, "photos", name), time.Hour, true},
		{filepath.Join(dir, name), time.Hour, true},
	}
	for _, f := range files {
		used := clock.now().Add(-f.age)
		must(t, os.WriteFile(f.path, []byte("something"), 0o644), os.Chtimes(f.path, used, used))
	}
	c.trim(t.Context())
	for _, f := range files {
		if _, err := os.Lstat(f.path); (err == nil) != f.kept {
			t.Errorf("%s is kept: %v, want %v", strings.TrimPrefix(f.path, dir), err == nil, f.kept)
		}
	}
}

// TestCachesShareAFolder has two caches write in turns. Each counts only its own writes.
func TestCachesShareAFolder(t *testing.T) {
	const blocks = 40
	dir, clock := t.TempDir(), newTestClock()
	a, b := newSyncCache(t, dir, blocks*MinEntrySize, clock), newSyncCache(t, dir, blocks*MinEntrySize, clock)
	for i := range 400 {
		writer, reader := a, b
		if i%2 == 1 {
			writer, reader = b, a
		}
		want := fmt.Sprint("tile ", i)
		writer.put(i, want)
		if i < blocks/2 {
			if got, ok := reader.get(i); !ok || got != want {
				t.Fatalf("entry %d of the other cache = %q, %v, want %q", i, got, ok, want)
			}
		}
		// Each may miss the other's writes of a tenth of the budget, and one more.
		if got, most := countEntries(t, dir), blocks+blocks/10+2; got > most {
			t.Fatalf("the folder holds %d entries, want at most %d for a budget of %d", got, most, blocks)
		}
	}
}

func TestTrimRemovesNoMoreThanNeeded(t *testing.T) {
	const blocks = 20
	dir := t.TempDir()
	c := newSyncCache(t, dir, blocks*MinEntrySize, newTestClock())
	for i := range blocks { // all used in the same minute
		c.put(i, "a tile")
	}
	if got := countEntries(t, dir); got != blocks*85/100 {
		t.Errorf("the folder holds %d entries, want %d: lowWater", got, blocks*85/100)
	}
}

func countEntries(tb testing.TB, dir string) int {
	tb.Helper()
	entries, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	must(tb, err)
	return len(entries)
}

func TestCacheRecoversFromWriteFaults(t *testing.T) {
	replace := func(dir string) error {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		return os.WriteFile(dir, []byte("in the way"), 0o644)
	}
	parent, clock := t.TempDir(), newTestClock()
	dir := filepath.Join(parent, "cache")
	c := newSyncCache(t, dir, 1<<20, clock)
	log := c.logTo()
	hits := func(n int) bool { _, ok := c.get(n); return ok }

	c.put(1, "a tile")
	must(t, os.RemoveAll(dir))
	if hits(1) {
		t.Error("a tile of a removed folder is a hit, want a miss")
	}
	c.put(1, "a tile")
	if !hits(1) {
		t.Error("a removed folder is not created again at the next write")
	}

	must(t, replace(dir))
	for range 5 {
		c.put(2, "a tile")
	}
	if got := testutil.ToFloat64(c.metrics.writeFaults); got != 1 {
		t.Errorf("%v faults of a folder that is a file, want 1: it must not be tried for each tile", got)
	}
	if hits(2) {
		t.Error("a tile that could not be written is a hit, want a miss")
	}

	must(t, os.Remove(dir))
	c.put(3, "a tile")
	if hits(3) {
		t.Error("the folder is tried again at once, want only after a while")
	}
	clock.advance(retryInterval)
	c.put(3, "a tile")
	if !hits(3) {
		t.Error("a repaired folder is not used after a while")
	}
	for _, message := range []string{"cannot be written", "can be written again"} {
		if got := strings.Count(log.String(), message); got != 1 {
			t.Errorf("%q is logged %d times, want once:\n%s", message, got, log)
		}
	}
}

func TestReadFaultsPauseReads(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	c := newSyncCache(t, dir, 1<<20, clock)
	const good, bad = 1, 2
	c.put(good, "a tile")
	c.read = func(root *os.Root, name string, sum sum) (entry, fs.FileInfo, error) {
		if sum == numberedSum(bad) {
			return entry{}, nil, &fs.PathError{Op: "read", Path: name, Err: errFake}
		}
		return readEntry(root, name, sum)
	}
	c.get(bad)
	if got := testutil.ToFloat64(c.metrics.readFaults); got != 1 {
		t.Errorf("%v read faults counted, want 1", got)
	}
	if _, ok := c.get(good); ok {
		t.Error("a failing disk is read at once, want only after a while")
	}
	clock.advance(retryInterval)
	if _, ok := c.get(good); !ok {
		t.Error("a repaired disk is not read after a while")
	}
}

func TestFailedTrimIsNotRepeatedAtOnce(t *testing.T) {
	clock := newTestClock()
	c := newSyncCache(t, t.TempDir(), 1<<20, clock)
	log := c.logTo()
	c.put(1, "a tile")
	c.budget = 1
	must(t, c.root.Load().Close())
	for range 2 {
		if !c.trimDue(c.limit()) {
			t.Fatal("no trim is due for a folder over its budget")
		}
		c.trim(t.Context())
		if c.trimDue(c.limit()) {
			t.Error("a failed trim is due again at once, want only after a while")
		}
		clock.advance(retryInterval)
	}
	must(t, c.reopen(c.root.Load()))
	c.trim(t.Context())
	if got := countEntries(t, c.dir); got != 0 {
		t.Errorf("%d entries are left over a budget of one byte, want none", got)
	}
	for _, message := range []string{"cannot be trimmed", "can be trimmed again"} {
		if got := strings.Count(log.String(), message); got != 1 {
			t.Errorf("%q is logged %d times, want once:\n%s", message, got, log)
		}
	}
}

func TestCloseEndsATrim(t *testing.T) {
	c := newSyncCache(t, t.TempDir(), 1<<20, newTestClock())
	c.put(1, "a tile")
	c.budget = 1
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.trim(ctx)
	if _, ok := c.get(1); !ok {
		t.Error("a trim continues while the cache closes")
	}
	if got := testutil.ToFloat64(c.metrics.trimFaults); got != 0 {
		t.Errorf("%v faults counted, want none", got)
	}
}

func TestPutNeverWaits(t *testing.T) {
	c := newSyncCache(t, t.TempDir(), 1<<20, newTestClock()) // without a writer: as slow as a disk can be
	for i := range maxWrites + 3 {
		c.Put(numberedKey(i), []byte("a tile"))
	}
	if got := testutil.ToFloat64(c.metrics.dropped); got != 3 {
		t.Errorf("%v dropped writes counted, want 3", got)
	}
}

func TestEntryTooLargeIsDropped(t *testing.T) {
	c := newSyncCache(t, t.TempDir(), 1<<30, newTestClock())
	c.put(1, "a tile")
	c.write(numberedKey(2), make([]byte, maxBody+1))
	c.write(make([]byte, maxKey+1), []byte("a tile"))
	if got := testutil.ToFloat64(c.metrics.dropped); got != 2 {
		t.Errorf("%v dropped writes counted, want 2", got)
	}
	if got := countEntries(t, c.dir); got != 1 {
		t.Errorf("%d entries, want 1", got)
	}
}

func TestOpenRefusesOptions(t *testing.T) {
	if _, err := Open(t.TempDir(), &Options{Bytes: -1}); err == nil || !strings.Contains(err.Error(), "Bytes") {
		t.Errorf("Open with negative Bytes: error %v, want the name of the option", err)
	}
}

func TestMetricsOfACache(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := NewMetrics(reg)
	if got := testutil.ToFloat64(m.enabled); got != 0 {
		t.Errorf("limnomap_tile_disk_enabled = %v without a cache, want 0", got)
	}
	c, err := Open(t.TempDir(), &Options{Metrics: m})
	must(t, err)
	defer c.Close()
	if got := testutil.ToFloat64(m.enabled); got != 1 {
		t.Errorf("limnomap_tile_disk_enabled = %v, want 1", got)
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) != 0 {
		t.Errorf("GatherAndLint = %v, %v", problems, err)
	}
}
