package connections

import (
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// After any sequence of events nothing exceeds its bound, no connection with a request was closed, and at the end nothing is counted.
func TestCounts(t *testing.T) {
	addresses := []string{serverAddress, "198.51.100.1", "198.51.100.2", "203.0.113.5", "10.0.0.1", "10.0.0.2",
		"2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:2::1", "2001:db8:1::1", "fd00::1"}
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	rapid.Check(t, func(t *rapid.T) {
		b := NewBounds(rapid.IntRange(0, 30).Draw(t, "total"), rapid.IntRange(0, 6).Draw(t, "per address"), proxies)
		w := newBench(b)
		open, busy := make(map[*fakeConn]net.Conn), make(map[*fakeConn]bool)
		for range rapid.IntRange(0, 200).Draw(t, "connections") {
			w.time = w.time.Add(time.Duration(rapid.Int64Range(0, 2*justUsed).Draw(t, "time")))
			fake := from(rapid.SampledFrom(addresses).Draw(t, "address"))
			c := w.accept(fake)
			if c == nil {
				continue
			}
			open[fake] = c
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				busy[fake] = true
				ask(c)
			case 1:
				wait(c)
			case 2:
				c.Close()
				ConnState(c, http.StateIdle) // late
				c.Close()
			}
			ordinaries := 0
			for fake, c := range open {
				if fake.closes > 0 {
					if busy[fake] {
						t.Fatal("a connection with a request was closed")
					}
					delete(open, fake)
				} else if c.(*conn).kind == ordinary {
					ordinaries++
				}
			}
			for key, g := range w.groups {
				if most := map[bool]int{true: b.PerNetwork, false: b.PerAddress}[key.Bits() == siteBits]; len(g.conns) > most {
					t.Fatalf("%d connections of %v, want at most %d", len(g.conns), key, most)
				}
			}
			if len(w.all.conns) != len(open) || len(open) > b.Total || ordinaries > b.of(ordinary) {
				t.Fatalf("%d connections are counted, %d open, %d of them ordinary, want at most %d and %d", len(w.all.conns), len(open), ordinaries, b.Total, b.of(ordinary))
			}
		}
		for _, c := range open {
			c.Close()
		}
		if len(w.all.conns) != 0 || len(w.groups) != 0 {
			t.Errorf("after all were closed: %d connections, %d groups", len(w.all.conns), len(w.groups))
		}
	})
}
