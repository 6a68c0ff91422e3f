package connections

import (
	"errors"
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
	// maxRead is the most that is read at once, and crowdedRead that of an address that is ahead.
	maxRead, crowdedRead = 4 << 10, 1 << 10
	// connCost is what a new connection counts as, in bytes of its address: accepting it, and its first requests, take more of the server
	// than their bytes tell.
	connCost = 2 << 10
	// maxWait is how long a connection waits at most for other connections of its address.
	maxWait = time.Second
	// maxAhead is how long a connection may send more than connRate without a break. Then it is closed: its client may have left, with
	// megabytes on the way that would be read for minutes.
	maxAhead = 30 * time.Second
	// sharedPaces is how many paces there are for all addresses and sites. Which one an address has is the server's secret, so no one
	// can choose to have that of another.
	sharedPaces = 1 << 16
)

// errAhead ends a connection that sends too much for too long.
var errAhead = errors.New("the client sends too much")

// A pace is how far senders are ahead of their rate (a leaky bucket). It is safe for concurrent use.
type pace struct {
	due atomic.Int64 // when the bytes read so far would have come at the rate, in nanoseconds of the limiter's clock
}

// took counts n bytes. Beyond most ahead of the rate nothing is counted; 0 is no such bound.
func (p *pace) took(now int64, n, rate int, most time.Duration) {
	for {
		before := p.due.Load()
		due := max(before, now) + int64(n)*int64(time.Second)/int64(rate)
		if most > 0 {
			due = min(due, now+int64(most))
		}
		if p.due.CompareAndSwap(before, due) {
			return
		}
	}
}

// wait returns how long the next read has to wait.
func (p *pace) wait(now int64) time.Duration {
	return time.Duration(max(p.due.Load()-now-int64(paceBurst), 0))
}

// A sharedPace is the pace of an address or a site. It outlives their connections, so that a new connection has no new allowance.
type sharedPace struct {
	*pace
	rate int
}

// paces are the paces of all addresses and sites, in bounded memory: some share one.
type paces struct {
	seed maphash.Seed
	all  []pace // nil until the first is needed; guarded by Limiter.mu
}

// of returns the paces of a peer. Limiter.mu must be held.
func (p *paces) of(peer netip.Addr) []sharedPace {
	if p.all == nil {
		p.all = make([]pace, sharedPaces)
	}
	find := func(prefix netip.Prefix) *pace { return &p.all[maphash.Comparable(p.seed, prefix)%sharedPaces] }
	shared := []sharedPace{{find(netip.PrefixFrom(peer, peer.BitLen())), addressRate}}
	if peer.Is6() {
		shared = append(shared, sharedPace{find(netip.PrefixFrom(siteOf(peer), siteBits)), siteRate})
	}
	return shared
}

// Read reads at a bounded speed, unless the peer is a trusted proxy or on this machine. Where an address may have all connections, such
// as that of a load balancer for TCP, only each connection has its bound.
func (c *conn) Read(b []byte) (int, error) {
	if !c.paced {
		return c.Conn.Read(b)
	}
	// The byte that net/http reads while it answers a request without TLS, to see whether the client leaves, is not waited for.
	if len(b) > 1 {
		if err := c.pause(); err != nil {
			return 0, err
		}
	}
	now := c.limiter.clock()
	most := maxRead
	for _, s := range c.shared {
		if s.wait(now) > 0 {
			most = crowdedRead
		}
	}
	n, err := c.Conn.Read(b[:min(len(b), most)])
	now = c.limiter.clock()
	if c.pace.due.Load() <= now { // it has paused
		c.aheadSince.Store(now)
	}
	c.pace.took(now, n, connRate, 0)
	c.countShared(now, n)
	return n, err
}

// countShared counts n bytes of the connection's address and site.
func (c *conn) countShared(now int64, n int) {
	for _, s := range c.shared {
		s.took(now, n, s.rate, paceBurst+maxWait)
	}
}

// pause waits until the connection may be read again.
func (c *conn) pause() error {
	now := c.limiter.clock()
	d := c.pace.wait(now)
	if d > 0 && now-c.aheadSince.Load() > int64(maxAhead) {
		c.limiter.metrics.closedEarly.WithLabelValues(ofPace).Inc()
		return errAhead
	}
	for _, s := range c.shared {
		if wait := s.wait(now); wait > d {
			d = wait/4 + rand.N(wait-wait/4+1) // so that not all of them are read at the same moment
		}
	}
	if d == 0 {
		return nil
	}
	if !c.slowed.Swap(true) {
		c.limiter.metrics.slowed.Inc()
	}
	time.Sleep(d) // at most maxWait, or the time of a maxRead at connRate
	if c.state.Load() == closed {
		return net.ErrClosed
	}
	return nil
}
