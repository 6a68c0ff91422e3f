package connections

import (
	"container/list"
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

// A conn is a connection that is counted until it is closed.
type conn struct {
	net.Conn
	limiter *Limiter
	peer    *address
	element *list.Element // in peer.conns; guarded by limiter.mu
	state   atomic.Int64

	paced  bool // whether it is read at a bounded speed, see Read
	pace   pace
	shared []sharedPace
	slowed atomic.Bool
	// aheadSince is when its pace last began to be ahead, on the limiter's clock.
	aheadSince atomic.Int64
}

// TCP returns the TCP connection, or nil if it is of another kind. Read and Close must not be called on it.
func (c *conn) TCP() *net.TCPConn {
	tcp, _ := c.Conn.(*net.TCPConn)
	return tcp
}

// Close closes the connection and ends its counting.
func (c *conn) Close() error {
	err := c.Conn.Close()
	if c.end() {
		c.limiter.mu.Lock()
		c.limiter.remove(c)
		c.limiter.mu.Unlock()
	}
	return err
}

// end reports whether the connection is closed by this call.
func (c *conn) end() bool {
	before := c.state.Swap(closed)
	if before >= 0 {
		c.peer.waiting.Add(-1)
	}
	return before != closed
}

// endIfWaiting closes a connection whose state is waiting, unless that has changed.
func (c *conn) endIfWaiting(waiting int64) bool {
	if !c.state.CompareAndSwap(waiting, closed) {
		return false
	}
	c.peer.waiting.Add(-1)
	return true
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
		if before := c.state.Load(); before >= 0 && c.state.CompareAndSwap(before, answering) { // otherwise it has just been closed
			c.peer.waiting.Add(-1)
		}
	case http.StateIdle:
		if c.state.CompareAndSwap(answering, c.limiter.clock()|usedBit) {
			c.peer.waiting.Add(1)
		}
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
