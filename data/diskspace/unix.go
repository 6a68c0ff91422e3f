//go:build linux || darwin || freebsd

package diskspace

import (
	"math"

	"golang.org/x/sys/unix"
)

// Known reports whether Of works on this system.
const Known = true

// Of returns the size of the disk of that folder, and how many bytes of it are free for this user. It reports false if the
// system does not say; a network file system may say so with zeros.
func Of(dir string) (free, total int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil || s.Blocks == 0 || s.Bsize <= 0 {
		return 0, 0, false
	}
	bytes := func(blocks uint64) int64 {
		return int64(min(float64(blocks)*float64(s.Bsize), math.MaxInt64/2)) // so that sums do not overflow
	}
	return bytes(uint64(max(s.Bavail, 0))), bytes(s.Blocks), true
}
