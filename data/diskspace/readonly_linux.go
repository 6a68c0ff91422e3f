package diskspace

import "golang.org/x/sys/unix"

// ReadOnly reports whether nothing can be written to the file system of that file or folder, whatever its permissions.
func ReadOnly(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(path, &s) == nil && s.Flags&unix.ST_RDONLY != 0
}
