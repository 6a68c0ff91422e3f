package tiles

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func entryPath(dir string, key Key) string { return filepath.Join(dir, entryName(key.Sum())) }

func mustDo(tb testing.TB, errs ...error) {
	tb.Helper()
	for _, err := range errs {
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func TestDiskDamageIsAMissThatHeals(t *testing.T) {
	want := newTile([]byte("a tile"))
	key, other := numberedKey(1), numberedKey(2)
	tests := []struct {
		name    string
		damage  func(path string) error
		damaged float64 // counted as damage, rather than as a plain miss
	}{
		{"vanished", os.Remove, 0},
		{"emptied", func(path string) error { return os.Truncate(path, 0) }, 1},
		{"torn", func(path string) error { return os.Truncate(path, int64(prefixLen)+3) }, 1},
		{"foreign", func(path string) error { return os.WriteFile(path, []byte("not a tile at all"), 0o644) }, 1},
		{"grown", func(path string) error { return os.Truncate(path, 1<<40) }, 1},
		{"another key's", func(path string) error { return os.WriteFile(path, encodeEntry(other, want.Bytes), 0o644) }, 1},
		{"flipped", func(path string) error {
			raw := encodeEntry(key, want.Bytes)
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
			d := newTestDisk(t, dir, 1<<20, newTestClock())
			d.put(key, want)
			mustDo(t, test.damage(entryPath(dir, key)))
			if got, ok := d.get(key); ok {
				t.Errorf("get = %v, want a miss", got)
			}
			if got := testutil.ToFloat64(d.metrics.damaged); got != test.damaged {
				t.Errorf("%v damaged entries counted, want %v", got, test.damaged)
			}
			if _, err := os.Lstat(entryPath(dir, key)); !os.IsNotExist(err) {
				t.Errorf("the damaged entry is still there: %v", err)
			}
			d.put(key, want)
			if got, ok := d.get(key); !ok || !sameTile(got, want) {
				t.Errorf("get after a new put = %v, %v, want %v", got, ok, want)
			}
		})
	}
}

func TestDiskFollowsNoLinkOutOfItsFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	key := numberedKey(1)
	d := newTestDisk(t, dir, blockSize, newTestClock())
	precious := filepath.Join(outside, key.Sum().String())
	mustDo(t, os.WriteFile(precious, encodeEntry(key, []byte("a tile")), 0o644))

	t.Run("by an entry", func(t *testing.T) {
		mustDo(t, os.MkdirAll(filepath.Join(dir, key.Sum().shard()), 0o755), os.Symlink(precious, entryPath(dir, key)))
		if got, ok := d.get(key); ok {
			t.Errorf("get = %v, want a miss", got)
		}
	})
	t.Run("by a sub-folder", func(t *testing.T) {
		mustDo(t, os.RemoveAll(filepath.Join(dir, key.Sum().shard())), os.Symlink(outside, filepath.Join(dir, key.Sum().shard())))
		if got, ok := d.get(key); ok {
			t.Errorf("get = %v, want a miss", got)
		}
		for i := range 8 {
			d.put(numberedKey(i), newTile([]byte("a tile")))
		}
		d.trim(t.Context())
	})
	if raw, err := os.ReadFile(precious); err != nil || string(raw) != string(encodeEntry(key, []byte("a tile"))) {
		t.Errorf("the file outside reads %q, %v, want it untouched", raw, err)
	}
}

func TestDiskTrimDropsTheLeastRecentlyUsed(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	d := newTestDisk(t, dir, 20*blockSize, clock)
	for i := range 19 {
		d.put(numberedKey(i), newTile([]byte("a tile")))
		used := clock.now().Add(-time.Duration(40-i) * time.Hour)
		mustDo(t, os.Chtimes(entryPath(dir, numberedKey(i)), used, used))
	}
	d.get(numberedKey(0)) // the oldest becomes the newest
	d.put(numberedKey(19), newTile([]byte("a tile")))
	for i := range 20 {
		_, err := os.Lstat(entryPath(dir, numberedKey(i)))
		if want := i < 1 || i > 3; (err == nil) != want {
			t.Errorf("entry %d is there: %v, want %v", i, err == nil, want)
		}
	}
	if got := testutil.ToFloat64(d.metrics.diskEvictions); got != 3 {
		t.Errorf("%v evictions counted, want 3: down to the low watermark", got)
	}
	if got := testutil.ToFloat64(d.metrics.diskEntries); got != 17 {
		t.Errorf("%v entries counted, want 17", got)
	}
}

func TestDiskRenewsModificationTimesAtMostHourly(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	d := newTestDisk(t, dir, 1<<20, clock)
	key := numberedKey(1)
	d.put(key, newTile([]byte("a tile")))
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
		mustDo(t, os.Chtimes(entryPath(dir, key), used, used))
		if _, ok := d.get(key); !ok {
			t.Fatal("get is a miss, want a hit")
		}
		info, err := os.Stat(entryPath(dir, key))
		mustDo(t, err)
		if got := !info.ModTime().Equal(used); got != test.want {
			t.Errorf("after %s the modification time is renewed: %v, want %v", test.name, got, test.want)
		}
	}
}

