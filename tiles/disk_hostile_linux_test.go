package tiles

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What somebody put into the folder in an entry's place is a miss that heals: a pipe is not waited for, a device is not
// read, and a second name of another file is removed while the file stays as it is.
func TestDiskHostileEntries(t *testing.T) {
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
			dir, key := t.TempDir(), numberedKey(1)
			mustDo(t, os.MkdirAll(filepath.Join(dir, key.Sum().shard()), 0o755), tt.make(entryPath(dir, key)))
			d := newTestDisk(t, dir, 1<<20, newTestClock())
			if got, ok := d.get(key); ok {
				t.Errorf("get = %v, want a miss", got)
			}
			d.put(key, newTile([]byte("a tile")))
			if got, ok := d.get(key); !ok || string(got.Bytes) != "a tile" {
				t.Errorf("after the tile was drawn anew: get = %v, %v, want it", got, ok)
			}
		})
	}
	if got, err := os.ReadFile(precious); err != nil || string(got) != "precious" {
		t.Errorf("the file of the hard link holds %q, %v", got, err)
	}
}
