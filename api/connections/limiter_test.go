package connections

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"
)

// A fakeConn is a connection between two addresses that only counts whether it is closed.
type fakeConn struct {
	net.Conn
	remote, local net.Addr
	closes        int
}

func (c *fakeConn) RemoteAddr() net.Addr { return c.remote }
func (c *fakeConn) LocalAddr() net.Addr  { return c.local }
func (c *fakeConn) Close() error         { c.closes++; return nil }

const serverAddress = "192.0.2.1"

func from(address string) *fakeConn {
	tcp := func(a string, port int) net.Addr {
		return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(a), uint16(port)))
	}
	return &fakeConn{remote: tcp(address, 4000), local: tcp(serverAddress, 8080)}
}

// A fakeListener accepts the connections that a test gives it, then reports that it is closed.
type fakeListener struct{ conns []net.Conn }

func (l *fakeListener) Accept() (net.Conn, error) {
	if len(l.conns) == 0 {
		return nil, net.ErrClosed
	}
	c := l.conns[0]
	l.conns = l.conns[1:]
	return c, nil
}
func (l *fakeListener) Close() error   { return nil }
func (l *fakeListener) Addr() net.Addr { return &net.TCPAddr{} }

// A bench has a Limiter and the time that it sees.
type bench struct {
	*Limiter
	time     time.Time
	registry *prometheus.Registry
}

func newBench(b Bounds) *bench {
	w := &bench{time: time.Unix(1_700_000_000, 0), registry: prometheus.NewRegistry()}
	w.Limiter = New(Config{Bounds: b, Name: "test", Registerer: w.registry, Now: func() time.Time { return w.time }})
	return w
}

// accept returns the accepted connection, or nil if it was refused.
func (w *bench) accept(c *fakeConn) net.Conn {
	accepted, err := w.Listener(&fakeListener{[]net.Conn{c}}).Accept()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return accepted
}

// tester has the methods that testing.TB and rapid.T share.
type tester interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}

// must is accept for a connection within the bounds.
func (w *bench) must(t tester, address string) (*fakeConn, net.Conn) {
	t.Helper()
	c := from(address)
	accepted := w.accept(c)
	if accepted == nil || c.closes > 0 {
		t.Fatalf("a connection from %s is refused", address)
	}
	return c, accepted
}

// mustRefuse checks that a connection is refused for that reason.
func (w *bench) mustRefuse(t tester, address, reason string) {
	t.Helper()
	before := testutil.ToFloat64(w.metrics.refused.WithLabelValues(reason))
	c := from(address)
	if w.accept(c) != nil || c.closes != 1 {
		t.Fatalf("a connection from %s is accepted, or not closed once (%d)", address, c.closes)
	}
	if got := testutil.ToFloat64(w.metrics.refused.WithLabelValues(reason)) - before; got != 1 {
		t.Errorf("%v more refused for reason %s, want 1", got, reason)
	}
}

// ask makes a connection answer a request.
func ask(c net.Conn) { ConnState(c, http.StateActive) }

// wait makes a connection wait for its next request.
func wait(c net.Conn) {
	ConnState(c, http.StateActive)
	ConnState(c, http.StateIdle)
}

func TestBoundsOfAddresses(t *testing.T) {
	for _, test := range []struct {
		name          string
		same, another string
		reason        string
	}{
		{"IPv4", "198.51.100.1", "198.51.100.2", ofAddress},
		{"IPv4 in IPv6", "::ffff:198.51.100.1", "198.51.100.2", ofAddress},
		{"a /64", "2001:db8:0:1::%d", "2001:db8:0:2::1", ofAddress},
		{"a /48", "2001:db8:0:%d::1", "2001:db8:1:1::1", ofNetwork},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newBench(Bounds{Total: 1000, PerAddress: 3, PerNetwork: 5})
			for i := range map[string]int{ofAddress: 3, ofNetwork: 5}[test.reason] {
				_, c := w.must(t, strings.Replace(test.same, "%d", fmt.Sprint(i+1), 1))
				ask(c)
			}
			w.mustRefuse(t, strings.Replace(test.same, "%d", "77", 1), test.reason)
			w.must(t, test.another)
		})
	}
}

