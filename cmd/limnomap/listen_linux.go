package main

import (
	"net"

	"golang.org/x/sys/unix"
)

// unsentBytes is how much of an answer the kernel may hold before it can be sent: beyond that the handler waits. Linux would
// hold up to 4 MB for each client that does not read (tcp_wmem), which a cgroup counts as memory of the server. What
// has been sent and not yet acknowledged is not bounded by it, so a fast connection over a long way stays fast.
const unsentBytes = 64 << 10

// boundUnsent bounds what the kernel holds for a connection, if it supports that.
func boundUnsent(c *net.TCPConn) {
	socket, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = socket.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsentBytes)
	})
}
