package connections

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// endless is what a connection reads whose peer sends without end.
func (c *fakeConn) Read(b []byte) (int, error) { return len(b), nil }

// TestPace reads 4 MiB from peers that send as fast as they can.
func TestPace(t *testing.T) {
	const size = 4 << 20
	for _, test := range []struct {
		name, peer string
		conns      int
		perAddress int
		slowed     float64
		want       time.Duration
	}{
		{"a connection", "198.51.100.1", 1, 0, 1, size*time.Second/connRate - paceBurst},
		{"an address", "198.51.100.1", 32, 0, 32, size*time.Second/addressRate - paceBurst},
		{"an address that may have all connections", "198.51.100.1", 32, 200, 32, size/32*time.Second/connRate - paceBurst},
		{"a trusted proxy", "203.0.113.1", 1, 0, 0, 0},
		{"this machine", serverAddress, 1, 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				proxies := []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}
				l := New(Config{Bounds: NewBounds(200, test.perAddress, proxies), Name: "test", Registerer: prometheus.NewRegistry()})
				before := time.Now()
				var reading sync.WaitGroup
				ended := false
				for range test.conns {
					c, err := l.Listener(&fakeListener{[]net.Conn{from(test.peer)}}).Accept()
					if err != nil {
						t.Fatal(err)
					}
					reading.Go(func() {
						if _, err := io.CopyN(io.Discard, c, int64(size/test.conns)); errors.Is(err, errAhead) {
							ended = true
						} else if err != nil {
							t.Error(err)
						}
					})
				}
				reading.Wait()
				if took := time.Since(before); took < min(test.want, maxAhead)-time.Second || took > min(test.want, maxAhead)+time.Second {
					t.Errorf("4 MiB took %v, want %v", took, test.want)
				}
				if ended != (test.want > maxAhead) {
					t.Errorf("a connection was ended: %t", ended)
				}
				if got := testutil.ToFloat64(l.metrics.slowed); got != test.slowed {
					t.Errorf("%v connections were slowed, want %v", got, test.slowed)
				}
			})
		})
	}
}

// A client that sends requests at a usual speed is never slowed, and one that was may go on after a while.
func TestPaceOfRequests(t *testing.T) {
	const request, perSecond = 500, 60
	var p pace
	send := func(first int) {
		for i := range 60 * perSecond {
			now := int64(first+i) * int64(time.Second) / perSecond
			if d := p.took(now, request, connRate); d > 0 {
				t.Fatalf("after request %d the next one waits %v", i, d)
			}
		}
	}
	send(0)
	if d := p.took(60*int64(time.Second), 1<<20, connRate); d < 30*time.Second {
		t.Errorf("after a megabyte the next read waits %v", d)
	}
	send(120 * perSecond)
}

// A read that waits ends when its connection is closed.
func TestPausedReadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBench(NewBounds(100, 0, nil))
		_, c := w.must(t, "198.51.100.1")
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