// An address that has used up its bound gets in by losing a connection that waits, the oldest first.
func TestAnAddressReplacesItsOwnConnections(t *testing.T) {
	w := newBench(Bounds{Total: 1000, PerAddress: 3, PerNetwork: 5})
	other, _ := w.must(t, "198.51.100.2")
	oldest, _ := w.must(t, "198.51.100.1")
	w.time = w.time.Add(time.Second)
	used, c := w.must(t, "198.51.100.1")
	wait(c)
	_, answering := w.must(t, "198.51.100.1")
	ask(answering)
	w.time = w.time.Add(time.Second)
	w.must(t, "198.51.100.1")
	if oldest.closes != 1 || used.closes != 0 || other.closes != 0 {
		t.Errorf("closed %d, %d, %d times, want only the first", oldest.closes, used.closes, other.closes)
	}
	w.time = w.time.Add(time.Second)
	w.must(t, "198.51.100.1")
	if used.closes != 1 {
		t.Error("the connection that had waited longest is still open")
	}
}

func TestANetworkReplacesItsOwnConnections(t *testing.T) {
	w := newBench(Bounds{Total: 1000, PerAddress: 3, PerNetwork: 5})
	single, _ := w.must(t, "2001:db8:0:1::1")
	var many []*fakeConn
	for range 2 {
		c, _ := w.must(t, "2001:db8:0:2::1")
		many = append(many, c)
	}
	for i := range 2 {
		_, c := w.must(t, fmt.Sprintf("2001:db8:0:%d::1", 3+i))
		ask(c)
	}
	w.must(t, "2001:db8:0:5::1")
	if single.closes != 0 || many[0].closes != 1 || many[1].closes != 0 {
		t.Errorf("closed %d, %d, %d times, want the first of the /64 with two", single.closes, many[0].closes, many[1].closes)
	}
}

// While one address has most of the connections, every other one gets in, also when the server is full, and loses nothing.
func TestNewcomersReplaceTheLargest(t *testing.T) {
	b := Bounds{Total: 100, PerAddress: 100, PerNetwork: 100}
	w := newBench(b)
	single, _ := w.must(t, "203.0.113.1")
	var hog []*fakeConn
	for range 200 {
		c := from("198.51.100.1")
		w.accept(c)
		hog = append(hog, c)
	}
	if want := b.of(ordinary); w.open != want {
		t.Fatalf("%d connections, want %d", w.open, want)
	}
	for i := range 60 {
		w.time = w.time.Add(time.Millisecond)
		w.must(t, fmt.Sprintf("203.0.113.%d", 2+i))
	}
	closed := 0
	for _, c := range hog {
		closed += c.closes
	}
	if single.closes != 0 {
		t.Error("an address with one connection has lost it")
	}
	if left := len(hog) - closed; left > b.of(ordinary)-61 {
		t.Errorf("the largest address has %d connections left", left)
	}
}

// A connection whose client takes no data of its answer makes room. Others that are answered do not.
func TestStalledClientsMakeRoom(t *testing.T) {
	b := Bounds{Total: 40, PerAddress: 40, PerNetwork: 40}
	w := newBench(b)
	var stalled []net.Conn
	w.stalls = func(c *conn) bool { return slices.Contains(stalled, net.Conn(c)) }
	var fakes []*fakeConn
	var conns []net.Conn
	for i := range b.of(ordinary) {
		address := fmt.Sprintf("198.51.100.%d", 1+i)
		if i < 3 {
			address = "203.0.113.9"
		}
		fake, c := w.must(t, address)
		ask(c)
		fakes, conns = append(fakes, fake), append(conns, c)
	}
	w.mustRefuse(t, "192.0.2.50", ofTotal)
	stalled = []net.Conn{conns[10], conns[1]}
	w.must(t, "192.0.2.50") // one makes room, the other is closed because the server is crowded
	for i, fake := range fakes {
		if want := map[int]int{1: 1, 10: 1}[i]; fake.closes != want {
			t.Errorf("connection %d was closed %d times, want %d", i, fake.closes, want)
		}
	}
	for _, reason := range []string{ofTotal, ofCrowd} {
		if got := testutil.ToFloat64(w.metrics.closedEarly.WithLabelValues(reason)); got != 1 {
			t.Errorf("%v closed for reason %s, want 1", got, reason)
		}
	}
}

