package main

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// connect returns both ends of a connection that the server accepted.
func connect(t *testing.T) (client, server *net.TCPConn) {
	t.Helper()
	l, err := listen("127.0.0.1:0")
	mustDo(t, err)
	defer l.Close()
	theirs, err := net.Dial("tcp", l.Addr().String())
	mustDo(t, err)
	t.Cleanup(func() { theirs.Close() })
	ours, err := l.Accept()
	mustDo(t, err)
	t.Cleanup(func() { ours.Close() })
	return theirs.(*net.TCPConn), ours.(*net.TCPConn)
}

// TestUnsentBytes has a client that does not read: the kernel must not take megabytes for it.
func TestUnsentBytes(t *testing.T) {
	_, server := connect(t)
	const size = 32 << 20 // more than the buffers of both sides
	mustDo(t, server.SetWriteDeadline(time.Now().Add(500*time.Millisecond)))
	if n, err := server.Write(make([]byte, size)); err == nil || n == 0 {
		t.Fatalf("%d of %d bytes were written, error %v, want a part and a timeout", n, size, err)
	}
	socket, err := server.SyscallConn()
	mustDo(t, err)
	var unsent int
	if controlErr := socket.Control(func(fd uintptr) { unsent, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQNSD) }); controlErr != nil || err != nil {
		t.Fatal(controlErr, err)
	}
	// A write is split into segments of up to 64 KiB, of which the last may begin below the bound.
	if unsent > 2*unsentBytes {
		t.Errorf("the kernel holds %d bytes that it cannot send, want at most %d", unsent, 2*unsentBytes)
	}
}

// TestUnreadBytes has a server that does not read: the kernel must not take megabytes of what the client sends.
func TestUnreadBytes(t *testing.T) {
	client, _ := connect(t)
	if err := client.SetWriteBuffer(4 << 10); err != nil { // what the kernel holds on this side is not meant
		t.Fatal(err)
	}
	mustDo(t, client.SetWriteDeadline(time.Now().Add(500*time.Millisecond)))
	const most = 256 << 10 // with what both sides hold beyond their bounds
	if n, err := client.Write(make([]byte, 8<<20)); err == nil || n > most {
		t.Errorf("%d bytes were sent, error %v, want at most %d and a timeout", n, err, most)
	}
}
