package main

import (
	"errors"
	"log/slog"
	"net"
	"time"
)

// acceptWarnings is how often the log says at most that nobody gets in: while files run out, each connection that ends
// lets one more in.
const acceptWarnings = time.Minute

// A loudListener tells the log when no connection can be accepted. To net/http that is a message among those on clients
// that misbehave; for the operator it is an outage, which nothing else tells of.
type loudListener struct {
	net.Listener
	log    *slog.Logger
	warned time.Time // last; only the one goroutine that accepts uses it
}

func (l *loudListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil && !errors.Is(err, net.ErrClosed) && time.Since(l.warned) >= acceptWarnings {
		l.warned = time.Now()
		l.log.Warn("connections cannot be accepted; if too many files are open, raise their limit (ulimit -n, LimitNOFILE)",
			"address", l.Addr(), "error", err)
	}
	return conn, err
}
