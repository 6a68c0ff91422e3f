package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/data/diskspace"
)

// A fakeSpace is a disk of total bytes. Other programs use some of them, and the cache in dir some more.
type fakeSpace struct {
	dir           string
	total, others int64
}

func (s *fakeSpace) of(string) (free, total int64, ok bool) {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*", "*"))
	return s.total - s.others - MinEntrySize*int64(len(files)), s.total, true
}

func TestCacheShrinksWhenSpaceIsShort(t *testing.T) {
	dir := t.TempDir()
	c := newSyncCache(t, dir, 1000*MinEntrySize, newTestClock())
	space := &fakeSpace{dir: dir, total: 100 * MinEntrySize}
	c.spaceOf, c.minFree = space.of, 50*MinEntrySize
	log := c.logTo()
	put := func(n int) {
		for i := range n {
			c.put(i, "a tile")
		}
	}
	maintainOnce := func() {
		c.checkSpace()
		if c.trimDue(c.limit()) {
			c.trim(t.Context())
		}
	}
	free := func() int64 { n, _, _ := space.of(""); return n / MinEntrySize }

	put(150)
	if got := countEntries(t, dir); got > 50 || got < 40 || free() < 50 {
		t.Errorf("%d entries are kept and %d blocks free, want 40 to 50, and 50 free", got, free())
	}
	if log.Len() > 0 {
		t.Errorf("log of a cache that leaves enough free space:\n%s", log)
	}

	space.others = 30 * MinEntrySize // another program takes the space
	maintainOnce()
	if got := countEntries(t, dir); got > 20 || got < 15 || free() < 50 {
		t.Errorf("others take 30 blocks: %d entries are kept and %d blocks free, want 15 to 20, and 50 free", got, free())
	}
	maintainOnce()

	space.others = 75 * MinEntrySize
	for range 3 {
		maintainOnce()
		if got := countEntries(t, dir); got != 0 || testutil.ToFloat64(c.metrics.spaceFailing) != 1 {
			t.Errorf("others take 75 blocks: %d entries are kept and the metric is %v, want none and 1", got, testutil.ToFloat64(c.metrics.spaceFailing))
		}
		put(1)
	}

	space.others = 0
	maintainOnce()
	put(25)
	if got := countEntries(t, dir); got != 25 || testutil.ToFloat64(c.metrics.spaceFailing) != 0 {
		t.Errorf("others free their space: %d entries are kept and the metric is %v, want 25 and 0", got, testutil.ToFloat64(c.metrics.spaceFailing))
	}
	for _, message := range []string{"little free space", "enough free space"} {
		if got := strings.Count(log.String(), message); got != 2 {
			t.Errorf("%q is logged %d times, want twice:\n%s", message, got, log)
		}
	}
}

func TestMinFree(t *testing.T) {
	c := newSyncCache(t, t.TempDir(), 1<<20, newTestClock())
	for _, test := range []struct {
		minFree, total, want int64
		ok                   bool
	}{
		{0, 1 << 40, 1 << 30, true},
		{0, 1 << 30, 1 << 30 / 20, true},
		{5, 1 << 40, 5, true},
		{-1, 1 << 40, 0, false},
	} {
		c.minFree = test.minFree
		c.spaceOf = func(string) (int64, int64, bool) { return 7, test.total, true }
		if _, minFree, ok := c.space(); minFree != test.want || ok != test.ok {
			t.Errorf("MinFree %d of %d bytes: space() = %d, %v, want %d, %v", test.minFree, test.total, minFree, ok, test.want, test.ok)
		}
	}
	c.spaceOf, c.minFree = func(string) (int64, int64, bool) { return 0, 0, false }, 5
	if got := c.limit(); got != c.budget {
		t.Errorf("a disk that does not report free space: the limit is %d, want the budget", got)
	}
	if free, total, ok := diskspace.Of(t.TempDir()); ok != diskspace.Known || ok && !(free > 0 && free <= total) {
		t.Errorf("diskspace.Of = %d, %d, %v, want at most the total", free, total, ok)
	}
}

// TestQuota has the disk refuse an entry although space is free, as a quota does.
func TestQuota(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	c := newSyncCache(t, dir, 1000*MinEntrySize, clock)
	for i := range 40 {
		c.put(i, "a tile")
	}
	c.writeFault(&fs.PathError{Op: "open", Path: "x", Err: syscall.EDQUOT})
	c.trimIfWoken()
	if got := countEntries(t, dir); got != 34 {
		t.Errorf("%d entries are left of 40, want 34: lowWater of those", got)
	}
	clock.advance(retryInterval)
	c.put(40, "a tile")
	c.trimIfWoken()
	if got := countEntries(t, dir); got != 35 || testutil.ToFloat64(c.metrics.writeFailing) != 0 {
		t.Errorf("%d entries and the metric is %v, want 35 and 0", got, testutil.ToFloat64(c.metrics.writeFailing))
	}
}

