//go:build !linux

package main

import "net"

// boundUnsent does nothing: other systems hold less, or do not let it be bounded.
func boundUnsent(*net.TCPConn) {}
