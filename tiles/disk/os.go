//go:build linux || darwin || freebsd

package disk

import (
	"errors"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openToRead does not block on a pipe that has the name of an entry.
const openToRead = os.O_RDONLY | syscall.O_NONBLOCK

// spaceOf returns the size of the disk of that folder, and how many bytes of it are free for this user. It reports false if
// the system does not say; a network file system may say so with zeros.
func spaceOf(dir string) (free, total int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Blocks == 0 || s.Bsize <= 0 {
		return 0, 0, false
	}
	bytes := func(blocks uint64) int64 {
		return int64(min(float64(blocks)*float64(s.Bsize), math.MaxInt64/2)) // so that sums do not overflow
	}
	return bytes(uint64(max(s.Bavail, 0))), bytes(s.Blocks), true
}

// knowsSpace reports whether spaceOf works on this system.
const knowsSpace = true

// isFull reports whether err says that there is no more room: for bytes, for files, or in a quota.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
