//go:build linux || darwin || freebsd

package diskspace

import (
	"os"
	"syscall"
)

// lock locks an open file for this process until it is closed, and reports whether it could: the system unlocks those of a process that ends.
func lock(f *os.File) bool { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }
