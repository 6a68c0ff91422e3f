//go:build linux || darwin || freebsd

package disk

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openToRead does not block on a pipe that has the name of an entry.
const openToRead = os.O_RDONLY | syscall.O_NONBLOCK

// isFull reports whether err says that there is no more room: for bytes, for files, or in a quota.
func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}
