package disk

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestHostileFiles puts special files where an entry should be. Each is a miss and is replaced: a pipe is not waited for, a
// device is not read, and a hard link is removed without changing the file it links to.
func TestHostileFiles(t *testing.T) {
	precious := filepath.Join(t.TempDir(), "precious")
	for _, tt := range []struct {
		name string
		make func(path string) error
	}{
		{"pipe", func(path string) error { return syscall.Mkfifo(path, 0o644) }},
		{"socket", func(path string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o644, 0) }},
		{"link to a device", func(path string) error { return os.Symlink("/dev/zero", path) }},
		{"link to itself", func(path string) error { return os.Symlink(filepath.Base(path), path) }},
		{"hard link", func(path string) error {
			if err := os.WriteFile(precious, []byte("precious"), 0o644); err != nil {
				return err
			}
			return os.Link(precious, path)
		}},
		{"sparse file", func(path string) error {
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				return err
			}
			return os.Truncate(path, 1<<40)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := entryPath(dir, 1)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755), tt.make(path))
			c := newSyncCache(t, dir, 1<<20, newTestClock())
			if got, ok := c.get(1); ok {
				t.Errorf("get = %q, want a miss", got)
			}
			c.put(1, "a tile")
			if got, ok := c.get(1); !ok || got != "a tile" {
				t.Errorf("get after put = %q, %v, want the tile", got, ok)
			}
		})
	}
	if got, err := os.ReadFile(precious); err != nil || string(got) != "precious" {
		t.Errorf("the file of the hard link holds %q, %v", got, err)
	}
}

// TestHostileSubfolders puts links and files where a sub-folder should be. Only the tiles of that sub-folder are missing, the others
// are read and written as before, and a link is replaced at the next write. Its target is not changed.
func TestHostileSubfolders(t *testing.T) {
	outside := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "precious"), []byte("precious"), 0o644))
	for _, tt := range []struct {
		name  string
		make  func(path string) error
		heals bool
	}{
		{"link out of the cache", func(path string) error { return os.Symlink(outside, path) }, true},
		{"link to a file outside", func(path string) error { return os.Symlink(filepath.Join(outside, "precious"), path) }, true},
		{"link to nothing", func(path string) error { return os.Symlink("nothing", path) }, true},
		{"link to itself", func(path string) error { return os.Symlink(filepath.Base(path), path) }, true},
		{"link to a device", func(path string) error { return os.Symlink("/dev/zero", path) }, true},
		{"file", func(path string) error { return os.WriteFile(path, []byte("precious"), 0o644) }, false},
		{"pipe", func(path string) error { return syscall.Mkfifo(path, 0o644) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c := newSyncCache(t, dir, 1<<20, newTestClock()) // its clock stands still: what fails is not tried again
			log := c.logTo()
			c.put(2, "another tile")
			shard := filepath.Dir(entryPath(dir, 1))
			if shard == filepath.Dir(entryPath(dir, 2)) {
				t.Fatal("both tiles are in one sub-folder")
			}
			must(t, os.Remove(shard), tt.make(shard))
			if got, ok := c.get(1); ok {
				t.Errorf("get = %q, want a miss", got)
			}
			if got, ok := c.get(2); !ok || got != "another tile" {
				t.Errorf("get of another tile = %q, %v, want it", got, ok)
			}
			c.put(1, "a tile")
			c.put(3, "a third tile")
			if got, ok := c.get(1); ok != tt.heals || ok && got != "a tile" {
				t.Errorf("get after put = %q, %v, want it: %v", got, ok, tt.heals)
			}
			if got, ok := c.get(3); !ok || got != "a third tile" {
				t.Errorf("get of a third tile = %q, %v, want it", got, ok)
			}
			if reads, writes := testutil.ToFloat64(c.metrics.readFaults), testutil.ToFloat64(c.metrics.writeFaults); reads != 0 || writes != 0 || log.Len() > 0 {
				t.Errorf("%v reads and %v writes count as faults of the disk, and the log has %q", reads, writes, log)
			}
			if _, err := os.Lstat(shard); err != nil {
				t.Error(err)
			}
		})
	}
	if got, err := os.ReadFile(filepath.Join(outside, "precious")); err != nil || string(got) != "precious" {
		t.Errorf("the file outside holds %q, %v", got, err)
	}
	if files, err := os.ReadDir(outside); err != nil || len(files) != 1 {
		t.Errorf("there is %v, %v outside, want one file", files, err)
	}
}

// A planted link costs the one tile whose name it has: it is no fault of the disk, after which nothing would be read for a while.
func TestPlantedLinkCostsOneTile(t *testing.T) {
	for _, target := range []string{"/etc/passwd", "/nonexistent", "../../..", "."} {
		dir := t.TempDir()
		c := newSyncCache(t, dir, 1<<20, newTestClock())
		c.put(1, "a tile")
		c.put(2, "another tile")
		must(t, os.Remove(entryPath(dir, 1)), os.Symlink(target, entryPath(dir, 1)))
		if got, ok := c.get(1); ok {
			t.Errorf("link to %s: get = %q, want a miss", target, got)
		}
		if got, ok := c.get(2); !ok || got != "another tile" {
			t.Errorf("link to %s: get of another tile = %q, %v, want it", target, got, ok)
		}
		c.put(1, "a tile")
		if got, ok := c.get(1); !ok || got != "a tile" {
			t.Errorf("link to %s: get after put = %q, %v, want the tile", target, got, ok)
		}
		if faults := testutil.ToFloat64(c.metrics.readFaults) + testutil.ToFloat64(c.metrics.writeFaults); faults != 0 {
			t.Errorf("link to %s: %v faults of the disk", target, faults)
		}
	}
}
