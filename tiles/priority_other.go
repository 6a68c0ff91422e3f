//go:build !linux

package tiles

// lowerPriority does nothing: elsewhere, niceness is the whole process's.
func lowerPriority() {}