// A connection on which a request is answered is not closed while its client reads; without others a full server refuses.
func TestAnswersAreNotInterrupted(t *testing.T) {
	b := Bounds{Total: 40, PerAddress: 40, PerNetwork: 40}
	w := newBench(b)
	var conns []*fakeConn
	for i := range b.of(ordinary) {
		fake, c := w.must(t, fmt.Sprintf("198.51.100.%d", 1+i%3))
		ask(c)
		conns = append(conns, fake)
	}
	w.mustRefuse(t, "203.0.113.1", ofTotal)
	for _, c := range conns {
		if c.closes != 0 {
			t.Fatal("a connection with a request was closed")
		}
	}
}

// An address with more connections than others cannot take theirs.
func TestSmallAddressesKeepTheirs(t *testing.T) {
	b := Bounds{Total: 40, PerAddress: 40, PerNetwork: 40}
	w := newBench(b)
	var small []*fakeConn
	for i := range 20 {
		fake, _ := w.must(t, fmt.Sprintf("203.0.113.%d", 1+i))
		small = append(small, fake)
	}
	for range 100 {
		w.time = w.time.Add(time.Second)
		if c := w.accept(from("198.51.100.1")); c != nil {
			ask(c)
		}
	}
	lost := 0
	for _, c := range small {
		lost += c.closes
	}
	if lost > 1 { // an address with one connection may get a second one
		t.Errorf("%d of 20 addresses lost their only connection to one with many", lost)
	}
	w.mustRefuse(t, "198.51.100.1", ofTotal)
	w.must(t, "203.0.113.99")
}

// In a crowd whose connections are all being answered, a client that has just had its answer keeps its connection, and newcomers
// lose those that have had no request yet.
func TestUsedConnectionsAreSpared(t *testing.T) {
	w := newBench(Bounds{Total: 32, PerAddress: 32, PerNetwork: 32}) // 8 reserved
	reader, c := w.must(t, "198.51.100.1")
	wait(c)
	for i := range 22 {
		_, c := w.must(t, fmt.Sprintf("203.0.113.%d", i))
		ask(c)
	}
	fresh, _ := w.must(t, "192.0.2.77")
	if _, c := w.must(t, "192.0.2.78"); fresh.closes != 1 || reader.closes != 0 {
		t.Errorf("closed: the connection without a request %d times, that of a reader %d times; want 1 and 0", fresh.closes, reader.closes)
	} else {
		ask(c)
	}
	w.mustRefuse(t, "192.0.2.79", ofTotal) // there is no other
	w.time = w.time.Add(time.Duration(justUsed))
	w.must(t, "192.0.2.79")
	if reader.closes != 1 {
		t.Error("a newcomer got the connection of another client")
	}
}

// Of several addresses with the most connections each makes room for its own.
func TestTheLargestReplaceTheirOwn(t *testing.T) {
	b := Bounds{Total: 40, PerAddress: 40, PerNetwork: 40}
	w := newBench(b)
	lost := func(conns []*fakeConn) (n int) {
		for _, c := range conns {
			n += c.closes
		}
		return n
	}
	var first, second []*fakeConn
	for range b.of(ordinary) / 2 {
		c, _ := w.must(t, "203.0.113.1")
		first = append(first, c)
	}
	for range b.of(ordinary) / 2 {
		w.time = w.time.Add(time.Millisecond)
		c, _ := w.must(t, "203.0.113.2")
		second = append(second, c)
	}
	for range 10 {
		w.must(t, "203.0.113.2")
	}
	if lost(first) != 0 || lost(second) != 10 {
		t.Errorf("one address lost %d connections, the newcomer's %d, want 0 and 10", lost(first), lost(second))
	}
}

// A crowded server closes what has waited for some time, and nothing that waits for a moment between two requests.
func TestCrowded(t *testing.T) {
	b := Bounds{Total: 100, PerAddress: 100, PerNetwork: 100}
	w := newBench(b)
	for i := range b.crowded() {
		_, c := w.must(t, fmt.Sprintf("198.51.100.%d", 1+i))
		wait(c)
	}
	w.must(t, "203.0.113.1")
	if want := b.crowded() + 1; w.open != want {
		t.Errorf("%d connections, want %d: all have been used just now", w.open, want)
	}
	w.time = w.time.Add(time.Duration(spared))
	for i := range 50 {
		w.must(t, fmt.Sprintf("203.0.113.%d", 2+i))
	}
	if want := b.crowded() + 1; w.open != want {
		t.Errorf("%d connections, want %d: each new one closes another", w.open, want)
	}
	if got := testutil.ToFloat64(w.metrics.closedEarly.WithLabelValues(ofCrowd)); got != 50 {
		t.Errorf("%v closed because the server is crowded, want 50", got)
	}
}