func TestDiskWalkRemovesOldTemporaryFilesAndNothingForeign(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	d := newTestDisk(t, dir, 1, clock) // every entry is beyond the budget
	key := numberedKey(1)
	shard := filepath.Join(dir, key.Sum().shard())
	mustDo(t, os.MkdirAll(filepath.Join(shard, numberedKey(2).Sum().String()), 0o755), os.MkdirAll(filepath.Join(dir, "photos"), 0o755))
	files := []struct {
		path string
		age  time.Duration
		kept bool
	}{
		{filepath.Join(shard, key.Sum().String()+".0123456789abcdef.tmp"), time.Hour, false},
		{filepath.Join(shard, key.Sum().String()+".fedcba9876543210.tmp"), time.Minute, true},
		{filepath.Join(shard, key.Sum().String()), time.Hour, false},
		{filepath.Join(shard, "notes.tmp"), time.Hour, true},
		{filepath.Join(shard, key.Sum().String()+".png"), time.Hour, true},
		{filepath.Join(shard, "README"), time.Hour, true},
		{filepath.Join(dir, "photos", key.Sum().String()), time.Hour, true},
		{filepath.Join(dir, key.Sum().String()), time.Hour, true},
	}
	for _, f := range files {
		used := clock.now().Add(-f.age)
		mustDo(t, os.WriteFile(f.path, []byte("something"), 0o644), os.Chtimes(f.path, used, used))
	}
	d.trim(t.Context())
	for _, f := range files {
		if _, err := os.Lstat(f.path); (err == nil) != f.kept {
			t.Errorf("%s is kept: %v, want %v", strings.TrimPrefix(f.path, dir), err == nil, f.kept)
		}
	}
}

// TestDisksSharingAFolder has two processes write alternately, each of which counts only its own writes.
func TestDisksSharingAFolder(t *testing.T) {
	const blocks = 40
	dir, clock := t.TempDir(), newTestClock()
	a, b := newTestDisk(t, dir, blocks*blockSize, clock), newTestDisk(t, dir, blocks*blockSize, clock)
	for i := range 400 {
		writer, reader := a, b
		if i%2 == 1 {
			writer, reader = b, a
		}
		want := newTile([]byte{byte(i), byte(i >> 8)})
		writer.put(numberedKey(i), want)
		if i < blocks/2 {
			if got, ok := reader.get(numberedKey(i)); !ok || !sameTile(got, want) {
				t.Fatalf("entry %d of the other disk = %v, %v, want %v", i, got, ok, want)
			}
		}
		// Each may overlook a tenth of the budget of the other's, and one write.
		if got, most := countEntries(t, dir), blocks+blocks/10+2; got > most {
			t.Fatalf("the folder holds %d entries, want at most %d for a budget of %d", got, most, blocks)
		}
	}
}

func TestDiskTrimTakesNoMoreThanItMust(t *testing.T) {
	const blocks = 20
	dir := t.TempDir()
	d := newTestDisk(t, dir, blocks*blockSize, newTestClock())
	for i := range blocks { // all of the same minute
		d.put(numberedKey(i), newTile([]byte("a tile")))
	}
	if got := countEntries(t, dir); got != blocks*85/100 {
		t.Errorf("the folder holds %d entries, want %d: the low watermark", got, blocks*85/100)
	}
}

func countEntries(tb testing.TB, dir string) int {
	tb.Helper()
	entries, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	mustDo(tb, err)
	return len(entries)
}

