//go:build !unix

package main

// maxOpenFiles returns 0: there is no limit that a process can read.
func maxOpenFiles() uint64 { return 0 }
