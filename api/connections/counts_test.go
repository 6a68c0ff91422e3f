package connections

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// After any sequence of events all groups agree with the connections, nothing exceeds its bound, and at the end all are zero.
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
			busy, ordinaries := 0, 0
			perGroup := make(map[netip.Prefix]int)
			for _, p := range open {
				if p.busy {
					busy++
				}
				c := p.conn.(*conn)
				if c.privileged() {
					continue
				}
				ordinaries++
				perGroup[c.address.key]++
				if c.site != nil {
					perGroup[c.site.key]++
				}
			}
			w.check(t)
			states, _ := w.states()
			if len(w.all.conns) != len(open) || states["active"] != busy || states["new"]+states["idle"] != len(open)-busy {
				t.Fatalf("%d connections, states %v, want %d, %d of them active", len(w.all.conns), states, len(open), busy)
			}
			if adjusted {
				return // open connections stay
			}
			for key, n := range perGroup {
				if most := map[bool]int{true: b.PerNetwork, false: b.PerAddress}[key.Bits() == siteBits]; n > most {
					t.Fatalf("%d connections of %v, want at most %d", n, key, most)
				}
			}
			if len(w.all.conns) > b.Total || ordinaries > ordinary(b) {
				t.Fatalf("%d connections, %d of them ordinary, want at most %d and %d", len(w.all.conns), ordinaries, b.Total, ordinary(b))
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
				w.time = w.time.Add(time.Duration(rapid.Int64Range(0, 2*justUsed).Draw(t, "time")))
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
		if len(w.all.conns) != 0 || len(w.groups) != 0 {
			t.Errorf("after all were closed: %d connections, %d groups", len(w.all.conns), len(w.groups))
		}
	})
}

// check checks that the groups have the same connections.
func (w *bench) check(t tester) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	want := make(map[*group]int)
	for c := range w.all.conns {
		for _, g := range []*group{c.address, c.site} {
			if g != nil {
				want[g]++
			}
		}
	}
	if len(want) != len(w.groups) {
		t.Fatalf("%d groups, want %d", len(w.groups), len(want))
	}
	for key, g := range w.groups {
		if want[g] != len(g.conns) || g.key != key {
			t.Fatalf("%v under %v has %d connections, want %d", g.key, key, len(g.conns), want[g])
		}
	}
}