// When all slots have requests, trusted proxies and programs on the same machine still get in.
func TestReserved(t *testing.T) {
	b := Bounds{Total: 64, PerAddress: 10, PerNetwork: 64, Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	w := newBench(b)
	for i := range b.of(ordinary) {
		_, c := w.must(t, fmt.Sprintf("198.51.100.%d", 1+i))
		ask(c)
	}
	w.mustRefuse(t, "203.0.113.1", ofTotal)
	_, health := w.must(t, serverAddress)
	ask(health)
	for w.open < b.of(local) {
		_, c := w.must(t, serverAddress)
		ask(c)
	}
	w.mustRefuse(t, serverAddress, ofTotal)
	for w.open < b.Total {
		_, c := w.must(t, "10.1.2.3") // more than PerAddress
		wait(c)
	}
	w.must(t, "10.9.9.9") // replaces one that waits
	if w.open != b.Total {
		t.Errorf("%d connections, want %d", w.open, b.Total)
	}
}

// A trusted proxy may have more connections than another address, and keeps those that wait as long as it can.
func TestTrustedProxies(t *testing.T) {
	b := Bounds{Total: 64, PerAddress: 4, PerNetwork: 8, Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}
	w := newBench(b)
	var proxies []*fakeConn
	for i := range 40 {
		fake, c := w.must(t, []string{"10.0.0.1", "fd00::1"}[i%2])
		wait(c)
		proxies = append(proxies, fake)
	}
	w.time = w.time.Add(time.Hour)
	for i := range 200 {
		w.accept(from(fmt.Sprintf("198.51.100.%d", 1+i)))
	}
	for _, c := range proxies {
		if c.closes > 0 {
			t.Fatal("a proxy lost a connection to a stranger")
		}
	}
}

func TestAdjust(t *testing.T) {
	w := newBench(NewBounds(100, 50, nil))
	for i := range 40 {
		w.must(t, fmt.Sprintf("198.51.100.%d", 1+i))
	}
	w.Adjust(NewBounds(20, 1, nil))
	w.must(t, "203.0.113.1")
	if b := NewBounds(20, 1, nil); w.open > b.of(ordinary) {
		t.Errorf("%d connections after the bound was lowered, want at most %d", w.open, b.of(ordinary))
	}
	if got, _ := w.states(); got["new"] != w.open {
		t.Errorf("states %v, want %d new", got, w.open)
	}
}

// Peers without an IP address, as on a pipe, count as one.
func TestPeersWithoutAddress(t *testing.T) {
	w := newBench(Bounds{Total: 100, PerAddress: 2, PerNetwork: 2})
	pipe := func() *fakeConn { return &fakeConn{remote: &net.UnixAddr{}, local: &net.UnixAddr{}} }
	for range 2 {
		ask(w.accept(pipe()))
	}
	if w.accept(pipe()) != nil {
		t.Error("a third one is accepted")
	}
}

// A tls.Conn, and other connections that have a NetConn, are recognized; connections of others are ignored.
func TestConnStateFindsTheConnection(t *testing.T) {
	w := newBench(NewBounds(10, 0, nil))
	_, c := w.must(t, "198.51.100.1")
	ConnState(wrapped{wrapped{c}}, http.StateActive)
	if states, _ := w.states(); !maps.Equal(states, map[string]int{"new": 0, "idle": 0, "active": 1}) {
		t.Errorf("states %v, want one active", states)
	}
	ConnState(from("198.51.100.1"), http.StateActive)
}

type wrapped struct{ net.Conn }

func (w wrapped) NetConn() net.Conn { return w.Conn }

// After any sequence of events all counts agree with the connections, nothing exceeds its bound, and at the end all are zero.
func TestCounts(t *testing.T) {
	addresses := []string{serverAddress, "198.51.100.1", "198.51.100.2", "203.0.113.5", "10.0.0.1", "10.0.0.2",
		"2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:2::1", "2001:db8:0:3::1", "2001:db8:1::1", "fd00::1"}
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	rapid.Check(t, func(t *rapid.T) {
		bounds := rapid.Custom(func(t *rapid.T) Bounds {
			return NewBounds(rapid.IntRange(0, 30).Draw(t, "total"), rapid.IntRange(0, 6).Draw(t, "per address"), proxies)
		})
		b := bounds.Draw(t, "bounds")
		adjusted := false
		w := newBench(b)
		type pair struct {
			fake *fakeConn
			conn net.Conn
			busy bool
		}
		var open []*pair
		check := func() {
			for _, p := range open {
				if p.busy && p.fake.closes > 0 {
					t.Fatalf("a connection with a request was closed")
				}
			}
			open = slices.DeleteFunc(open, func(p *pair) bool { return p.fake.closes > 0 })
			busy := 0
			perAddress, perNetwork := map[netip.Addr]int{}, map[netip.Addr]int{}
			ordinaries := 0
			for _, p := range open {
				if p.busy {
					busy++
				}
				if a, k := peerOf(p.fake, proxies); k != trusted {
					perAddress[a]++
					if a.Is6() {
						perNetwork[siteOf(a)]++
					}
					if k == ordinary {
						ordinaries++
					}
				}
			}
			w.check(t)
			states, _ := w.states()
			if w.open != len(open) || states["active"] != busy || states["new"]+states["idle"] != len(open)-busy {
				t.Fatalf("%d connections, states %v, want %d, %d of them active", w.open, states, len(open), busy)
			}
			if adjusted {
				return // open connections stay
			}
			for a, n := range perAddress {
				if n > b.PerAddress {
					t.Fatalf("%d connections of %v, want at most %d", n, a, b.PerAddress)
				}
			}
			for a, n := range perNetwork {
				if n > b.PerNetwork {
					t.Fatalf("%d connections of %v/48, want at most %d", n, a, b.PerNetwork)
				}
			}
			if w.open > b.Total || ordinaries > b.of(ordinary) {
				t.Fatalf("%d connections, %d of them ordinary, want at most %d and %d", w.open, ordinaries, b.Total, b.of(ordinary))
			}
		}
		some := func() *pair {
			if len(open) == 0 {
				t.Skip("no connection")
			}
			return rapid.SampledFrom(open).Draw(t, "connection")
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { check() },
			"accept": func(t *rapid.T) {
				fake := from(rapid.SampledFrom(addresses).Draw(t, "address"))
				if c := w.accept(fake); c != nil {
					open = append(open, &pair{fake: fake, conn: c})
				} else if fake.closes != 1 {
					t.Fatalf("a refused connection was closed %d times", fake.closes)
				}
			},
			"request": func(*rapid.T) {
				p := some()
				p.busy = true
				ConnState(p.conn, http.StateActive)
			},
			"answer": func(*rapid.T) {
				p := some()
				p.busy = false
				ConnState(p.conn, http.StateActive) // as HTTP/2 does at its start
				ConnState(p.conn, http.StateIdle)
			},
			"close": func(*rapid.T) {
				p := some()
				p.busy = false
				p.conn.Close()
				ConnState(p.conn, http.StateClosed)
				ConnState(p.conn, http.StateIdle) // late
				p.conn.Close()
			},
			"time": func(t *rapid.T) {
				w.time = w.time.Add(time.Duration(rapid.Int64Range(0, 2*spared).Draw(t, "time")))
			},
			"adjust": func(t *rapid.T) {
				b, adjusted = bounds.Draw(t, "bounds"), true
				w.Adjust(b)
			},
		})
		for _, p := range open {
			p.conn.Close()
		}
		w.check(t)
		if w.open != 0 || len(w.addresses) != 0 || len(w.networks) != 0 || w.ranks.Len() != 0 || w.trusted.conns.Len() != 0 {
			t.Errorf("after all were closed: %d connections, %d addresses, %d networks, %d ranks, %d of proxies", w.open, len(w.addresses), len(w.networks), w.ranks.Len(), w.trusted.conns.Len())
		}
	})
}

