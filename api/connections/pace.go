package connections

import (
	"hash/maphash"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

const (
	// connRate, addressRate and siteRate bound what a connection, all of an address (IPv6: its /64), and all of a /48 of IPv6 may send, in
	// bytes a second. A map view of a hundred tiles sends some 50 kB by HTTP/1, over six connections of a browser, and 10 kB by
	// HTTP/2. Clients that send frames of HTTP/2 without a request, at the speed of the network, would take all processors of the
	// server.
	connRate, addressRate, siteRate = 32 << 10, 256 << 10, 1 << 20
	// paceBurst is how far ahead of its rate a sender may be.
	paceBurst = time.Second / 2
	// maxWait is how long a read waits at most, also if others of the address send.
	maxWait = time.Second
	// maxRead is the most that is read at once.
	maxRead = 1 << 10
	// connCost is what a new connection counts as, in bytes: accepting it, and its first requests, take more of the server than their bytes
	// tell.
	connCost = 2 << 10
	// paceCount is how many paces there are for all addresses and sites, so that their memory is bounded. Which one an address has is the
	// server's secret, so no one can choose to have that of another.
	paceCount = 1 << 16
)

// A due is when the bytes read so far would have come at the rate, in nanoseconds of the limiter's clock (a leaky bucket).
type due = atomic.Int64

// A pace is how far senders are ahead of their rate, in bytes a second. It is safe for concurrent use.
type pace struct {
	due  *due
	rate int
}

// took counts n bytes.
func (p pace) took(now int64, n int) {
	for {
		before := p.due.Load()
		after := min(max(before, now)+int64(n)*int64(time.Second)/int64(p.rate), now+int64(paceBurst+maxWait))
		if p.due.CompareAndSwap(before, after) {
			return
		}
	}
}

// wait returns how long the next read has to wait.
func (p pace) wait(now int64) time.Duration {
	return time.Duration(max(p.due.Load()-now-int64(paceBurst), 0))
}

// A paceTable has the paces of all addresses and sites. They outlive their connections, so that a new connection has no new allowance.
type paceTable struct {
	seed maphash.Seed
	dues []due
}

func newPaceTable() paceTable { return paceTable{maphash.MakeSeed(), make([]due, paceCount)} }

func (t *paceTable) of(peers netip.Prefix, rate int) pace {
	return pace{&t.dues[maphash.Comparable(t.seed, peers)%paceCount], rate}
}

// Read reads at a bounded speed, unless the peer is a trusted proxy or on this machine. Where an address may have all connections, such
// as that of a load balancer for TCP, only each connection has its bound.
func (c *conn) Read(b []byte) (int, error) {
	if len(c.paces) == 0 {
		return c.Conn.Read(b)
	}
	// The byte that net/http reads while it answers a request without TLS, to see whether the client leaves, is not waited for.
	if len(b) > 1 {
		if err := c.pause(); err != nil {
			return 0, err
		}
	}
	n, err := c.Conn.Read(b[:min(len(b), maxRead)])
	now := c.limiter.clock()
	for _, p := range c.paces {
		p.took(now, n)
	}
	return n, err
}

// pause waits until the connection may be read again.
func (c *conn) pause() error {
	now, d := c.limiter.clock(), time.Duration(0)
	for _, p := range c.paces {
		d = max(d, p.wait(now))
	}
	if d == 0 {
		return nil
	}
	if !c.slowed.Swap(true) {
		c.limiter.metrics.slowed.Inc()
	}
	time.Sleep(d/4 + rand.N(d-d/4+1)) // so that not all connections of an address are read at the same moment
	if c.state.Load() == closed {
		return net.ErrClosed
	}
	return nil
}
