package diskspace

import (
	"errors"
	"os"
	"syscall"
)

// Full reports whether there is no room for a file of n bytes in a folder: its disk, a quota or the table of files is full. It tries to write one.
func Full(dir string, n int) bool {
	f, err := os.CreateTemp(dir, ".limnomap-full-*")
	if err == nil {
		_, err = f.Write(make([]byte, n))
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
