package tiles

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// A fakeSpace is a disk of so many bytes, of which others use some and the cache in dir the rest.
type fakeSpace struct {
	dir           string
	total, others int64
}

func (s *fakeSpace) of(string) (free, total int64, ok bool) {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*", "*"))
	return s.total - s.others - blockSize*int64(len(files)), s.total, true
}

func TestDiskGivesWayWhereSpaceIsShort(t *testing.T) {
	dir := t.TempDir()
	d := newTestDisk(t, dir, 1000*blockSize, newTestClock())
	space := &fakeSpace{dir: dir, total: 200 * blockSize}
	d.spaceOf, d.minFree = space.of, 100*blockSize
	var log bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&log, nil))
	put := func(n int) {
		for i := range n {
			d.put(numberedKey(i), newTile([]byte("a tile")))
		}
	}
	tendOnce := func() {
		d.checkSpace()
		if d.overdue(d.limit()) {
			d.trim(t.Context())
		}
	}
	free := func() int64 { n, _, _ := space.of(""); return n / blockSize }

	put(300)
	if got := countEntries(t, dir); got > 100 || got < 80 || free() < 100 {
		t.Errorf("%d entries are kept and %d blocks free, want 80 to 100, and 100 free", got, free())
	}
	if log.Len() > 0 {
		t.Errorf("the log says of a cache that keeps the floor:\n%s", &log)
	}

	space.others = 60 * blockSize // another program takes what the cache had
	tendOnce()
	if got := countEntries(t, dir); got > 40 || got < 30 || free() < 100 {
		t.Errorf("others take 60 blocks: %d entries are kept and %d blocks free, want 30 to 40, and 100 free", got, free())
	}
	tendOnce()

	space.others = 150 * blockSize
	for range 3 {
		tendOnce()
		if got := countEntries(t, dir); got != 0 || testutil.ToFloat64(d.metrics.spaceFailing) != 1 {
			t.Errorf("others take 150 blocks: %d entries are kept and the metric is %v, want none and 1", got, testutil.ToFloat64(d.metrics.spaceFailing))
		}
		put(1)
	}

	space.others = 0
	tendOnce()
	put(50)
	if got := countEntries(t, dir); got != 50 || testutil.ToFloat64(d.metrics.spaceFailing) != 0 {
		t.Errorf("others leave: %d entries are kept and the metric is %v, want 50 and 0", got, testutil.ToFloat64(d.metrics.spaceFailing))
	}
	for _, message := range []string{"little space is free", "enough space is free"} {
		if got := strings.Count(log.String(), message); got != 2 {
			t.Errorf("%q is logged %d times, want once each time:\n%s", message, got, &log)
		}
	}
}

func TestDiskFloorOfFreeSpace(t *testing.T) {
	d := newTestDisk(t, t.TempDir(), 1<<20, newTestClock())
	for _, test := range []struct {
		minFree, total, want int64
		ok                   bool
	}{
		{0, 1 << 40, 1 << 30, true},
		{0, 1 << 30, 1 << 30 / 20, true},
		{5, 1 << 40, 5, true},
		{-1, 1 << 40, 0, false},
	} {
		d.minFree = test.minFree
		d.spaceOf = func(string) (int64, int64, bool) { return 7, test.total, true }
		if _, floor, ok := d.space(); floor != test.want || ok != test.ok {
			t.Errorf("MinFree %d of %d bytes: %d, %v must be free, want %d, %v", test.minFree, test.total, floor, ok, test.want, test.ok)
		}
	}
	d.spaceOf, d.minFree = func(string) (int64, int64, bool) { return 0, 0, false }, 5
	if got := d.limit(); got != d.budget {
		t.Errorf("a disk that does not say what is free: the limit is %d, want the budget", got)
	}
	if free, total, ok := spaceOf(t.TempDir()); ok != knowsSpace || ok && !(free > 0 && free <= total) {
		t.Errorf("spaceOf = %d, %d, %v, want some of the whole", free, total, ok)
	}
}

