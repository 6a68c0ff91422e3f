package ratelimit

import (
	"hash/maphash"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"

	"limnomap/api/answer"
	"limnomap/api/apitest"
)

// newLimiter returns a limiter of a server with that quota, which may be nil.
func newLimiter(name string, perMinute int, now func() time.Time, q Quota) *Limiter {
	return NewGroup(Config{Quota: q, Now: now, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()}).Limiter(name, Address, perMinute)
}

func TestLimit(t *testing.T) {
	c := apitest.NewClock()
	l := newLimiter("api", 3, c.Now, nil)
	h := l.Handler(apitest.OK)
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
		c.Advance(step.wait)
		resp := apitest.Serve(t, h, apitest.From(step.peer, nil))
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
			if got := apitest.Problem(t, resp)["status"]; got != 429.0 {
				t.Errorf("step %d: problem's status = %v, want 429", i, got)
			}
		}
	}
	if got := testutil.ToFloat64(l.refused); got != 2 {
		t.Errorf("%v requests were counted as refused, want 2", got)
	}
}

func TestLimitOff(t *testing.T) {
	h := newLimiter("api", 0, apitest.NewClock().Now, nil).Handler(apitest.OK)
	for range 1000 {
		resp := apitest.Serve(t, h, apitest.From("192.0.2.1:1", nil))
		if resp.StatusCode != 200 || resp.Header.Get("RateLimit") != "" || resp.Header.Get("RateLimit-Policy") != "" {
			t.Fatalf("a limit of 0 gave %d with RateLimit %q, want 200 without", resp.StatusCode, resp.Header.Get("RateLimit"))
		}
	}
}

// Two limits around one handler are two items of each list, and the shared policy of one must not contain the other.
func TestLimitsStack(t *testing.T) {
	c := apitest.NewClock()
	outer, inner := newLimiter("outer", 5, c.Now, nil), newLimiter("inner", 2, c.Now, nil)
	h := outer.Handler(inner.Handler(apitest.OK))
	for i, want := range []string{`"outer";r=4;t=12, "inner";r=1;t=30`, `"outer";r=3;t=12, "inner";r=0;t=30`} {
		resp := apitest.Serve(t, h, apitest.From("192.0.2.1:1", nil))
		if got := strings.Join(resp.Header.Values("RateLimit"), ", "); got != want {
			t.Errorf("request %d: RateLimit = %s, want %s", i, got, want)
		}
		if got, want := strings.Join(resp.Header.Values("RateLimit-Policy"), ", "), `"outer";q=5;w=60, "inner";q=2;w=60`; got != want {
			t.Errorf("request %d: RateLimit-Policy = %s, want %s", i, got, want)
		}
	}
}

// In any minute a client gets no more than two buckets, and a client that waits as long as the answer says is served.
func TestLimitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perMinute := rapid.IntRange(1, 10_000).Draw(t, "perMinute")
		waits := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Minute)), 1, 50).Draw(t, "waits")
		c := apitest.NewClock()
		l := newBucketLimit("api", perMinute, c.Now, nil)
		for range perMinute {
			if g := l.take(1); !g.ok {
				t.Fatalf("a full bucket of %d refuses", perMinute)
			}
		}
		for _, w := range waits {
			g := l.take(1)
			if g.wait <= 0 {
				t.Fatalf("wait = %s, want more than 0", g.wait)
			}
			if g.remaining < 0 || g.remaining >= int64(perMinute) {
				t.Fatalf("remaining = %d, want 0 to %d", g.remaining, perMinute-1)
			}
			if g.ok {
				c.Advance(time.Duration(w))
				continue
			}
			c.Advance(g.wait - 1)
			if l.take(1).ok {
				t.Fatal("granted before the wait was over")
			}
			c.Advance(1)
			if !l.take(1).ok {
				t.Fatal("refused after the wait")
			}
		}
	})
}

// At any order of requests, no token is granted twice. A request that read the clock before another one that overtook it must
// not treat the time that the other one stored as one in the future.
func TestLimitConcurrentlyWithARealClock(t *testing.T) {
	const rate, workers, each = 600, 8, 20_000
	l := newBucketLimit("api", rate, time.Now, nil)
	var wg sync.WaitGroup
	var granted atomic.Int64
	start := time.Now()
	for range workers {
		wg.Go(func() {
			for range each {
				if l.take(1).ok {
					granted.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if most := rate + int64(time.Since(start)/l.interval) + 1; granted.Load() > most || granted.Load() < rate {
		t.Errorf("%d of %d requests granted, want %d to %d", granted.Load(), workers*each, rate, most)
	}
}

func TestHashAddr(t *testing.T) {
	seed := maphash.MakeSeed()
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
		{"c000:201::1", "192.0.2.1", false},
	} {
		a, b := netip.MustParseAddr(tt.a), netip.MustParseAddr(tt.b)
		if got := hashAddr(seed, a) == hashAddr(seed, b); got != tt.same {
			t.Errorf("%s and %s share a hash: %t, want %t", a, b, got, tt.same)
		}
	}
	for _, peer := range []string{"@", "nonsense"} {
		if hashAddr(seed, answer.ClientAddr(apitest.From(peer, nil))) != hashAddr(seed, netip.Addr{}) {
			t.Errorf("the peer %q does not share the hash of clients without an address", peer)
		}
	}
	if a := netip.MustParseAddr("192.0.2.1"); hashAddr(seed, a) == hashAddr(maphash.MakeSeed(), a) {
		t.Error("two limiters have the same hash of a client, want hashes that no one can predict")
	}
	if got := testing.AllocsPerRun(100, func() { hashAddr(seed, netip.MustParseAddr("2001:db8::1")) }); got != 0 {
		t.Errorf("a hash takes %v allocations, want none", got)
	}
}

// A new rate gives every client a full bucket; the same rate keeps what clients have used.
func TestSetRate(t *testing.T) {
	l := newLimiter("api", 1, apitest.NewClock().Now, nil)
	h := l.Handler(apitest.OK)
	for i, step := range []struct{ rate, status int }{{1, 200}, {1, 429}, {2, 200}, {2, 200}, {2, 429}, {0, 200}, {0, 200}, {1, 200}, {1, 429}} {
		l.SetRate(step.rate)
		if resp := apitest.Serve(t, h, apitest.From("192.0.2.1:1", nil)); resp.StatusCode != step.status {
			t.Errorf("step %d at the rate %d: status = %d, want %d", i, step.rate, resp.StatusCode, step.status)
		}
	}
}

func TestMetricsLint(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	c := apitest.NewClock()
	NewGroup(Config{Quota: newFakeQuota(c.Now), Now: c.Now, Logger: slog.New(slog.DiscardHandler), Registerer: reg}).Limiter("api", Address, 1)
	problems, err := testutil.GatherAndLint(reg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