// check checks that the counts agree with each other.
func (w *bench) check(t tester) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	sum, ranked := w.trusted.conns.Len(), 0
	perNetwork := map[*network]int{}
	waiting := func(a *address) {
		n := 0
		for e := a.conns.Front(); e != nil; e = e.Next() {
			if e.Value.(*conn).state.Load() >= 0 {
				n++
			}
		}
		if int(a.waiting.Load()) != n {
			t.Fatalf("%v: %d wait, counted %d", a.key, n, a.waiting.Load())
		}
	}
	waiting(&w.trusted)
	for key, a := range w.addresses {
		sum += a.conns.Len()
		if a.key != key || a.conns.Len() == 0 {
			t.Fatalf("address %v under %v has %d connections", a.key, key, a.conns.Len())
		}
		waiting(a)
		if a.network != nil {
			perNetwork[a.network] += a.conns.Len()
		}
	}
	if sum != w.open {
		t.Fatalf("%d connections are counted, addresses have %d", w.open, sum)
	}
	last := 0
	for e := w.ranks.Front(); e != nil; e = e.Next() {
		r := e.Value.(*rank)
		if r.count <= last || r.element != e || r.addresses.Len() == 0 {
			t.Fatalf("the rank after %d is %d, with %d addresses", last, r.count, r.addresses.Len())
		}
		last = r.count
		for e := r.addresses.Front(); e != nil; e = e.Next() {
			if a := e.Value.(*address); a.conns.Len() != r.count || a.rank != r || a.ranked != e || w.addresses[a.key] != a {
				t.Fatalf("%v has %d connections and is among those with %d", a.key, a.conns.Len(), r.count)
			}
			ranked++
		}
	}
	if ranked != len(w.addresses) {
		t.Fatalf("%d of %d addresses have a rank", ranked, len(w.addresses))
	}
	if len(perNetwork) != len(w.networks) {
		t.Fatalf("%d networks, want %d", len(w.networks), len(perNetwork))
	}
	for key, n := range w.networks {
		if perNetwork[n] != n.conns || n.key != key {
			t.Fatalf("network %v counts %d connections, its addresses have %d", key, n.conns, perNetwork[n])
		}
	}
}

