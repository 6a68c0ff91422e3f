package archive

import (
	"strings"
	"syscall"
	"testing"
)

// TestFolderThatIsAMountPoint is told so at once, and not when all tiles are drawn.
func TestFolderThatIsAMountPoint(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("LEFT OUT: mounting a file system needs root's rights: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	})
	if _, err := Create(dir+"/", testMetadata()); err == nil || !strings.Contains(err.Error(), "name one within it") {
		t.Errorf("Create in the place of a mounted disk = %v, want an error that says what to do", err)
	}
}
