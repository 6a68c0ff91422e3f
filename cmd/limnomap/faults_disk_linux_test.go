package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A diskFault is a way in which a disk stops taking files, which can be mended.
type diskFault struct {
	name string
	dir  func(*testing.T) string // where the cache is
	set  func(t *testing.T, p *process, dir string)
	mend func(t *testing.T, p *process, dir string)
}

func diskFaults() []diskFault {
	readOnly := diskFault{
		name: "FolderReadOnly",
		dir:  func(t *testing.T) string { return t.TempDir() },
		set:  func(t *testing.T, _ *process, dir string) { setModes(t, dir, 0o555) },
		mend: func(t *testing.T, _ *process, dir string) { setModes(t, dir, 0o755) },
	}
	if os.Getuid() == 0 { // whom no mode keeps from writing
		readOnly.name = "DiskReadOnly"
		readOnly.dir = smallDisk
		readOnly.set = func(t *testing.T, _ *process, dir string) { remount(t, dir, syscall.MS_RDONLY) }
		readOnly.mend = func(t *testing.T, _ *process, dir string) { remount(t, dir, 0) }
	}
	return []diskFault{
		readOnly,
		{
			name: "DiskFullAsByALimitOfFiles",
			dir:  func(t *testing.T) string { return t.TempDir() },
			set:  func(t *testing.T, p *process, _ string) { limitFiles(t, p, 0) },
			mend: func(t *testing.T, p *process, _ string) { limitFiles(t, p, unix.RLIM_INFINITY) },
		},
		{
			name: "DiskFull",
			dir:  smallDisk,
			set:  func(t *testing.T, _ *process, dir string) { fill(t, dir) },
			mend: func(t *testing.T, _ *process, dir string) {
				if err := os.Remove(filepath.Join(dir, filler)); err != nil {
					t.Fatal(err)
				}
			},
		},
	}
}

// diskFaults returns the tests in which the disk takes no files any more.
func (g *ground) diskFaults() []cacheFault {
	var tests []cacheFault
	for _, fault := range diskFaults() {
		tests = append(tests, cacheFault{fault.name, func(t *testing.T) { g.diskTakesNoFiles(t, fault) }})
	}
	return tests
}

// diskTakesNoFiles has the disk fail under a server that is busy. What the disk has is still read, what it has
// not is drawn, every answer is right, and the log has one line of it.
func (g *ground) diskTakesNoFiles(t *testing.T, fault diskFault) {
	dir := fault.dir(t)
	// A bound well below what the disk has, so that there is room for the cache once the fault is mended.
	p := startReady(t, faultFlags(g.db, "--cache-dir", filepath.Join(dir, "tiles"), "--cache-disk", "512KiB")...)
	few := g.few()
	g.want.check(t, p, few)
	limnomaptest.Within(t, 10*time.Second, "the first tiles are on disk", func() bool { return len(filesIn(t, dir).entries) >= len(few) })
	fault.set(t, p, dir)
	g.want.check(t, p, g.paths) // which pushes the first ones out of memory
	hits := p.metric(t, `limnomap_tile_cache_hits_total{tier="disk"}`)
	g.want.check(t, p, few)
	if got := p.metric(t, `limnomap_tile_cache_hits_total{tier="disk"}`) - hits; got == 0 {
		t.Error("no tile came from disk, want those that were written before")
	}
	limnomaptest.Within(t, 10*time.Second, "the fault is counted", func() bool {
		return p.metric(t, `limnomap_tile_disk_faults_total{operation="write"}`) > 0
	})
	wantComplaints(t, p, 1)
	if left := filesIn(t, dir).temps; len(left) > 0 {
		t.Errorf("%d unfinished files are left, want none", len(left))
	}
	fault.mend(t, p, dir)
	if inFull() {
		g.wantRecovery(t, p)
	}
	p.stop(t)
}

// limitFiles bounds the size of the files that p may write. Beyond it a write fails as on a full disk, without any
// privilege: with EFBIG, after a signal (SIGXFSZ) that Go programs survive.
func limitFiles(t *testing.T, p *process, bytes uint64) {
	t.Helper()
	var limit unix.Rlimit
	err := unix.Prlimit(p.Process.Pid, unix.RLIMIT_FSIZE, nil, &limit)
	if err == nil {
		limit.Cur = min(bytes, limit.Max)
		err = unix.Prlimit(p.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// smallDisk mounts a file system of a megabyte, which only root may, and not in every container.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("LEFT OUT: mounting a small file system needs root's rights: %v", err)
	}
	t.Cleanup(func() { // after the server is killed, and before the folder is removed
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	})
	return dir
}

// remount changes what may be done with a file system, as soon as nobody is writing a file there.
func remount(t *testing.T, dir string, flags uintptr) {
	t.Helper()
	limnomaptest.Within(t, 10*time.Second, "the file system is mounted anew", func() bool {
		return syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size=1m") == nil
	})
}

const filler = "filler"

// fill writes until the disk is full.
func fill(t *testing.T, dir string) {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, filler))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = file.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v, want that it is full", err)
	}
}

// setModes sets the mode of a folder and of those in it.
func setModes(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "tiles", "*"))
	for _, folder := range append(folders, filepath.Join(dir, "tiles"), dir) {
		err = errors.Join(err, os.Chmod(folder, mode))
	}
	if err != nil {
		t.Fatal(err)
	}
}
