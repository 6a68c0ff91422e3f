package connections

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
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