func TestBudgetHoldsBeforeFirstCount(t *testing.T) {
	const blocks = 100
	dir := t.TempDir()
	before := newSyncCache(t, dir, blocks*MinEntrySize, newTestClock())
	for i := range blocks * 95 / 100 {
		before.put(i, "a tile")
	}
	o, err := (&Options{Bytes: blocks * MinEntrySize, MinFree: -1}).withDefaults()
	must(t, err)
	c := newCache(dir, o, time.Now)
	defer c.root.Load().Close()
	for i := range 50 { // nothing is counted yet
		c.write(numberedKey(1000+i), []byte("a tile"))
	}
	if got := countEntries(t, dir); got != blocks {
		t.Errorf("%d entries, want as many as fit the budget, %d", got, blocks)
	}
	if got := testutil.ToFloat64(c.metrics.dropped); got != 45 {
		t.Errorf("%v tiles counted as dropped, want 45", got)
	}
	c.trim(t.Context())
	if got := countEntries(t, dir); got != blocks*85/100 || c.bytes != int64(got)*MinEntrySize || c.entries != int64(got) {
		t.Errorf("%d entries after the count, which found %d of %d bytes; want %d", got, c.entries, c.bytes, blocks*85/100)
	}
}

func TestReplacedFolderIsNoticed(t *testing.T) {
	tests := []struct {
		name    string
		replace func(dir string) error
		after   func(dir string) error
		hit     bool // without a write
	}{
		{"moved away", func(dir string) error { return os.Rename(dir, dir+".old") }, nil, false},
		{"moved away and created again", func(dir string) error {
			if err := os.Rename(dir, dir+".old"); err != nil {
				return err
			}
			return os.Mkdir(dir, 0o755)
		}, nil, false},
		{"restored from a copy", func(dir string) error {
			if err := os.Rename(dir, dir+".old"); err != nil {
				return err
			}
			return os.CopyFS(dir, os.DirFS(dir+".old"))
		}, nil, true},
		{"a file in the way, for a while", func(dir string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.WriteFile(dir, nil, 0o644)
		}, os.Remove, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir, clock := filepath.Join(t.TempDir(), "cache"), newTestClock()
			c := newSyncCache(t, dir, 1<<20, clock)
			c.put(1, "a tile")
			must(t, test.replace(dir))
			c.checkFolder()
			if test.after != nil {
				if testutil.ToFloat64(c.metrics.writeFailing) != 1 {
					t.Error("the metric is not 1 while the folder cannot be opened")
				}
				must(t, test.after(dir))
				clock.advance(retryInterval)
				c.checkFolder()
			}
			if _, ok := c.get(1); ok != test.hit {
				t.Errorf("the tile is a hit: %v, want %v", ok, test.hit)
			}
			c.put(2, "another")
			if _, err := os.Stat(entryPath(dir, 2)); err != nil {
				t.Errorf("a tile is not written to the new folder: %v", err)
			}
		})
	}
}

// TestWrongClock has the time jump, both of the system clock and of files.
func TestWrongClock(t *testing.T) {
	dir := t.TempDir()
	clock := &fakeClock{t: time.Now().Round(0)} // without the monotonic time, which would hide it
	c := newSyncCache(t, dir, 20*MinEntrySize, clock)
	t.Run("set back while the disk fails", func(t *testing.T) {
		c.writeFault(errFake)
		clock.advance(-24 * time.Hour)
		c.put(0, "a tile")
		if _, ok := c.get(0); !ok {
			t.Error("the disk is not used until the old time comes again")
		}
	})
	t.Run("entries of the future", func(t *testing.T) {
		future := clock.now().Add(10 * 365 * 24 * time.Hour)
		for i := range 15 {
			c.put(i, "a tile")
			must(t, os.Chtimes(entryPath(dir, i), future, future))
		}
		c.trim(t.Context())
		if got := countEntries(t, dir); got != 15 {
			t.Fatalf("%d of 15 entries are left, want all", got)
		}
		clock.advance(2 * time.Hour)
		c.get(3) // still in use
		for i := range 4 {
			c.put(100+i, "a tile")
		}
		c.put(104, "a tile")
		c.trim(t.Context())
		for _, i := range []int{3, 100, 101, 102, 103, 104} {
			if _, err := os.Lstat(entryPath(dir, i)); err != nil {
				t.Errorf("an entry that was used since is gone, and older ones are left: %v", err)
			}
		}
		if got := countEntries(t, dir); got > 19 {
			t.Errorf("%d entries are left, want at most 19", got)
		}
	})
	t.Run("a read renews a time in the future", func(t *testing.T) {
		path, future := entryPath(dir, 3), clock.now().Add(48*time.Hour)
		must(t, os.Chtimes(path, future, future))
		c.get(3)
		info, err := os.Stat(path)
		must(t, err)
		if info.ModTime().After(clock.now().Add(time.Second)) {
			t.Errorf("its time is %v, want %v", info.ModTime(), clock.now())
		}
	})
}

// TestCloseDuringFirstCount closes a cache during its first count of many files.
func TestCloseDuringFirstCount(t *testing.T) {
	dir := t.TempDir()
	before := newSyncCache(t, dir, 1<<30, newTestClock())
	for i := range 2000 {
		before.put(i, "a tile")
	}
	c, err := Open(dir, nil)
	must(t, err)
	const want = "written during the count, or before, or after"
	c.Put(numberedKey(5000), []byte(want))
	if _, _, ok := c.Get(t.Context(), numberedSum(7)); !ok {
		t.Error("Get is a miss during the first count, want a hit")
	}
	must(t, c.Close())
	if got, ok := before.get(5000); !ok || got != want {
		t.Errorf("an entry put before Close = %q, %v, want %q", got, ok, want)
	}
	if got := testutil.ToFloat64(c.metrics.dropped) + testutil.ToFloat64(c.metrics.trimFaults); got != 0 {
		t.Errorf("%v dropped entries and trim faults counted, want none", got)
	}
}