// TestDiskWithoutRoomForMoreFiles has the disk refuse an entry while space is free, as a quota does.
func TestDiskWithoutRoomForMoreFiles(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	d := newTestDisk(t, dir, 1000*blockSize, clock)
	for i := range 40 {
		d.put(numberedKey(i), newTile([]byte("a tile")))
	}
	d.writeFault(&fs.PathError{Op: "open", Path: "x", Err: syscall.EDQUOT})
	d.look()
	if got := countEntries(t, dir); got != 34 {
		t.Errorf("%d entries are left of 40, want 34: the low watermark of what was there", got)
	}
	clock.advance(retryInterval)
	d.put(numberedKey(40), newTile([]byte("a tile")))
	d.look()
	if got := countEntries(t, dir); got != 35 || testutil.ToFloat64(d.metrics.writeFailing) != 0 {
		t.Errorf("%d entries, and the metric is %v; want one more, and 0", got, testutil.ToFloat64(d.metrics.writeFailing))
	}
}

func TestDiskBudgetHoldsBeforeItIsCounted(t *testing.T) {
	const blocks = 100
	dir := t.TempDir()
	before := newTestDisk(t, dir, blocks*blockSize, newTestClock())
	for i := range blocks * 95 / 100 {
		before.put(numberedKey(i), newTile([]byte("a tile")))
	}
	m := newMetrics(nil)
	d := newDisk(dir, blocks*blockSize, -1, time.Now, slog.New(slog.DiscardHandler), m)
	defer d.root.Load().Close()
	for i := range 50 { // nothing is counted yet
		d.write(numberedKey(1000+i), newTile([]byte("a tile")))
	}
	if got := countEntries(t, dir); got != blocks {
		t.Errorf("%d entries are there, want as many as the budget has room for, %d", got, blocks)
	}
	if got := testutil.ToFloat64(m.dropped); got != 45 {
		t.Errorf("%v tiles counted as dropped, want 45", got)
	}
	d.trim(t.Context())
	if got := countEntries(t, dir); got != blocks*85/100 || d.bytes != int64(got)*blockSize || d.entries != int64(got) {
		t.Errorf("%d entries after the count, believed %d of %d bytes; want %d", got, d.entries, d.bytes, blocks*85/100)
	}
}

func TestDiskNoticesThatItsFolderWasReplaced(t *testing.T) {
	tests := []struct {
		name    string
		replace func(dir string) error
		after   func(dir string) error
		hit     bool // without a write
	}{
		{"moved away", func(dir string) error { return os.Rename(dir, dir+".old") }, nil, false},
		{"moved away and made anew", func(dir string) error {
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
			d := newTestDisk(t, dir, 1<<20, clock)
			d.put(numberedKey(1), newTile([]byte("a tile")))
			mustDo(t, test.replace(dir))
			d.checkFolder()
			if test.after != nil {
				if testutil.ToFloat64(d.metrics.writeFailing) != 1 {
					t.Error("the metric is not 1 while the folder cannot be opened")
				}
				mustDo(t, test.after(dir))
				clock.advance(retryInterval)
				d.checkFolder()
			}
			if _, ok := d.get(numberedKey(1)); ok != test.hit {
				t.Errorf("the tile is a hit: %v, want %v", ok, test.hit)
			}
			d.put(numberedKey(2), newTile([]byte("another")))
			if _, err := os.Stat(entryPath(dir, numberedKey(2))); err != nil {
				t.Errorf("a tile is not written where the folder is now: %v", err)
			}
		})
	}
}