func TestDiskDegradesAndRecovers(t *testing.T) {
	replace := func(dir string) error {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		return os.WriteFile(dir, []byte("in the way"), 0o644)
	}
	parent, clock := t.TempDir(), newTestClock()
	dir := filepath.Join(parent, "cache")
	d := newTestDisk(t, dir, 1<<20, clock)
	var log bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&log, nil))
	tile := newTile([]byte("a tile"))
	hits := func(key Key) bool { _, ok := d.get(key); return ok }

	d.put(numberedKey(1), tile)
	mustDo(t, os.RemoveAll(dir))
	if hits(numberedKey(1)) {
		t.Error("a tile of a removed folder is a hit, want a miss")
	}
	d.put(numberedKey(1), tile)
	if !hits(numberedKey(1)) {
		t.Error("a removed folder is not made again at the next write")
	}

	mustDo(t, replace(dir))
	for range 5 {
		d.put(numberedKey(2), tile)
	}
	if got := testutil.ToFloat64(d.metrics.writeFaults); got != 1 {
		t.Errorf("%v faults of a folder that is none, want 1: it must not be tried for each tile", got)
	}
	if hits(numberedKey(2)) {
		t.Error("a tile that could not be written is a hit, want a miss")
	}

	mustDo(t, os.Remove(dir))
	d.put(numberedKey(3), tile)
	if hits(numberedKey(3)) {
		t.Error("the folder is tried again at once, want only after a while")
	}
	clock.advance(retryInterval)
	d.put(numberedKey(3), tile)
	if !hits(numberedKey(3)) {
		t.Error("a repaired folder is not used after a while")
	}
	for _, message := range []string{"cannot be written", "can be written again"} {
		if got := strings.Count(log.String(), message); got != 1 {
			t.Errorf("%q is logged %d times, want once:\n%s", message, got, &log)
		}
	}
}

func TestDiskReadFaultsPauseReading(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	d := newTestDisk(t, dir, 1<<20, clock)
	good, bad := numberedKey(1), numberedKey(2)
	if good.Sum().shard() == bad.Sum().shard() {
		t.Fatal("both keys lie in one sub-folder; choose others")
	}
	tile := newTile([]byte("a tile"))
	d.put(good, tile)
	// What lies where the sub-folder should be makes looking into it an error that is not absence.
	obstacle := filepath.Join(dir, bad.Sum().shard())
	mustDo(t, os.WriteFile(obstacle, nil, 0o644))
	d.get(bad)
	if got := testutil.ToFloat64(d.metrics.readFaults); got != 1 {
		t.Errorf("%v read faults counted, want 1", got)
	}
	if _, ok := d.get(good); ok {
		t.Error("a failing disk is read at once, want only after a while")
	}
	clock.advance(retryInterval)
	if _, ok := d.get(good); !ok {
		t.Error("a repaired disk is not read after a while")
	}
}

func TestDiskThatCannotBeWalkedIsLeftAloneForAWhile(t *testing.T) {
	clock := newTestClock()
	d := newTestDisk(t, t.TempDir(), 1<<20, clock)
	var log bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&log, nil))
	d.put(numberedKey(1), newTile([]byte("a tile")))
	d.budget = 1
	mustDo(t, d.root.Load().Close())
	for range 2 {
		if !d.overdue(d.limit()) {
			t.Fatal("a folder over its budget is not to be walked, want a walk")
		}
		d.trim(t.Context())
		if d.overdue(d.limit()) {
			t.Error("a folder that could not be walked is tried again at once, want only after a while")
		}
		clock.advance(retryInterval)
	}
	mustDo(t, d.reopen(d.root.Load()))
	d.trim(t.Context())
	if got := countEntries(t, d.dir); got != 0 {
		t.Errorf("%d entries are left over a budget of one byte, want none", got)
	}
	for _, message := range []string{"cannot be trimmed", "can be trimmed again"} {
		if got := strings.Count(log.String(), message); got != 1 {
			t.Errorf("%q is logged %d times, want once:\n%s", message, got, &log)
		}
	}
}

func TestDiskCloseEndsATrim(t *testing.T) {
	d := newTestDisk(t, t.TempDir(), 1<<20, newTestClock())
	d.put(numberedKey(1), newTile([]byte("a tile")))
	d.budget = 1
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.trim(ctx)
	if _, ok := d.get(numberedKey(1)); !ok {
		t.Error("a trim goes on while the disk is closing")
	}
	if got := testutil.ToFloat64(d.metrics.trimFaults); got != 0 {
		t.Errorf("%v faults counted for closing, want none", got)
	}
}

func TestAgesCutoff(t *testing.T) {
	a := &ages{0: 100, 5: 50, 7: 30}
	tests := []struct {
		excess int64
		age    int
		within int64
	}{
		{10, 7, 10}, {30, 7, 30}, {31, 5, 1}, {80, 5, 50}, {81, 0, 1}, {180, 0, 100},
	}
	for _, test := range tests {
		if age, within := a.cutoff(test.excess); age != test.age || within != test.within {
			t.Errorf("cutoff(%d) = %d, %d, want %d, %d", test.excess, age, within, test.age, test.within)
		}
	}
	now := time.Now()
	for used, want := range map[time.Time]int{
		now.Add(time.Hour):                  0,
		now:                                 0,
		now.Add(-90 * time.Second):          1,
		now.Add(-10 * 365 * 24 * time.Hour): len(a) - 1,
	} {
		if got := ageOf(now, used); got != want {
			t.Errorf("ageOf an entry used %v before now = %d, want %d", now.Sub(used), got, want)
		}
	}
}
