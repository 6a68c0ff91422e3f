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