func TestDefaultTotal(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		memory, files uint64
		want          int
	}{
		{0, 0, maxTotal},
		{921 * mib, 1 << 20, 1842},
		{921 * mib, 1024, 768},
		{64 * mib, 1 << 20, 128},
		{16 * mib, 1 << 20, minTotal},
		{1 << 40, 1 << 62, maxTotal},
		{0, 20000, 20000 - spareFiles},
		{0, 64, 32},
		{0, 1, 1},
	} {
		if got := DefaultTotal(test.memory, test.files); got != test.want {
			t.Errorf("DefaultTotal(%d, %d) = %d, want %d", test.memory, test.files, got, test.want)
		}
	}
}

func TestNewBounds(t *testing.T) {
	for _, test := range []struct {
		total, perAddress                             int
		wantAddress, wantNetwork, reserved, atCrowded int
	}{
		{1842, 0, 460, 921, 115, 1296},
		{1000, 10, 10, 80, 62, 704},
		{1000, 900, 900, 900, 62, 704},
		{10, 50, 10, 10, 5, 4},
		{1, 0, 1, 1, 0, 1},
		{1 << 62, 1 << 61, 1 << 61, 1 << 61, 1 << 58, (1<<62 - 1<<58) / 4 * 3},
	} {
		b := NewBounds(test.total, test.perAddress, nil)
		if b.PerAddress != test.wantAddress || b.PerNetwork != test.wantNetwork || b.Reserved() != test.reserved || b.crowded() != test.atCrowded {
			t.Errorf("NewBounds(%d, %d) = %d and %d, reserved %d, crowded at %d; want %d and %d, %d, %d", test.total, test.perAddress,
				b.PerAddress, b.PerNetwork, b.Reserved(), b.crowded(), test.wantAddress, test.wantNetwork, test.reserved, test.atCrowded)
		}
	}
}

func TestMetrics(t *testing.T) {
	w := newBench(Bounds{Total: 100, PerAddress: 3, PerNetwork: 3})
	var conns []net.Conn
	for range 3 {
		_, c := w.must(t, "198.51.100.1")
		conns = append(conns, c)
	}
	ask(conns[0])
	wait(conns[1])
	ask(conns[2])
	conns[2].Close()
	w.must(t, "198.51.100.1")
	const want = `
# HELP limnomap_connections Open connections: without a request yet (new), waiting for the next one (idle), being answered (active).
# TYPE limnomap_connections gauge
limnomap_connections{listener="test",state="active"} 1
limnomap_connections{listener="test",state="idle"} 1
limnomap_connections{listener="test",state="new"} 1
# HELP limnomap_connections_max How many connections may be open in total.
# TYPE limnomap_connections_max gauge
limnomap_connections_max{listener="test"} 100
`
	if err := testutil.GatherAndCompare(w.registry, strings.NewReader(want), "limnomap_connections", "limnomap_connections_max"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(w.registry); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
}

// Errors of the listener are returned unchanged.
func TestAcceptErrors(t *testing.T) {
	w := newBench(NewBounds(10, 0, nil))
	l := w.Listener(&fakeListener{})
	if c, err := l.Accept(); c != nil || !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept = %v, %v, want net.ErrClosed", c, err)
	}
}

