package connections

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/api/answer"
	"limnomap/tiles/admission"
)

const (
	// justUsed is how long a connection that has had an answer is kept, unless its address has two more than the newcomer's: a map that is
	// moved sends its next requests by then. In a crowd whose connections are all being answered, the only waiting ones would be of clients
	// that read their answers.
	justUsed = int64(250 * time.Millisecond)
	// stalledTime is how long a client may take no data of its answer before its connection is closed for another one: otherwise clients
	// that do not read could keep all connections until WriteTimeout.
	stalledTime = 2 * time.Second
	// Looking for a connection to close must be cheap: so many are looked at for each newcomer, and of so many the kernel is asked whether
	// their clients read, which is a system call. The order of a map is random.
	maxScanned, maxAsked = 512, 64
	// siteBits is the length of the IPv6 prefix that a site gets (RFC 6177).
	siteBits = 48
)

// A Limiter bounds the connections of one listener. It is safe for concurrent use.
type Limiter struct {
	now     func() time.Time
	stalls  func(*conn) bool // is the function stalls, except in tests
	started time.Time
	metrics *metrics
	paces   paceTable

	mu     sync.Mutex
	bounds Bounds                  // guarded by mu
	all    group                   // guarded by mu
	groups map[netip.Prefix]*group // of addresses and sites that have connections; guarded by mu
}

// A group has the connections of an IPv4 address, of the /64 or the /48 of an IPv6 address, or all. Limiter.mu guards it.
type group struct {
	key   netip.Prefix
	conns map[*conn]struct{}
}

// Config is what [New] needs. All fields are required, except Now.
type Config struct {
	Bounds     Bounds
	Name       string // of the listener, for metrics
	Registerer prometheus.Registerer
	Now        func() time.Time // nil is time.Now
}

// New returns a Limiter without connections. Limiters with one registry need different names.
func New(c Config) *Limiter {
	if c.Now == nil {
		c.Now = time.Now
	}
	l := &Limiter{
		now:     c.Now,
		stalls:  stalls,
		started: c.Now(),
		metrics: newMetrics(c.Name, c.Registerer),
		paces:   newPaceTable(),
		bounds:  c.Bounds,
		all:     group{conns: make(map[*conn]struct{})},
		groups:  make(map[netip.Prefix]*group),
	}
	c.Registerer.MustRegister(l)
	return l
}

// Listener returns a listener that accepts the connections of l that are within the bounds, and closes the others. The
// http.Server needs [ConnState]. All listeners of a Limiter share its bounds.
func (l *Limiter) Listener(inner net.Listener) net.Listener { return &listener{inner, l} }

type listener struct {
	net.Listener
	limiter *Limiter
}

// Accept returns the next connection that is within the bounds.
func (l *listener) Accept() (net.Conn, error) {
	for { // ends when the listener is closed
		c, err := l.Listener.Accept()
		if err != nil {
			return c, err
		}
		if admitted := l.limiter.admit(c); admitted != nil {
			return admitted, nil
		}
		_ = c.Close() // there is no answer without a request
	}
}

// Adjust changes the bounds. Open connections stay, and are read as they were; while there are too many, each new one closes some waiting ones.
func (l *Limiter) Adjust(b Bounds) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bounds = b
}

// clock returns the time since the start, without usedBit.
func (l *Limiter) clock() int64 { return max(int64(l.now().Sub(l.started)), 0) &^ usedBit }

// admit counts a new connection, and returns nil if it is to be refused. It closes others if necessary.
func (l *Limiter) admit(nc net.Conn) *conn {
	l.mu.Lock()
	c := l.newConn(nc)
	ended, refused := l.makeRoom(c)
	if refused == "" {
		l.add(c)
	}
	l.mu.Unlock()
	for _, e := range ended {
		_ = e.Conn.Close() // its client is gone or has to connect again
	}
	if refused != "" {
		l.metrics.refused.WithLabelValues(refused).Inc()
		return nil
	}
	return c
}

