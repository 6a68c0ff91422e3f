//go:build unix

package main

import "syscall"

// maxOpenFiles returns how many files the process may open. The Go runtime has raised the soft limit to the hard one.
func maxOpenFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return uint64(limit.Cur) // FreeBSD has a signed number
}
