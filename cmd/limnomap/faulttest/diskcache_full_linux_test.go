package faulttest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// A diskFault makes writing to a disk fail, and can be undone.
type diskFault struct {
	name string
	dir  func(*testing.T) string // where the cache is
	set  func(t *testing.T, s *limnomaptest.Server, dir string)
	undo func(t *testing.T, s *limnomaptest.Server, dir string)
}

func allDiskFaults() []diskFault {
	readOnly := diskFault{
		name: "FolderReadOnly",
		dir:  func(t *testing.T) string { return t.TempDir() },
		set:  func(t *testing.T, _ *limnomaptest.Server, dir string) { setModes(t, dir, 0o555) },
		undo: func(t *testing.T, _ *limnomaptest.Server, dir string) { setModes(t, dir, 0o755) },
	}
	if os.Getuid() == 0 { // root may write despite the mode
		readOnly.name = "DiskReadOnly"
		readOnly.dir = smallDisk
		readOnly.set = func(t *testing.T, _ *limnomaptest.Server, dir string) { remount(t, dir, syscall.MS_RDONLY) }
		readOnly.undo = func(t *testing.T, _ *limnomaptest.Server, dir string) { remount(t, dir, 0) }
	}
	return []diskFault{
		readOnly,
		{
			name: "FileSizeLimitReached",
			dir:  func(t *testing.T) string { return t.TempDir() },
			set:  func(t *testing.T, s *limnomaptest.Server, _ string) { limitFileSize(t, s, 0) },
			undo: func(t *testing.T, s *limnomaptest.Server, _ string) { limitFileSize(t, s, unix.RLIM_INFINITY) },
		},
		{
			name: "DiskFull",
			dir:  smallDisk,
			set:  func(t *testing.T, _ *limnomaptest.Server, dir string) { fill(t, dir) },
			undo: func(t *testing.T, _ *limnomaptest.Server, dir string) { must(t, os.Remove(filepath.Join(dir, filler))) },
		},
	}
}

// diskFaults returns the tests in which writing to the disk fails.
func (c *diskCacheTest) diskFaults() []cacheFault {
	var tests []cacheFault
	for _, fault := range allDiskFaults() {
		tests = append(tests, cacheFault{fault.name, func(t *testing.T) { c.writesFail(t, fault) }})
	}
	return tests
}

// writesFail makes the disk fail while the server is busy. The server still reads the tiles that are on disk and draws the
// others. All answers are right, and the log has one warning.
func (c *diskCacheTest) writesFail(t *testing.T, fault diskFault) {
	dir := fault.dir(t)
	// The size limit is well below the size of the disk, so that there is room for the cache once the fault is undone.
	s := start(t, serverFlags(c.db, "--cache-dir", filepath.Join(dir, "tiles"), "--cache-disk", "512KiB")...)
	few := c.few()
	c.want.check(t, s, few)
	limnomaptest.Within(t, patience, "the first tiles are on disk", func() bool { return len(filesIn(t, dir).entries) >= len(few) })
	fault.set(t, s, dir)
	c.want.check(t, s, c.paths) // replaces the first tiles in the memory cache
	hits := s.Metric(t, `limnomap_tile_cache_hits_total{tier="disk"}`)
	c.want.check(t, s, few)
	if got := s.Metric(t, `limnomap_tile_cache_hits_total{tier="disk"}`) - hits; got == 0 {
		t.Error("no tile came from disk, want those written before the fault")
	}
	limnomaptest.Within(t, patience, "the fault is counted", func() bool {
		return s.Metric(t, `limnomap_tile_disk_faults_total{operation="write"}`) > 0
	})
	wantDiskWarnings(t, s, 1)
	if left := filesIn(t, dir).temps; len(left) > 0 {
		t.Errorf("%d unfinished files are left, want none", len(left))
	}
	fault.undo(t, s, dir)
	if testsize.Long {
		c.wantRecovery(t, s)
	}
	s.Stop(t)
}

// limitFileSize limits the size of the files that the server may write. A longer write fails with EFBIG, which no test
// needs root for. The signal that comes with it (SIGXFSZ) does not end Go programs.
func limitFileSize(t *testing.T, s *limnomaptest.Server, bytes uint64) {
	t.Helper()
	var limit unix.Rlimit
	must(t, unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, nil, &limit))
	limit.Cur = min(bytes, limit.Max)
	must(t, unix.Prlimit(s.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil))
}

func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	mountSmallDisk(t, dir, "1m")
	return dir
}

// remount changes the flags of a file system. That fails while a file on it is being written.
func remount(t *testing.T, dir string, flags uintptr) {
	t.Helper()
	limnomaptest.Within(t, patience, "the file system is mounted again", func() bool {
		return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size=1m") == nil
	})
}

// setModes sets the mode of a folder and of the folders in it.
func setModes(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "tiles", "*"))
	for _, folder := range append(folders, filepath.Join(dir, "tiles"), dir) {
		err = errors.Join(err, os.Chmod(folder, mode))
	}
	must(t, err)
}
