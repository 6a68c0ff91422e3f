package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"syscall"
	"time"
)

// unreadBytes is how much of what a client sends the kernel holds until it is read. Requests are small, and a client that sends more than
// the server reads waits. Linux would hold up to 6 MB for each (tcp_rmem).
const unreadBytes = 32 << 10

// listen listens on a TCP address. Its connections hold few bytes in the kernel.
func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return boundListener{l}, nil
}

// listenError returns an error of listening on the address of a flag. If another program has the port, it names the next one.
func listenError(flag, address string, err error) error {
	host, port, _ := net.SplitHostPort(address)
	if number, convErr := strconv.Atoi(port); errors.Is(err, syscall.EADDRINUSE) && convErr == nil {
		return fmt.Errorf("%s %s: another program uses this port: choose another one, such as %[1]s %[3]s", flag, address, net.JoinHostPort(host, strconv.Itoa(number%65535+1)))
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// A boundListener bounds what the kernel holds for its connections. They do not inherit that from the listening socket, which
// is one of multipath TCP.
type boundListener struct{ net.Listener }

func (l boundListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		boundUnsent(tcp)
		_ = tcp.SetReadBuffer(unreadBytes) // if the system does not allow it, each connection costs more
	}
	return conn, err
}

// acceptWarnings is the least time between two warnings: when files run out, each connection that ends lets another in.
const acceptWarnings = time.Minute

// A warningListener logs that connections cannot be accepted. net/http logs this too, but among the errors of single
// clients, which are logged at level debug.
type warningListener struct {
	net.Listener
	log    *slog.Logger
	warned time.Time // last; only the goroutine that accepts uses it
}

func (l *warningListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil && !errors.Is(err, net.ErrClosed) && time.Since(l.warned) >= acceptWarnings {
		l.warned = time.Now()
		l.log.Warn("cannot accept connections; if too many files are open, raise the limit (ulimit -n, LimitNOFILE)",
			"address", l.Addr(), "error", err)
	}
	return conn, err
}