// TestDiskWhoseClockWasWrong has the time jump, by the clock on the wall and by what files bear.
func TestDiskWhoseClockWasWrong(t *testing.T) {
	dir := t.TempDir()
	clock := &fakeClock{t: time.Now().Round(0)} // without the monotonic reading, which would hide it
	d := newTestDisk(t, dir, 20*blockSize, clock)
	t.Run("set back while the disk fails", func(t *testing.T) {
		d.writeFault(errFake)
		clock.advance(-24 * time.Hour)
		d.put(numberedKey(0), newTile([]byte("a tile")))
		if _, ok := d.get(numberedKey(0)); !ok {
			t.Error("the disk is left alone until the old time comes again")
		}
	})
	t.Run("entries of the future", func(t *testing.T) {
		future := clock.now().Add(10 * 365 * 24 * time.Hour)
		for i := range 15 {
			d.put(numberedKey(i), newTile([]byte("a tile")))
			mustDo(t, os.Chtimes(entryPath(dir, numberedKey(i)), future, future))
		}
		d.trim(t.Context())
		if got := countEntries(t, dir); got != 15 {
			t.Fatalf("%d of 15 entries are left, want all", got)
		}
		clock.advance(2 * time.Hour)
		d.get(numberedKey(3)) // the one that is still used
		for i := range 4 {
			d.put(numberedKey(100+i), newTile([]byte("a tile")))
		}
		d.put(numberedKey(104), newTile([]byte("a tile")))
		d.trim(t.Context())
		for _, i := range []int{3, 100, 101, 102, 103, 104} {
			if _, err := os.Lstat(entryPath(dir, numberedKey(i))); err != nil {
				t.Errorf("an entry that was used since is gone, and older ones are left: %v", err)
			}
		}
		if got := countEntries(t, dir); got > 19 {
			t.Errorf("%d entries are left, want at most 19", got)
		}
	})
	t.Run("a read renews a time in the future", func(t *testing.T) {
		path, future := entryPath(dir, numberedKey(3)), clock.now().Add(48*time.Hour)
		mustDo(t, os.Chtimes(path, future, future))
		d.get(numberedKey(3))
		info, err := os.Stat(path)
		mustDo(t, err)
		if info.ModTime().After(clock.now().Add(time.Second)) {
			t.Errorf("its time is %v, want %v", info.ModTime(), clock.now())
		}
	})
}

// TestDiskStartsAndEndsWithManyFiles ends a Service in the middle of its first count.
func TestDiskStartsAndEndsWithManyFiles(t *testing.T) {
	dir := t.TempDir()
	before := newTestDisk(t, dir, 1<<30, newTestClock())
	for i := range 2000 {
		before.put(numberedKey(i), newTile([]byte("a tile")))
	}
	m := newMetrics(prometheus.NewRegistry())
	d := newDisk(dir, 1<<30, 0, time.Now, slog.New(slog.DiscardHandler), m)
	d.start()
	want := newTile([]byte("written during the count, or before, or after"))
	d.put(numberedKey(5000), want)
	if got, ok := d.get(t.Context(), numberedSum(7)); !ok {
		t.Errorf("get = %v during the first count, want a hit", got)
	}
	d.close()
	if got, ok := before.get(numberedKey(5000)); !ok || !sameTile(got, want) {
		t.Errorf("a tile put before close = %v, %v, want %v", got, ok, want)
	}
	if got := testutil.ToFloat64(m.dropped) + testutil.ToFloat64(m.trimFaults); got != 0 {
		t.Errorf("%v tiles dropped or faults of trimming counted, want none", got)
	}
}

func TestDiskFaultsOfTrimmingAreToldOnce(t *testing.T) {
	dir, clock := t.TempDir(), newTestClock()
	d := newTestDisk(t, dir, 1<<20, clock)
	var log bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&log, nil))
	for i := range 3 {
		d.trimFailed(fmt.Errorf("fault %d", i))
	}
	if got := testutil.ToFloat64(d.metrics.trimFailing); got != 1 || strings.Count(log.String(), "cannot be trimmed") != 1 {
		t.Errorf("the metric is %v and the log says\n%swant 1 and one line", got, &log)
	}
	clock.advance(retryInterval)
	d.trim(t.Context())
	if got := testutil.ToFloat64(d.metrics.trimFailing); got != 0 || strings.Count(log.String(), "can be trimmed again") != 1 {
		t.Errorf("the metric is %v and the log says\n%swant 0 and one line more", got, &log)
	}
}
