package connections

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// endless is what a connection reads whose peer sends without end.
func (c *fakeConn) Read(b []byte) (int, error) { return len(b), nil }

// read reads n bytes and more from a connection whose client sends without end.
func read(t *testing.T, c net.Conn, n int64) (took time.Duration, err error) {
	t.Helper()
	before := time.Now()
	_, err = io.CopyN(io.Discard, c, n)
	return time.Since(before), err
}

// TestPace reads from peers that send as fast as they can, for ten seconds each.
func TestPace(t *testing.T) {
	const seconds = 10
	for _, test := range []struct {
		name, peers string
		conns       int // of each of three peers
		perAddress  int
		slowed      bool
		rate        int // of all together; 0: no bound
	}{
		{"a connection", "198.51.100.1", 1, 0, true, 3 * connRate},
		{"an address", "198.51.100.1", 50, 0, true, addressRate},
		{"three addresses", "198.51.100.%d", 20, 0, true, 3 * addressRate},
		{"a /64", "2001:db8:0:1::%d", 50, 0, true, addressRate},
		{"a /48", "2001:db8:0:%d::1", 60, 0, true, 3 * addressRate},
		{"an address that may have all connections", "198.51.100.1", 20, 1000, true, 60 * connRate},
		{"a trusted proxy", "203.0.113.1", 1, 0, false, 0},
		{"this machine", serverAddress, 1, 0, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				proxies := []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}
				l := New(Config{Bounds: NewBounds(1000, test.perAddress, proxies), Name: "test", Registerer: prometheus.NewRegistry()})
				ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
				defer cancel()
				var reading sync.WaitGroup
				var total atomic.Int64
				for i := range 3 * test.conns {
					c, err := l.Listener(&fakeListener{[]net.Conn{from(strings.Replace(test.peers, "%d", fmt.Sprint(1+i%3), 1))}}).Accept()
					if err != nil {
						t.Fatal(err)
					}
					reading.Go(func() {
						for b := make([]byte, 1<<16); ctx.Err() == nil && total.Load() < 1<<28; {
							n, err := c.Read(b)
							if err != nil {
								t.Error(err)
							}
							total.Add(int64(n))
						}
					})
				}
				reading.Wait()
				if got := total.Load(); test.rate == 0 && got < 1<<28 || test.rate > 0 && (got < int64(test.rate*seconds/2) || got > int64(test.rate*seconds*2)) {
					t.Errorf("%d bytes were read in %d s, want about %d a second", got, seconds, test.rate)
				}
				if got := testutil.ToFloat64(l.metrics.slowed); (got > 0) != test.slowed {
					t.Errorf("%v connections were slowed", got)
				}
			})
		})
	}
}

// A new connection of an address has no new allowance.
func TestPaceOutlivesConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{Bounds: NewBounds(100, 0, nil), Name: "test", Registerer: prometheus.NewRegistry()})
		before, total := time.Now(), 0
		for time.Since(before) < 10*time.Second {
			c, err := l.Listener(&fakeListener{[]net.Conn{from("198.51.100.1")}}).Accept()
			if err != nil {
				t.Fatal(err)
			}
			n, err := c.Read(make([]byte, 1<<16))
			if err != nil {
				t.Fatal(err)
			}
			total += n
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if total > 11*addressRate {
			t.Errorf("%d bytes of one connection after the other were read in 10 s, want at most %d", total, 11*addressRate)
		}
	})
}

// Of hundreds of new connections of an address, the first are read at once and the others little by little. Another address does not
// wait.
func TestNewConnectionsAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const conns, slot = 450, 50 * time.Millisecond
		l := New(Config{Bounds: NewBounds(1000, 500, nil), Name: "test", Registerer: prometheus.NewRegistry()})
		firstRead := func(c net.Conn) time.Duration {
			began := time.Now()
			if _, err := c.Read(make([]byte, 1)); err != nil {
				t.Error(err)
			}
			if _, err := c.Read(make([]byte, 100)); err != nil {
				t.Error(err)
			}
			return time.Since(began)
		}
		var mu sync.Mutex
		var reading sync.WaitGroup
		slots := make(map[time.Duration]int)
		for i := range conns + 1 {
			peer := "198.51.100.1"
			if i == conns {
				peer = "198.51.100.2"
			}
			c, err := l.Listener(&fakeListener{[]net.Conn{from(peer)}}).Accept()
			if err != nil {
				t.Fatal(err)
			}
			reading.Go(func() {
				took := firstRead(c)
				mu.Lock()
				defer mu.Unlock()
				if slots[took/slot]++; i == conns && took > 0 {
					t.Errorf("a connection of another address waits for %v", took)
				}
				if took > paceBurst+maxWait {
					t.Errorf("a connection waits for %v", took)
				}
			})
		}
		reading.Wait()
		for i, n := range slots {
			if n > conns/3 {
				t.Errorf("%d of %d connections are read within %v, %v after they came", n, conns, slot, i*slot)
			}
		}
		if len(slots) < 10 {
			t.Errorf("the connections are read at the times %v, want them spread", slots)
		}
	})
}

// A connection waits a second at most for what others of its address send.
func TestPaceBesideAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{Bounds: NewBounds(1000, 200, nil), Name: "test", Registerer: prometheus.NewRegistry()})
		accept := func() net.Conn {
			c, err := l.Listener(&fakeListener{[]net.Conn{from("198.51.100.1")}}).Accept()
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		var reading sync.WaitGroup
		defer reading.Wait()
		for range 150 {
			c := accept()
			reading.Go(func() {
				for ctx.Err() == nil {
					if _, err := c.Read(make([]byte, 1<<16)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		time.Sleep(5 * time.Second)
		honest := accept()
		for range 5 {
			if took, err := read(t, honest, 600); took > maxWait || err != nil {
				t.Errorf("a request took %v, %v", took, err)
			}
			time.Sleep(time.Second)
		}
	})
}

// A client that sends requests at a usual speed never waits.
func TestPaceOfRequests(t *testing.T) {
	const request, perSecond = 500, 60
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{Bounds: NewBounds(100, 0, nil), Name: "test", Registerer: prometheus.NewRegistry()})
		c, err := l.Listener(&fakeListener{[]net.Conn{from("198.51.100.1")}}).Accept()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 60 * perSecond {
			before := time.Now()
			if _, err := c.Read(make([]byte, request)); err != nil || time.Since(before) > 0 {
				t.Fatalf("request %d waits %v, %v", i, time.Since(before), err)
			}
			time.Sleep(time.Second / perSecond)
		}
	})
}

// A read that waits ends when its connection is closed.
func TestPausedReadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{Bounds: NewBounds(100, 0, nil), Name: "test", Registerer: prometheus.NewRegistry()})
		c, err := l.Listener(&fakeListener{[]net.Conn{from("198.51.100.1")}}).Accept()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, err := io.Copy(io.Discard, c)
			done <- err
		}()
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("reading a closed connection = %v", err)
		}
	})
}
