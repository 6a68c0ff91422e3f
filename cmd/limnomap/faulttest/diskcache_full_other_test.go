//go:build unix && !linux

package faulttest

// diskFaults returns no tests: each system has its own way to make a disk fail.
func (c *diskCacheTest) diskFaults() []cacheFault { return nil }
