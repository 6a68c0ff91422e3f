package connections

import (
	"net"
	"net/http"
	"sync/atomic"
)

// The state of a connection is one of these or, while it waits for a request, the time since when, with usedBit set if it has
// had a request before.
const (
	answering = -1 - iota
	closed
)

const usedBit = 1

// A kind is a kind of peers.
type kind int

const (
	ordinary kind = iota
	// local is a program on this machine, such as the health check of a container: both ends have the same address.
	local
	trusted // a proxy of Bounds.Trusted
)

// A conn is a connection that is counted until it is closed.
type conn struct {
	net.Conn
	limiter       *Limiter
	kind          kind
	address, site *group // nil if they have no bound: of a trusted proxy, or the site of an IPv4 address
	state         atomic.Int64
	paces         []pace // of an ordinary peer
	slowed        atomic.Bool
}

// ofAddress returns how many connections the address of c has, apart from those of trusted proxies.
func (c *conn) ofAddress() int {
	if c.address == nil {
		return 0
	}
	return len(c.address.conns)
}

// TCP returns the TCP connection, or nil if it is of another kind. Read and Close must not be called on it.
func (c *conn) TCP() *net.TCPConn {
	tcp, _ := c.Conn.(*net.TCPConn)
	return tcp
}

// Close closes the connection and ends its counting.
func (c *conn) Close() error {
	err := c.Conn.Close()
	if c.state.Swap(closed) != closed {
		c.limiter.mu.Lock()
		c.limiter.remove(c)
		c.limiter.mu.Unlock()
	}
	return err
}

// ConnState is the ConnState of an http.Server whose listener is [Limiter.Listener].
//
// net/http calls a connection of HTTP/1 active when it has read the header of a request, and one of HTTP/2 while a stream is
// open, which is once the header is complete.
func ConnState(nc net.Conn, state http.ConnState) {
	c := find(nc)
	if c == nil {
		return
	}
	switch state {
	case http.StateActive, http.StateHijacked:
		if before := c.state.Load(); before >= 0 {
			c.state.CompareAndSwap(before, answering) // otherwise it has just been closed
		}
	case http.StateIdle:
		c.state.CompareAndSwap(answering, c.limiter.clock()|usedBit)
	}
}

// find returns the connection of ours that TLS and other packages have wrapped, or nil.
func find(nc net.Conn) *conn {
	for range 4 { // more than there are
		switch c := nc.(type) {
		case *conn:
			return c
		case interface{ NetConn() net.Conn }:
			nc = c.NetConn()
		default:
			return nil
		}
	}
	return nil
}
