//go:build unix && !linux

package main

// diskFaults returns none: how to break a disk and mend it is another thing on each system.
func (g *ground) diskFaults() []cacheFault { return nil }
