package connections

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

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
		w.time = w.time.Add(time.Millisecond)
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
	if want := b.of(ordinary); len(w.all.conns) != want {
		t.Fatalf("%d connections, want %d", len(w.all.conns), want)
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

// A full server closes a connection whose client takes no data, and one that has waited for some time, before a new one: its request may be on its way.
func TestNewConnectionsAreReadFirst(t *testing.T) {
	b := Bounds{Total: 40, PerAddress: 40, PerNetwork: 40}
	w := newBench(b)
	var stalled net.Conn
	w.stalls = func(c *conn) bool { return c == stalled }
	half, _ := w.must(t, "198.51.100.1")
	taking, c := w.must(t, "198.51.100.2")
	ask(c)
	stalled = c
	for i := range b.of(ordinary) - 4 {
		_, c := w.must(t, fmt.Sprintf("203.0.113.%d", 1+i))
		ask(c)
	}
	w.time = w.time.Add(time.Duration(justUsed))
	var fresh []*fakeConn
	for range 2 { // of an address with more connections than all others
		c, _ := w.must(t, "192.0.2.50")
		fresh = append(fresh, c)
	}
	w.must(t, "192.0.2.51")
	w.must(t, "192.0.2.52")
	if half.closes != 1 || taking.closes != 1 || fresh[0].closes != 0 || fresh[1].closes != 0 {
		t.Errorf("closed: the one that has waited %d times, the one that takes no data %d times, new ones %d and %d times; want 1, 1, 0, 0", half.closes, taking.closes, fresh[0].closes, fresh[1].closes)
	}
}

// A full server does not close a connection whose request has arrived and is not read yet, but for a second at most: clients that send faster than
// they are read would keep all of them.
func TestArrivedRequestsAreRead(t *testing.T) {
	b := Bounds{Total: 40, PerAddress: 40, PerNetwork: 40}
	w := newBench(b)
	var arrived []net.Conn
	w.unread = func(c *conn) bool { return slices.Contains(arrived, net.Conn(c)) }
	asking, c := w.must(t, "192.0.2.50") // its address has more connections than all others
	arrived = append(arrived, c)
	silent, _ := w.must(t, "192.0.2.50")
	for i := range b.of(ordinary) - 2 {
		_, c := w.must(t, fmt.Sprintf("203.0.113.%d", 1+i))
		ask(c)
	}
	_, c = w.must(t, "192.0.2.51")
	if asking.closes != 0 || silent.closes != 1 {
		t.Errorf("closed: the one with a request %d times, the silent one %d times, want 0 and 1", asking.closes, silent.closes)
	}
	ask(c)
	w.mustRefuse(t, "192.0.2.52", ofTotal)
	w.time = w.time.Add(time.Duration(spared))
	w.must(t, "192.0.2.52")
	if asking.closes != 1 {
		t.Error("a connection keeps its place without a request for longer than a second")
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
// lose connections without a request yet.
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

// A crowded server closes connections that have waited for some time, and none that waits for a moment between two requests.
func TestCrowded(t *testing.T) {
	b := Bounds{Total: 100, PerAddress: 100, PerNetwork: 100}
	w := newBench(b)
	for i := range b.crowded() {
		_, c := w.must(t, fmt.Sprintf("198.51.100.%d", 1+i))
		wait(c)
	}
	w.must(t, "203.0.113.1")
	if want := b.crowded() + 1; len(w.all.conns) != want {
		t.Errorf("%d connections, want %d: all have been used just now", len(w.all.conns), want)
	}
	w.time = w.time.Add(time.Duration(spared))
	for i := range 50 {
		w.must(t, fmt.Sprintf("203.0.113.%d", 2+i))
	}
	if want := b.crowded() + 1; len(w.all.conns) != want {
		t.Errorf("%d connections, want %d: each new one closes another", len(w.all.conns), want)
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
	for len(w.all.conns) < b.of(local) {
		_, c := w.must(t, serverAddress)
		ask(c)
	}
	w.mustRefuse(t, serverAddress, ofTotal)
	for len(w.all.conns) < b.Total {
		_, c := w.must(t, "10.1.2.3") // more than PerAddress
		wait(c)
	}
	w.must(t, "10.9.9.9") // replaces a waiting one
	if len(w.all.conns) != b.Total {
		t.Errorf("%d connections, want %d", len(w.all.conns), b.Total)
	}
}

// A trusted proxy may have more connections than another address, and keeps waiting connections as long as it can.
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
	if b := NewBounds(20, 1, nil); len(w.all.conns) > b.of(ordinary) {
		t.Errorf("%d connections after the bound was lowered, want at most %d", len(w.all.conns), b.of(ordinary))
	}
	if got, _ := w.states(); got["new"] != len(w.all.conns) {
		t.Errorf("states %v, want %d new", got, len(w.all.conns))
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
