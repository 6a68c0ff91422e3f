//go:build unix

package faulttest

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// A diskCacheTest holds the database and the tiles that the tests of the disk cache share, since the expected tiles take
// long to draw.
type diskCacheTest struct {
	db    string
	paths []string // in the long form more tiles than the smallest memory cache holds
	want  expectedTiles
}

// few returns fewer tiles than may wait to be written to disk.
func (c *diskCacheTest) few() []string { return c.paths[:50] }

// A cacheFault is a test of one fault.
type cacheFault struct {
	name string
	test func(*testing.T)
}

// TestDiskCache disturbs the disk cache of a running server. All answers stay right.
func TestDiskCache(t *testing.T) {
	t.Parallel()
	c := &diskCacheTest{db: newGermanDB(t), paths: heatTiles(testsize.Of(120, 600), "", "@2x")}
	c.want = newExpectedTiles(t, c.db, c.paths)
	size := 0
	for _, a := range c.want {
		size += len(a.body)
	}
	if testsize.Long && size < 3<<19 {
		t.Fatalf("%d tiles have %d bytes: want more than fit into 1 MiB of memory", len(c.paths), size)
	}
	for _, fault := range testsize.Cases(1, append([]cacheFault{
		{"KillDuringWrites", c.killDuringWrites},
		{"TwoServersShareAFolder", c.twoServersShareAFolder},
		{"FolderRemoved", c.folderRemoved},
		{"EntriesWithWrongTimes", c.entriesWithWrongTimes},
	}, c.diskFaults()...)) {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			fault.test(t)
		})
	}
}

// killDuringWrites kills a server several times while it writes tiles and, because its cache is small, removes old ones.
// The files that remain never give a wrong tile.
func (c *diskCacheTest) killDuringWrites(t *testing.T) {
	kills := testsize.Of(2, 50)
	dir := t.TempDir()
	flags := serverFlags(c.db, "--cache-dir", dir, "--cache-disk", "1MiB")

	var right int64
	for range kills {
		s := start(t, flags...)
		timer := time.AfterFunc(time.Duration(rand.Int64N(int64(400*time.Millisecond))), func() { _ = s.Process.Kill() })
		n, err := c.want.load(t.Context(), t, s)
		if err == nil {
			t.Error("the server answered all requests, want it killed")
		}
		timer.Stop()
		s.Kill()
		right += n
	}
	left := filesIn(t, dir)
	t.Logf("%d kills, %d answers, %d entries and %d unfinished files left", kills, right, len(left.entries), len(left.temps))
	if right == 0 || len(left.entries) == 0 {
		t.Fatalf("%d answers and %d entries, want some of each", right, len(left.entries))
	}

	for _, temp := range left.temps {
		yesterday := time.Now().AddDate(0, 0, -1)
		must(t, os.Chtimes(temp, yesterday, yesterday))
	}
	s := start(t, flags...)
	c.want.check(t, s, c.paths)
	if got := s.Metric(t, "limnomap_tile_disk_damaged_total"); got != 0 {
		t.Errorf("%v entries are damaged, want none: a file gets its final name when it is complete", got)
	}
	if got := s.Metric(t, `limnomap_tile_cache_hits_total{tier="disk"}`); got == 0 {
		t.Error("no tile came from disk, want those written before the kills")
	}
	limnomaptest.Within(t, patience, "the unfinished files of yesterday are removed", func() bool {
		for _, temp := range left.temps {
			if _, err := os.Lstat(temp); err == nil {
				return false
			}
		}
		return true
	})
}

// cacheFiles are the files of a cache folder.
type cacheFiles struct {
	entries []string
	temps   []string // unfinished files
	bytes   int64    // of both
}

// filesIn lists dir. Files may come and go meanwhile.
func filesIn(t testing.TB, dir string) (found cacheFiles) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		found.bytes += info.Size()
		if strings.HasSuffix(path, ".tmp") {
			found.temps = append(found.temps, path)
		} else {
			found.entries = append(found.entries, path)
		}
		return nil
	})
	must(t, err)
	return found
}

// Log lines about a failing disk cache, and about one that works again.
var (
	diskWarning  = regexp.MustCompile(`level=WARN.*on disk`)
	diskRecovery = regexp.MustCompile(`level=INFO.*on disk.*again`)
)

// wantDiskWarnings fails the test unless the log has n warnings about the disk cache without a recovery: one for each
// fault, not one for each tile.
func wantDiskWarnings(t *testing.T, s *limnomaptest.Server, n int) {
	t.Helper()
	log := s.Log.String()
	if got := len(diskWarning.FindAllString(log, -1)) - len(diskRecovery.FindAllString(log, -1)); got != n {
		t.Errorf("the log has %d warnings about the disk cache without a recovery, want %d:\n%s", got, n, log)
	}
}

// wantRecovery fails the test unless the server writes to the disk cache again some time after the fault has ended.
func (c *diskCacheTest) wantRecovery(t *testing.T, s *limnomaptest.Server) {
	t.Helper()
	faults := s.Metric(t, `limnomap_tile_disk_faults_total{operation="write"}`)
	limnomaptest.Within(t, patience, "the disk cache works again", func() bool {
		c.want.check(t, s, c.paths) // the server only tries again when it has a tile to write
		log := s.Log.String()
		return len(diskWarning.FindAllString(log, -1)) == len(diskRecovery.FindAllString(log, -1))
	})
	if got := s.Metric(t, `limnomap_tile_disk_faults_total{operation="write"}`); got != faults {
		t.Errorf("%v writes failed after the fault had ended, want none", got-faults)
	}
}
