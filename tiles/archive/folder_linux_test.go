package archive

import (
	"strings"
	"syscall"
	"testing"

	"limnomap/data/testsize"
)

// TestFolderThatIsAMountPoint checks that Create returns the error, and not Close, when all tiles have been drawn.
func TestFolderThatIsAMountPoint(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		testsize.LeaveOut(t, "mounting a file system needs the rights of root: "+err.Error())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	})
	if _, err := Create(dir+"/", testMetadata()); err == nil || !strings.Contains(err.Error(), "use a folder inside it") {
		t.Errorf("Create at a mount point = %v, want an error that says what to do", err)
	}
}
