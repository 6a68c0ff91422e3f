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
	// justUsed is how long a connection that has had an answer is kept when the server is full, unless its address has two more than the
	// newcomer's: a map that is moved sends its next requests by then. One without a request yet is kept as long, if another can be closed.
	justUsed = int64(250 * time.Millisecond)
	// spared is how long a connection may wait before it is closed because the server is crowded. A client that sends one request after the
	// other waits less. One whose request has arrived, but is not read yet, is not closed for any reason until then: it would be lost.
	spared = int64(time.Second)
	// stalledTime is how long a client may take no data of its answer before its connection is closed for another one: otherwise clients
	// that do not read could keep all connections until WriteTimeout.
	stalledTime = 2 * time.Second
	// maxLooked is how many connections are looked at to find one to close, so that it is cheap: whether a client reads is a system call. The
	// order of a map is random.
	maxLooked = 64
	// siteBits is the length of the IPv6 prefix that a site gets (RFC 6177).
	siteBits = 48
)

// A Limiter bounds the connections of one listener. It is safe for concurrent use.
type Limiter struct {
	now     func() time.Time
	stalls  func(*conn) bool // is the function stalls, except in tests
	unread  func(*conn) bool // is the function unread, except in tests
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
		unread:  unread,
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
	remote := plainAddr(nc.RemoteAddr())
	for _, p := range l.bounds.Trusted {
		if p.Contains(remote) {
			c.kind = trusted
			return c
		}
	}
	address, site := admission.ClientOf(remote), netip.Prefix{}
	c.address = l.group(address)
	if remote.Is6() {
		site, _ = address.Addr().Prefix(siteBits) // fails only for more bits than the address has
		c.site = l.group(site)
	}
	if remote.IsValid() && remote == plainAddr(nc.LocalAddr()) {
		c.kind = local
		return c
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
	for _, b := range []struct {
		group   *group
		most    int
		sparing bool
		reason  string
	}{
		{c.address, l.bounds.PerAddress, false, ofAddress},
		{c.site, l.bounds.PerNetwork, false, ofNetwork},
		{&l.all, l.bounds.of(c.kind), true, ofTotal},
	} {
		for b.group != nil && len(b.group.conns) >= b.most { // each round ends one of them
			e := l.endOneOf(b.group, c, 0, b.sparing)
			if e == nil && b.sparing {
				e = l.endWaiting(b.group, c, justUsed, false)
			}
			if e == nil {
				return ended, b.reason
			}
			ended = append(ended, e)
			l.metrics.closedEarly.WithLabelValues(b.reason).Inc()
		}
	}
	// Before the server is full, so that there is room for a client that has as many connections as each attacker.
	if c.kind != trusted && len(l.all.conns) >= l.bounds.crowded() {
		if e := l.endOneOf(&l.all, c, spared, false); e != nil {
			ended = append(ended, e)
			l.metrics.closedEarly.WithLabelValues(ofCrowd).Inc()
		}
	}
	return ended, ""
}

// endOneOf ends a connection of g for the newcomer c: one that waits, as endWaiting does, otherwise one whose client takes no data of its answer. Only
// if there is none of either it ends one that has waited for less than justUsed: the request of a new connection may be on its way. It returns nil
// if it finds none.
func (l *Limiter) endOneOf(g *group, c *conn, atLeast int64, sparing bool) *conn {
	if e := l.endWaiting(g, c, max(atLeast, justUsed), sparing); e != nil {
		return e
	}
	if e := l.endStalled(g); e != nil || atLeast >= justUsed {
		return e
	}
	return l.endWaiting(g, c, atLeast, sparing)
}

// endWaiting ends a connection of g that has waited for at least that time: of the address with the most connections, and at least as many as the
// newcomer's, the one that has waited longest. Of several such addresses the newcomer's own comes first. It returns nil if it finds none.
//
// With sparing, another address that has no more connections than the newcomer's will have loses only such as have had no request yet: in a
// crowd whose connections are all being answered, the only waiting ones would be of clients that read their answers.
func (l *Limiter) endWaiting(g *group, c *conn, atLeast int64, sparing bool) *conn {
	for { // ends: who has just had a request does not wait
		e, state := l.longestWaiting(g, c, l.clock()-atLeast, sparing)
		if e == nil {
			return nil
		}
		if e.state.CompareAndSwap(state, closed) {
			l.remove(e)
			return e
		}
	}
}

func (l *Limiter) longestWaiting(g *group, c *conn, notAfter int64, sparing bool) (longest *conn, since int64) {
	looked, most, now := 0, 0, l.clock()
	for other := range g.conns {
		if looked++; looked > maxLooked {
			break
		}
		state, n := other.state.Load(), 2*other.ofAddress()
		own := other.address == c.address
		if own {
			n++
		}
		switch {
		case state < 0 || state&^usedBit > notAfter:
		case other.kind == trusted && c.kind != trusted || other.ofAddress() < c.ofAddress():
		case sparing && !own && other.ofAddress() <= c.ofAddress()+1 && state&usedBit != 0:
		case longest != nil && (n < most || n == most && state >= since):
		case state&^usedBit > now-spared && l.unread(other): // asked last: it is a system call
		default:
			longest, most, since = other, n, state
		}
	}
	return longest, since
}

// endStalled ends a connection of g whose client takes no data of its answer. It returns nil if it finds none.
func (l *Limiter) endStalled(g *group) *conn {
	looked := 0
	for other := range g.conns {
		if looked++; looked > maxLooked {
			break
		}
		if other.state.Load() == answering && other.kind != trusted && l.stalls(other) && other.state.CompareAndSwap(answering, closed) {
			l.remove(other)
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
