package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A clock is a time that only a test moves. It is safe for concurrent use.
type clock struct {
	mu sync.Mutex
	t  time.Time // guarded by mu
}

func newClock() *clock { return &clock{t: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

var okHandler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })

func TestLimit(t *testing.T) {
	c := newClock()
	l := newLimiter("api", 3, c.now)
	refused := 0
	l.refused = func() { refused++ }
	h := l.limit(addressKey)(okHandler)
	for i, step := range []struct {
		wait             time.Duration
		peer             string
		status           int
		rateLimit, retry string
	}{
		{0, "192.0.2.1:1", 200, `"api";r=2;t=20`, ""},
		{0, "192.0.2.1:2", 200, `"api";r=1;t=20`, ""},
		{500 * time.Millisecond, "192.0.2.1:1", 200, `"api";r=0;t=20`, ""},
		{0, "192.0.2.1:1", 429, `"api";r=0;t=20`, "20"},
		{19 * time.Second, "192.0.2.1:1", 429, `"api";r=0;t=1`, "1"},
		{0, "192.0.2.2:1", 200, `"api";r=2;t=20`, ""},
		{500 * time.Millisecond, "192.0.2.1:1", 200, `"api";r=0;t=20`, ""},
		{time.Hour, "192.0.2.1:1", 200, `"api";r=2;t=20`, ""},
	} {
		c.pass(step.wait)
		resp := serve(t, h, fromPeer(step.peer, nil))
		if resp.StatusCode != step.status {
			t.Errorf("step %d: status = %d, want %d", i, resp.StatusCode, step.status)
		}
		for name, want := range map[string]string{
			"RateLimit": step.rateLimit, "RateLimit-Policy": `"api";q=3;w=60`, "Retry-After": step.retry,
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("step %d: %s = %q, want %q", i, name, got, want)
			}
		}
		if step.status == 429 {
			if got := decodeProblem(t, resp)["status"]; got != 429.0 {
				t.Errorf("step %d: problem's status = %v, want 429", i, got)
			}
		}
	}
	if refused != 2 {
		t.Errorf("refused was told of %d, want 2", refused)
	}
}

func TestLimitOff(t *testing.T) {
	h := newLimiter("api", 0, newClock().now).limit(addressKey)(okHandler)
	for range 1000 {
		resp := serve(t, h, fromPeer("192.0.2.1:1", nil))
		if resp.StatusCode != 200 || resp.Header.Get("RateLimit") != "" || resp.Header.Get("RateLimit-Policy") != "" {
			t.Fatalf("a limit of 0 gave %d with RateLimit %q, want 200 without", resp.StatusCode, resp.Header.Get("RateLimit"))
		}
	}
}

// Two limits around one handler are two items of each list, and the shared policy of one must not grow by the other.
func TestLimitsStack(t *testing.T) {
	c := newClock()
	outer, inner := newLimiter("outer", 5, c.now), newLimiter("inner", 2, c.now)
	h := outer.limit(addressKey)(inner.limit(addressKey)(okHandler))
	for i, want := range []string{`"outer";r=4;t=12, "inner";r=1;t=30`, `"outer";r=3;t=12, "inner";r=0;t=30`} {
		resp := serve(t, h, fromPeer("192.0.2.1:1", nil))
		if got := strings.Join(resp.Header.Values("RateLimit"), ", "); got != want {
			t.Errorf("request %d: RateLimit = %s, want %s", i, got, want)
		}
		if got, want := strings.Join(resp.Header.Values("RateLimit-Policy"), ", "), `"outer";q=5;w=60, "inner";q=2;w=60`; got != want {
			t.Errorf("request %d: RateLimit-Policy = %s, want %s", i, got, want)
		}
	}
}

// In any window of a minute a key gets no more than two buckets, and one who waits as told is served.
func TestLimitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perMinute := rapid.IntRange(1, 10_000).Draw(t, "perMinute")
		waits := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Minute)), 1, 50).Draw(t, "waits")
		c := newClock()
		l := newLimiter("api", perMinute, c.now)
		for range perMinute {
			if g := l.take("k"); !g.ok {
				t.Fatalf("a full bucket of %d refuses", perMinute)
			}
		}
		for _, w := range waits {
			g := l.take("k")
			if g.wait <= 0 {
				t.Fatalf("wait = %s, want more than 0", g.wait)
			}
			if g.remaining < 0 || g.remaining >= int64(perMinute) {
				t.Fatalf("remaining = %d, want 0 to %d", g.remaining, perMinute-1)
			}
			if g.ok {
				c.pass(time.Duration(w))
				continue
			}
			c.pass(g.wait - 1)
			if l.take("k").ok {
				t.Fatal("granted before the wait was over")
			}
			c.pass(1)
			if !l.take("k").ok {
				t.Fatal("refused after the wait")
			}
		}
	})
}

func TestLimitMemoryIsBounded(t *testing.T) {
	l := newLimiter("api", 1, newClock().now)
	for i := range 4 * limitShards * limitShardKeys {
		l.take(addrKey(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})))
	}
	kept := 0
	for i := range l.shards {
		kept += l.shards[i].full.Len()
	}
	if kept > limitShards*limitShardKeys {
		t.Errorf("%d keys kept, want at most %d", kept, limitShards*limitShardKeys)
	}
	// The key that asked first was forgotten and has a full bucket again; the last one is remembered.
	if !l.take(addrKey(netip.MustParseAddr("10.0.0.0"))).ok {
		t.Error("an evicted key is refused, want a full bucket")
	}
	if l.take(addrKey(netip.MustParseAddr("10.3.255.255"))).ok {
		t.Error("the last key is granted a second request, want it remembered")
	}
}

func TestLimitConcurrently(t *testing.T) {
	const rate, workers, each = 100, 8, 50
	l := newLimiter("api", rate, newClock().now)
	var wg sync.WaitGroup
	granted := make([]int, workers)
	for i := range workers {
		wg.Go(func() {
			for range each {
				if l.take("k").ok {
					granted[i]++
				}
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range granted {
		sum += n
	}
	if sum != rate {
		t.Errorf("%d of %d concurrent requests granted, want %d", sum, workers*each, rate)
	}
}

func TestAddrKey(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8::1", "2001:db8::ffff:1:2:3", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
		{"2001:db8::1", "192.0.2.1", false},
	} {
		a, b := netip.MustParseAddr(tt.a), netip.MustParseAddr(tt.b)
		if got := addrKey(a) == addrKey(b); got != tt.same {
			t.Errorf("addrKey(%s) == addrKey(%s): %t, want %t", a, b, got, tt.same)
		}
	}
	if got := addrKey(netip.Addr{}); got != "" {
		t.Errorf("addrKey of no address = %q, want empty", got)
	}
}

func BenchmarkLimit(b *testing.B) {
	for _, clients := range []int{1, 1000, 1_000_000} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			l := newLimiter("tiles", 6_000_000, time.Now)
			r := httptest.NewRequest("GET", "/", nil)
			rec := &record{Context: r.Context()}
			r = r.WithContext(rec)
			h := l.limit(addressKey)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			w := httptest.NewRecorder()
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i = (i + 1) % clients
				rec.addr = netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
				clear(w.Header())
				h.ServeHTTP(w, r)
			}
		})
	}
}
