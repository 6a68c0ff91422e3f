//go:build linux || darwin || freebsd

package tiles

import (
	"errors"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openToRead does not wait for somebody to write into a pipe that lies where an entry should.
const openToRead = os.O_RDONLY | syscall.O_NONBLOCK

// spaceOf returns how many bytes there are on the disk of that folder, and how many of them are free for us. ok is false
// if the system does not say; a network's file system may say nothing by saying 0.
func spaceOf(dir string) (free, total int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Blocks == 0 || s.Bsize <= 0 {
		return 0, 0, false
	}
	bytes := func(blocks uint64) int64 {
		return int64(min(float64(blocks)*float64(s.Bsize), math.MaxInt64/2)) // within which sums do not overflow
	}
	return bytes(uint64(max(s.Bavail, 0))), bytes(s.Blocks), true
}

// knowsSpace reports whether spaceOf can answer on this system.
const knowsSpace = true

// isFull reports whether err says that there is no room for more, be it of bytes, of files or of a quota.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
