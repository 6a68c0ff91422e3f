package connections

import (
	"errors"
	"net"
	"sync/atomic"
	"time"
)

const (
	// connRate and addressRate bound what a connection, and all of an address (IPv6: its /64), may send, in bytes a second. A map view
	// of a hundred tiles sends some 50 kB by HTTP/1, over six connections of a browser, and 10 kB by HTTP/2. Clients that send frames
	// of HTTP/2 without a request, at the speed of the network, would take all processors of the server.
	connRate, addressRate = 32 << 10, 256 << 10
	// paceBurst is how far ahead of its rate a sender may be.
	paceBurst = time.Second / 2
	// maxRead is the most that is read at once: half a second at connRate.
	maxRead = 16 << 10
	// maxAhead is how long a connection may send more than connRate without a break. Then it is closed: its client may have left, with
	// megabytes on the way that would be read for minutes.
	maxAhead = 30 * time.Second
	// pauseStep is how often a read that waits looks whether its connection is closed.
	pauseStep = time.Second
)

// errAhead ends a connection that sends too much for too long.
var errAhead = errors.New("the client sends too much")

// A pace is how far a sender is ahead of its rate (a leaky bucket). It is safe for concurrent use.
type pace struct {
	due atomic.Int64 // when what was read would have come at the rate, in nanoseconds of the limiter's clock
}

// took counts n bytes, and returns how long the next read has to wait.
func (p *pace) took(now int64, n, rate int) time.Duration {
	for {
		before := p.due.Load()
		due := max(before, now) + int64(n)*int64(time.Second)/int64(rate)
		if p.due.CompareAndSwap(before, due) {
			return time.Duration(due-now) - paceBurst
		}
	}
}

// Read reads at a bounded speed, unless the peer is a trusted proxy or on this machine. Where an address may have all connections, such
// as that of a load balancer for TCP, only each connection has its bound.
func (c *conn) Read(b []byte) (int, error) {
	if !c.paced {
		return c.Conn.Read(b)
	}
	// The byte that net/http reads while it answers a request, to see whether the client leaves, is not waited for.
	if len(b) > 1 {
		if err := c.pause(); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Read(b[:min(len(b), maxRead)])
	now := c.limiter.clock()
	d := c.pace.took(now, n, connRate)
	switch {
	case d <= -paceBurst/2: // it has paused
		c.aheadSince.Store(0)
	case !c.aheadSince.CompareAndSwap(0, now) && now-c.aheadSince.Load() > int64(maxAhead):
		return 0, errAhead
	}
	if c.shares {
		d = max(d, c.peer.pace.took(now, n, addressRate))
	}
	c.readAt.Store(now + int64(max(d, 0)))
	return n, err
}

// pause waits until the connection may be read again.
func (c *conn) pause() error {
	d := time.Duration(c.readAt.Load() - c.limiter.clock())
	if d > 0 && !c.slowed.Swap(true) {
		c.limiter.metrics.slowed.Inc()
	}
	for ; d > 0; d -= pauseStep {
		if c.state.Load() == closed {
			return net.ErrClosed
		}
		time.Sleep(min(d, pauseStep))
	}
	return nil
}