// Over real connections with HTTP/1 and HTTP/2: connections that wait are closed for others, and all are counted down.
func TestServer(t *testing.T) {
	limiter := New(Config{Bounds: Bounds{Total: 40, PerAddress: 8, PerNetwork: 8}, Name: "test", Registerer: prometheus.NewRegistry()})
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				_ = http.NewResponseController(w).Flush()
				<-release
			}
			_, _ = io.WriteString(w, "ok")
		}),
		ConnState: ConnState,
		Protocols: new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	served := make(chan error, 1)
	go func() { served <- server.Serve(limiter.Listener(inner)) }() // ends with Close, below
	url := "http://" + inner.Addr().String()
	transport := func(h2 bool) *http.Transport {
		t := &http.Transport{Protocols: new(http.Protocols), DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 7, 0, 1)}}).DialContext}
		t.Protocols.SetHTTP1(!h2)
		t.Protocols.SetUnencryptedHTTP2(h2)
		return t
	}
	await := func(what string, ok func(states map[string]int) bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			states, _ := limiter.states()
			if ok(states) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: states %v", what, states)
			}
		}
	}
	get := func(tr *http.Transport, path string) *http.Response {
		t.Helper()
		resp, err := tr.RoundTrip(must(http.NewRequestWithContext(context.Background(), http.MethodGet, url+path, nil)))
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	// Each protocol has four connections, two of them with a request.
	var busy []*http.Response
	var transports []*http.Transport
	for _, h2 := range []bool{false, true} {
		for i := range 4 {
			tr := transport(h2)
			transports = append(transports, tr)
			resp := get(tr, map[bool]string{true: "/wait", false: "/"}[i < 2])
			if i < 2 {
				busy = append(busy, resp)
				continue
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
	}
	await("two of each are active, two idle", func(s map[string]int) bool { return s["active"] == 4 && s["idle"] == 4 })
	var silent []net.Conn
	for range 12 { // the bound of the address is used up: these replace the idle ones, then each other
		c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 7, 0, 1)}}).Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		silent = append(silent, c)
	}
	await("the idle ones are replaced", func(s map[string]int) bool { return s["active"] == 4 && s["idle"] == 0 && s["new"] == 4 })
	close(release)
	for _, resp := range busy {
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "ok" {
			t.Errorf("an answer in progress: %q, %v", body, err)
		}
		resp.Body.Close()
	}
	for _, c := range silent {
		c.Close()
	}
	for _, tr := range transports {
		tr.CloseIdleConnections()
	}
	await("all are closed", func(s map[string]int) bool { return s["active"]+s["idle"]+s["new"] == 0 })
	if err := errors.Join(server.Close(), <-served); err != nil && !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// BenchmarkConnState is what each request of HTTP/1 costs.
func BenchmarkConnState(b *testing.B) {
	l := New(Config{Bounds: NewBounds(10, 0, nil), Name: "test", Registerer: prometheus.NewRegistry()})
	c := l.admit(from("198.51.100.1"))
	b.ReportAllocs()
	for b.Loop() {
		ConnState(c, http.StateActive)
		ConnState(c, http.StateIdle)
	}
}

// BenchmarkAdmit is what each new connection costs a full server, whose connections all wait, or all but a few have requests.
func BenchmarkAdmit(b *testing.B) {
	for _, perAddress := range []int{1, 100, 10000} {
		for _, busy := range []bool{false, true} {
			b.Run(fmt.Sprintf("per=%d/busy=%t", perAddress, busy), func(b *testing.B) {
				l := New(Config{Bounds: NewBounds(20000, 20000, nil), Name: "test", Registerer: prometheus.NewRegistry()})
				i := 0
				next := func() *fakeConn {
					i++
					n := i / perAddress
					return from(fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255))
				}
				for l.open < l.bounds.of(ordinary) {
					if c := l.admit(next()); busy && i%1000 > 0 {
						ask(c)
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					l.admit(next())
				}
			})
		}
	}
}
