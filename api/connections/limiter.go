package connections

import (
	"container/list"
	"hash/maphash"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// spared is how long a connection may wait before it is closed because the server is crowded. A client that sends one
	// request after the other waits less.
	spared = int64(time.Second)
	// justUsed is how long a connection that has had an answer is kept when the server is full, unless its address has two more
	// than the newcomer's: a map that is moved sends its next requests by then.
	justUsed = int64(250 * time.Millisecond)
	// Looking for a connection to close must be cheap. Of the addresses with the same number of connections at most maxAddresses
	// are looked at, and at most maxScanned of their connections, until maxChoice are found that wait.
	maxAddresses, maxScanned, maxChoice = 64, 1024, 16
	// stalledTime is how long a client may take no data of its answer before its connection is closed because the server is crowded:
	// otherwise clients that do not read could keep all connections until WriteTimeout. Asking the kernel about a connection is a
	// system call, so at most maxAsked are asked about for each newcomer.
	stalledTime = 2 * time.Second
	maxAsked    = 64
)

// A Limiter bounds the connections of one listener. It is safe for concurrent use.
type Limiter struct {
	now     func() time.Time
	stalls  func(*conn) bool // is the function stalls, except in tests
	started time.Time
	metrics *metrics

	mu        sync.Mutex
	bounds    Bounds                  // guarded by mu
	open      int                     // connections; guarded by mu
	paces     paces                   // guarded by mu; each pace is safe for concurrent use
	addresses map[netip.Addr]*address // guarded by mu
	networks  map[netip.Addr]*network // guarded by mu
	trusted   address                 // of all trusted proxies; not in addresses
	ranks     list.List               // of *rank, by increasing count; guarded by mu
}

// A rank has all addresses with the same number of connections. Limiter.mu guards all fields.
type rank struct {
	count     int
	addresses list.List     // of *address, those looked at least recently first; not empty
	element   *list.Element // in Limiter.ranks
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
		now:       c.Now,
		stalls:    stalls,
		started:   c.Now(),
		metrics:   newMetrics(c.Name),
		paces:     paces{seed: maphash.MakeSeed()},
		bounds:    c.Bounds,
		addresses: make(map[netip.Addr]*address),
		networks:  make(map[netip.Addr]*network),
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
	peer, kind := peerOf(nc, l.bounds.Trusted)
	var ended []*conn
	refused := l.makeRoom(peer, kind, &ended)
	var c *conn
	if refused == "" {
		c = l.add(nc, peer, kind)
	}
	l.mu.Unlock()
	for _, e := range ended {
		_ = e.Conn.Close() // its client is gone or has to connect again
	}
	if refused != "" {
		l.metrics.refused.WithLabelValues(refused).Inc()
	}
	return c
}

// makeRoom appends connections to ended until another one of that peer is within the bounds. Otherwise it returns the reason for
// refusing it.
func (l *Limiter) makeRoom(peer netip.Addr, k kind, ended *[]*conn) (refused string) {
	// Each round of these loops ends one of the open connections.
	end := func(c *conn, reason string) bool {
		if c == nil {
			return false
		}
		l.remove(c)
		*ended = append(*ended, c)
		l.metrics.closedEarly.WithLabelValues(reason).Inc()
		return true
	}
	have := 0 // connections of the same address
	if k != trusted {
		for l.count(peer) >= l.bounds.PerAddress {
			if a := l.addresses[peer]; a == nil || !end(l.endWaiting(a, 0), ofAddress) {
				return ofAddress
			}
		}
		for n := l.networks[siteOf(peer)]; n != nil && n.conns >= l.bounds.PerNetwork; {
			if !end(l.endInNetwork(n), ofNetwork) {
				return ofNetwork
			}
		}
		have = l.count(peer)
	}
	for l.open >= l.bounds.of(k) {
		c := l.endLargest(peer, have, 0, true)
		if c == nil {
			c = l.endStalled()
		}
		if c == nil {
			c = l.endLargest(peer, have, justUsed, false)
		}
		if c == nil && k == trusted {
			c = l.endWaiting(&l.trusted, 0)
		}
		if !end(c, ofTotal) {
			return ofTotal
		}
	}
	if k != trusted && l.open >= l.bounds.crowded() {
		c := l.endLargest(peer, have, spared, false)
		if c == nil {
			c = l.endStalled()
		}
		end(c, ofCrowd)
	}
	return ""
}

// count returns how many connections an address has.
func (l *Limiter) count(key netip.Addr) int {
	if a := l.addresses[key]; a != nil {
		return a.conns.Len()
	}
	return 0
}

// endLargest ends a waiting connection of an address with as many connections as possible, and at least as many as the newcomer's
// address has. It returns nil if it finds none that has waited for that time.
//
// With sparing, an address that has no more connections than the newcomer's will have loses only such as have had no request yet:
// in a crowd whose connections are all being answered, the only waiting ones would be of clients that read their answers.
func (l *Limiter) endLargest(newcomer netip.Addr, have int, atLeast int64, sparing bool) *conn {
	if own := l.addresses[newcomer]; own != nil && own.rank.element == l.ranks.Back() {
		if c := l.endWaiting(own, atLeast); c != nil {
			return c
		}
	}
	for e := l.ranks.Back(); e != nil; e = e.Prev() {
		r := e.Value.(*rank)
		if r.count < have {
			break
		}
		if c := l.endAmong(&r.addresses, atLeast, sparing && r.count <= have+1); c != nil {
			return c
		}
	}
	return nil
}

