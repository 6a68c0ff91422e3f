//go:build !linux

package background

// lowerPriority does nothing: on other systems niceness belongs to the whole process.
func lowerPriority() {}
