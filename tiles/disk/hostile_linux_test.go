package disk

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
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