// endStalled ends a connection whose client takes no data of its answer, of an address with as many connections as possible. It
// returns nil if it finds none.
func (l *Limiter) endStalled() *conn {
	left := maxAsked
	for e := l.ranks.Back(); e != nil && left > 0; e = e.Prev() {
		addresses := &e.Value.(*rank).addresses
		for range min(addresses.Len(), left) {
			a := addresses.Front().Value.(*address)
			addresses.MoveToBack(a.ranked)
			for range min(a.conns.Len(), left) {
				c := a.conns.Front().Value.(*conn)
				a.conns.MoveToBack(c.element)
				left--
				if c.state.Load() == answering && l.stalls(c) && c.state.CompareAndSwap(answering, closed) {
					return c
				}
			}
		}
	}
	return nil
}

// endInNetwork ends a waiting connection of the network, of the address with the most connections among those looked at.
func (l *Limiter) endInNetwork(n *network) *conn {
	var most *address
	for range min(n.addresses.Len(), maxAddresses) {
		a := n.addresses.Front().Value.(*address)
		n.addresses.MoveToBack(a.member)
		if a.waiting.Load() > 0 && (most == nil || a.conns.Len() > most.conns.Len()) {
			most = a
		}
	}
	if most == nil {
		return nil
	}
	return l.endWaiting(most, 0)
}

// endAmong ends the connection that has waited longest among those looked at of these addresses, or of those without a request yet.
func (l *Limiter) endAmong(addresses *list.List, atLeast int64, unused bool) *conn {
	s := search{unused: unused}
	for range min(addresses.Len(), maxAddresses) {
		a := addresses.Front().Value.(*address)
		addresses.MoveToBack(a.ranked)
		if s.of(a); s.found >= maxChoice || s.scanned >= maxScanned {
			break
		}
	}
	return s.end(l.clock() - atLeast)
}

// endWaiting ends the connection of a that has waited longest among those looked at.
func (l *Limiter) endWaiting(a *address, atLeast int64) *conn {
	var s search
	s.of(a)
	return s.end(l.clock() - atLeast)
}

// A search finds the connection that has waited longest.
type search struct {
	unused         bool // whether it passes over connections that have had a request
	longest        *conn
	since          int64 // the state of longest
	scanned, found int
}

// of looks at connections of a.
func (s *search) of(a *address) {
	if a.waiting.Load() <= 0 {
		return
	}
	for range min(a.conns.Len(), maxScanned-s.scanned) {
		c := a.conns.Front().Value.(*conn)
		a.conns.MoveToBack(c.element)
		s.scanned++
		since := c.state.Load()
		if since < 0 || s.unused && since&usedBit != 0 {
			continue
		}
		if s.longest == nil || since < s.since {
			s.longest, s.since = c, since
		}
		if s.found++; s.found >= maxChoice {
			return
		}
	}
}

// end ends the connection that was found, if it has waited since a time not after that.
func (s *search) end(notAfter int64) *conn {
	if s.longest == nil || s.since&^usedBit > notAfter || !s.longest.endIfWaiting(s.since) {
		return nil
	}
	return s.longest
}

// add counts a connection.
func (l *Limiter) add(nc net.Conn, key netip.Addr, k kind) *conn {
	a := &l.trusted
	if k != trusted {
		if a = l.addresses[key]; a == nil {
			a = &address{key: key}
			l.addresses[key] = a
			l.join(a)
		}
	}
	c := &conn{Conn: nc, limiter: l, peer: a, paced: k == ordinary}
	if c.paced && key.IsValid() && l.bounds.PerAddress < l.bounds.Total {
		c.shared = l.paces.of(key)
		c.countShared(l.clock(), connCost)
	}
	c.state.Store(l.clock())
	c.element = a.conns.PushBack(c)
	a.waiting.Add(1)
	l.open++
	if a.network != nil {
		a.network.conns++
	}
	l.setRank(a)
	return c
}

// remove ends the counting of a connection whose state is closed.
func (l *Limiter) remove(c *conn) {
	a := c.peer
	a.conns.Remove(c.element)
	l.open--
	if a.network != nil {
		a.network.conns--
	}
	l.setRank(a)
	if a.conns.Len() > 0 || a == &l.trusted {
		return
	}
	delete(l.addresses, a.key)
	if n := a.network; n != nil {
		n.addresses.Remove(a.member)
		if n.addresses.Len() == 0 {
			delete(l.networks, n.key)
		}
	}
}

// join adds an IPv6 address to its network.
func (l *Limiter) join(a *address) {
	if !a.key.Is6() {
		return
	}
	key := siteOf(a.key)
	n := l.networks[key]
	if n == nil {
		n = &network{key: key}
		l.networks[key] = n
	}
	a.network, a.member = n, n.addresses.PushBack(a)
}

// setRank moves an address whose number of connections has changed by one to its rank.
func (l *Limiter) setRank(a *address) {
	if a == &l.trusted {
		return
	}
	n, old := a.conns.Len(), a.rank
	next := l.ranks.Front() // where the rank is, or before which it belongs
	if old != nil {
		next = old.element
		if n > old.count {
			next = next.Next()
		} else if prev := next.Prev(); prev != nil && prev.Value.(*rank).count == n {
			next = prev
		}
	}
	if n > 0 {
		var r *rank
		if next != nil && next.Value.(*rank).count == n {
			r = next.Value.(*rank)
		} else {
			r = &rank{count: n}
			if next == nil {
				r.element = l.ranks.PushBack(r)
			} else {
				r.element = l.ranks.InsertBefore(r, next)
			}
		}
		if old != nil {
			old.addresses.Remove(a.ranked)
		}
		a.rank, a.ranked = r, r.addresses.PushBack(a)
	} else {
		old.addresses.Remove(a.ranked)
	}
	if old != nil && old.addresses.Len() == 0 {
		l.ranks.Remove(old.element)
	}
}