// newConn returns a connection that is not counted yet. All peers without an IP address count as one.
func (l *Limiter) newConn(nc net.Conn) *conn {
	c := &conn{Conn: nc, limiter: l}
	c.state.Store(l.clock())
	remote, here := plainAddr(nc.RemoteAddr()), plainAddr(nc.LocalAddr())
	if remote.IsValid() && remote == here { // such as the health check of a container
		return c
	}
	for _, p := range l.bounds.Trusted {
		if p.Contains(remote) {
			return c
		}
	}
	address, site := admission.ClientOf(remote), netip.Prefix{}
	c.address = l.group(address)
	if remote.Is6() {
		site, _ = address.Addr().Prefix(siteBits) // fails only for more bits than the address has
		c.site = l.group(site)
	}
	c.paces = append(c.paces, pace{new(due), connRate})
	if address.IsValid() && l.bounds.PerAddress < l.bounds.Total {
		c.paces = append(c.paces, l.paces.of(address, addressRate))
		if site.IsValid() {
			c.paces = append(c.paces, l.paces.of(site, siteRate))
		}
	}
	return c
}

func plainAddr(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok && tcp != nil {
		return answer.PlainAddr(tcp.AddrPort().Addr())
	}
	return netip.Addr{}
}

// group returns the group with that key, which add keeps.
func (l *Limiter) group(key netip.Prefix) *group {
	if g := l.groups[key]; g != nil {
		return g
	}
	return &group{key: key, conns: make(map[*conn]struct{})}
}

// makeRoom ends connections until c is within the bounds. Otherwise it returns the reason for refusing it, too.
func (l *Limiter) makeRoom(c *conn) (ended []*conn, refused string) {
	total := l.bounds.Total
	if !c.privileged() {
		total -= l.bounds.Reserved()
	}
	for _, b := range []struct {
		group  *group
		most   int
		reason string
	}{
		{c.address, l.bounds.PerAddress, ofAddress},
		{c.site, l.bounds.PerNetwork, ofNetwork},
		{&l.all, total, ofTotal},
	} {
		for b.group != nil && len(b.group.conns) >= b.most { // each round ends one of them
			e := l.endOneOf(b.group, c)
			if e == nil {
				return ended, b.reason
			}
			l.remove(e)
			ended = append(ended, e)
			l.metrics.closedEarly.WithLabelValues(b.reason).Inc()
		}
	}
	return ended, ""
}

// endOneOf ends a connection of g for the newcomer c: a waiting one, otherwise one whose client takes no data of its answer. It returns nil if it
// finds none.
func (l *Limiter) endOneOf(g *group, c *conn) *conn {
	for {
		e, state := l.longestWaiting(g, c)
		if e == nil {
			return l.endStalled(g, c)
		}
		if e.state.CompareAndSwap(state, closed) {
			return e
		} // else it has just had a request
	}
}

// mayEnd reports whether c may get the place of other.
func mayEnd(other, c *conn) bool {
	return c.privileged() || !other.privileged() && other.ofAddress() >= c.ofAddress()
}

// longestWaiting returns the waiting connection of g that is to be closed for c, and its state: of the address with the most connections,
// the one that has waited longest.
func (l *Limiter) longestWaiting(g *group, c *conn) (longest *conn, since int64) {
	scanned, most, now := 0, 0, l.clock()
	for other := range g.conns {
		if scanned++; scanned > maxScanned {
			break
		}
		state, n := other.state.Load(), other.ofAddress()
		if state < 0 || !mayEnd(other, c) || state&usedBit != 0 && now-state&^usedBit < justUsed && n <= c.ofAddress()+1 && other.address != c.address {
			continue
		}
		if longest == nil || n > most || n == most && state < since {
			longest, most, since = other, n, state
		}
	}
	return longest, since
}

// endStalled ends a connection of g whose client takes no data of its answer, or returns nil.
func (l *Limiter) endStalled(g *group, c *conn) *conn {
	asked := 0
	for other := range g.conns {
		if other.state.Load() != answering || !mayEnd(other, c) {
			continue
		}
		if asked++; asked > maxAsked {
			break
		}
		if l.stalls(other) && other.state.Swap(closed) != closed {
			return other
		}
	}
	return nil
}

// add counts a connection.
func (l *Limiter) add(c *conn) {
	for _, p := range c.paces {
		p.took(l.clock(), connCost)
	}
	l.all.conns[c] = struct{}{}
	for _, g := range [...]*group{c.address, c.site} {
		if g != nil {
			g.conns[c] = struct{}{}
			l.groups[g.key] = g
		}
	}
}

// remove ends the counting of a connection whose state is closed.
func (l *Limiter) remove(c *conn) {
	delete(l.all.conns, c)
	for _, g := range [...]*group{c.address, c.site} {
		if g == nil {
			continue
		}
		if delete(g.conns, c); len(g.conns) == 0 {
			delete(l.groups, g.key)
		}
	}
}
