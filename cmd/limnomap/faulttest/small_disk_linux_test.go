package faulttest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"limnomap/data/testsize"
)

// mountSmallDisk mounts a file system of a size, such as "1m", on a folder. Only root may do that, and not in every container.
func mountSmallDisk(t *testing.T, dir, size string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		testsize.LeaveOut(t, "mounting a small file system needs the rights of root: "+err.Error())
	}
	t.Cleanup(func() { // after the processes that use it are killed, and before the folder is removed
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	})
}

const filler = "filler"

// fill writes a file until the disk is full.
func fill(t *testing.T, dir string) {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, filler))
	must(t, err)
	defer file.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = file.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v, want that it is full", err)
	}
}
