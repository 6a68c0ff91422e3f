package ratelimit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"

	"limnomap/api/apitest"
)

// A fakeQuota is a Quota in memory, by the time of a test.
type fakeQuota struct {
	now   func() time.Time
	mu    sync.Mutex
	full  map[string]time.Time // guarded by mu; when each bucket is full again
	err   error                // guarded by mu; every lease fails with it
	asked int                  // guarded by mu; leases
	taken int                  // guarded by mu; tokens
}

func newFakeQuota(now func() time.Time) *fakeQuota {
	return &fakeQuota{now: now, full: make(map[string]time.Time)}
}

func (q *fakeQuota) Lease(ctx context.Context, limit, client string, perMinute, n int) (int, time.Duration, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked++
	if q.err != nil {
		return 0, 0, q.err
	}
	interval := time.Minute / time.Duration(perMinute)
	key := limit + " " + client
	missing := max(q.full[key].Sub(q.now()), 0)
	granted := min(n, int((interval*time.Duration(perMinute)-missing)/interval))
	missing += time.Duration(granted) * interval
	q.full[key] = q.now().Add(missing)
	q.taken += granted
	return granted, missing, ctx.Err()
}

func (q *fakeQuota) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err = err
}

// leases returns how many leases there were since the last call, and how many tokens they took.
func (q *fakeQuota) leases() (asked, taken int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	asked, taken = q.asked, q.taken
	q.asked, q.taken = 0, 0
	return asked, taken
}

// sharedLimiter returns a limiter of one server that shares its buckets through q.
func sharedLimiter(q Quota, perMinute int, now func() time.Time) *bucketLimit {
	return newLimiter("api", perMinute, now, q).buckets.Load()
}

var client = []byte("client")

// Over all servers and at any order of requests, a client is granted at most as much as one bucket grants plus a reserve of
// each server, and at least as much as one bucket grants that is smaller by those reserves.
func TestSharedLimitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 5).Draw(t, "servers")
		perMinute := rapid.OneOf(rapid.IntRange(1, 200), rapid.IntRange(500, 3000)).Draw(t, "perMinute")
		c := apitest.NewClock()
		q := newFakeQuota(c.Now)
		limiters := make([]*bucketLimit, servers)
		for i := range limiters {
			limiters[i] = sharedLimiter(q, perMinute, c.Now)
		}
		interval, size := limiters[0].interval, limiters[0].size
		reserves := servers * limiters[0].reserve
		smaller := newSized(perMinute, max(perMinute-reserves, 0), c.Now)
		atMost := newSized(perMinute, perMinute+reserves, c.Now) // asked only for granted requests: it must grant each
		granted, least := 0, 0
		for range rapid.IntRange(1, 60).Draw(t, "bursts") {
			// Pauses that matter are about one interval, or about the time that a bucket takes to fill.
			c.Advance(time.Duration(rapid.OneOf(rapid.Int64Range(0, int64(3*interval)), rapid.Int64Range(0, int64(size))).Draw(t, "pause")))
			server := rapid.IntRange(-1, servers-1).Draw(t, "server")
			for n := range rapid.IntRange(1, 2*perMinute/3+2).Draw(t, "requests") {
				i := server
				if i < 0 {
					i = n % servers // round robin
				}
				g := limiters[i].takeShared(t.Context(), 1, client)
				if g.wait <= 0 || g.wait > window || g.remaining < 0 || g.remaining >= int64(perMinute) {
					t.Fatalf("granted %+v under %d a minute", g, perMinute)
				}
				if g.ok {
					granted++
					if !atMost.take(1).ok {
						t.Fatalf("request %d of a burst is granted beyond the bound of %d reserves", n, reserves)
					}
				}
				if smaller.take(1).ok {
					least++
				}
				if granted < least {
					t.Fatalf("granted %d, and %d by one server with a bucket smaller by %d", granted, least, reserves)
				}
			}
		}
	})
}

// newSized returns a limit whose bucket has another size than the tokens of a minute.
func newSized(perMinute, tokens int, now func() time.Time) *bucketLimit {
	l := newBucketLimit("api", perMinute, now, nil)
	l.size = l.interval * time.Duration(tokens)
	return l
}

// A single server decides by a shared bucket exactly as by its own, as long as it holds nothing in advance.
func TestSharedLimitOfOneServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perMinute := rapid.IntRange(1, reserveShare-1).Draw(t, "perMinute")
		c := apitest.NewClock()
		shared, own := sharedLimiter(newFakeQuota(c.Now), perMinute, c.Now), newBucketLimit("api", perMinute, c.Now, nil)
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			c.Advance(time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "pause")))
			if got, want := shared.takeShared(t.Context(), 1, client), own.take(1); got != want {
				t.Fatalf("%+v, want %+v", got, want)
			}
		}
	})
}

// Very few requests need a lease, whether they are granted or refused.
func TestSharedLimitLeasesSeldom(t *testing.T) {
	const perMinute = 6000
	c := apitest.NewClock()
	q := newFakeQuota(c.Now)
	l := sharedLimiter(q, perMinute, c.Now)
	if g := l.takeShared(t.Context(), 1, client); !g.ok || g.remaining != perMinute-1 {
		t.Errorf("the first request: %+v", g)
	}
	if asked, taken := q.leases(); asked != 1 || taken != 1 {
		t.Errorf("a client with one request costs %d leases and %d tokens, want one each", asked, taken)
	}
	for i := range perMinute - 1 {
		if !l.takeShared(t.Context(), 1, client).ok {
			t.Fatalf("request %d of %d is refused", i+2, perMinute)
		}
	}
	// One lease for three quarters of the reserve, and some more while it grows.
	if asked, _ := q.leases(); asked > perMinute/(l.reserve*3/4)+20 {
		t.Errorf("%d requests took %d leases", perMinute-1, asked)
	}
	for range 1000 {
		if l.takeShared(t.Context(), 1, client).ok {
			t.Fatal("granted beyond the limit")
		}
	}
	if asked, _ := q.leases(); asked > 1 {
		t.Errorf("a thousand requests beyond the limit took %d leases, want one at most", asked)
	}
}

// When the quota fails, the server uses its own limits at once, and logs it once; so it does when the quota works again.
func TestQuotaFails(t *testing.T) {
	var log bytes.Buffer
	c := apitest.NewClock()
	q := newFakeQuota(c.Now)
	l := NewGroup(Config{Quota: q, Now: c.Now, Logger: slog.New(slog.NewTextHandler(&log, nil)), Registerer: prometheus.NewRegistry()}).Limiter("api", Address, 3)
	h, failing := l.Handler(apitest.OK), l.group.shared.failing
	ask := func(peer string, statuses ...int) {
		t.Helper()
		for i, want := range statuses {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = peer + ":1"
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("request %d of %s: %d, want %d", i, peer, w.Code, want)
			}
			if w.Header().Get("RateLimit-Policy") != `"api";q=3;w=60` || w.Header().Get("RateLimit") == "" {
				t.Errorf("request %d of %s: RateLimit-Policy %q, RateLimit %q", i, peer, w.Header().Get("RateLimit-Policy"), w.Header().Get("RateLimit"))
			}
			if (w.Header().Get("Retry-After") != "") != (want == http.StatusTooManyRequests) {
				t.Errorf("request %d of %s: %d with Retry-After %q", i, peer, w.Code, w.Header().Get("Retry-After"))
			}
		}
	}
	ask("192.0.2.1", 200)
	if asked, _ := q.leases(); asked != 1 || testutil.ToFloat64(failing) != 0 {
		t.Fatalf("%d leases, failing %v", asked, testutil.ToFloat64(failing))
	}
	q.fail(errors.New("connection refused"))
	ask("192.0.2.1", 200, 200, 429, 429) // tokens that were taken while it was shared still count
	ask("192.0.2.2", 200, 200, 200, 429)
	if asked, _ := q.leases(); asked != 1 {
		t.Errorf("%d leases within a second of the failure, want only the failed one", asked)
	}
	c.Advance(retryAfterFailure)
	ask("192.0.2.3", 200, 200)
	if asked, _ := q.leases(); asked != 1 || testutil.ToFloat64(failing) != 1 {
		t.Errorf("%d leases a second later, want one attempt; failing is %v, want 1", asked, testutil.ToFloat64(failing))
	}
	c.Advance(retryAfterFailure)
	q.fail(nil)
	ask("192.0.2.4", 200, 200, 200, 429)
	if asked, _ := q.leases(); asked != 3 || testutil.ToFloat64(failing) != 0 {
		t.Errorf("%d leases from a quota that works again, want 3; failing is %v, want 0", asked, testutil.ToFloat64(failing))
	}
	for text, want := range map[string]int{"rate limits cannot be shared": 1, "connection refused": 1, "rate limits are shared again": 1} {
		if got := strings.Count(log.String(), text); got != want {
			t.Errorf("the log has %d times %q, want %d:\n%s", got, text, want, &log)
		}
	}
}

// A refusedLease is an error that only an operator can change.
type refusedLease struct{ error }

func (refusedLease) Refused() bool { return true }

// The log has the first failure, and once why the quota refuses, also if a lease failed for another reason before.
func TestQuotaRefuses(t *testing.T) {
	var log bytes.Buffer
	c := apitest.NewClock()
	q := newFakeQuota(c.Now)
	l := NewGroup(Config{Quota: q, Now: c.Now, Logger: slog.New(slog.NewTextHandler(&log, nil)), Registerer: prometheus.NewRegistry()}).Limiter("api", Address, 3)
	late, refused := errors.New("it took too long"), fmt.Errorf("redis: %w", refusedLease{errors.New("it is a replica")})
	for _, step := range []struct {
		err           error
		late, refused int // times in the log
	}{
		{late, 1, 0}, {late, 1, 0}, {refused, 1, 1}, {refused, 1, 1}, {late, 1, 1}, {nil, 1, 1}, {refused, 1, 2}, {late, 1, 2}, {refused, 1, 2}, {nil, 1, 2}, {late, 2, 2},
	} {
		q.fail(step.err)
		l.group.shared.lease(t.Context(), l.buckets.Load(), client, 1)
		c.Advance(retryAfterFailure)
		if late, refused := strings.Count(log.String(), "too long"), strings.Count(log.String(), "a replica"); late != step.late || refused != step.refused {
			t.Errorf("after %v: %d and %d lines, want %d and %d:\n%s", step.err, late, refused, step.late, step.refused, &log)
		}
	}
}

// A hangingQuota returns only when its context ends.
type hangingQuota struct{ asked atomic.Int32 }

func (q *hangingQuota) Lease(ctx context.Context, _, _ string, _, _ int) (int, time.Duration, error) {
	q.asked.Add(1)
	<-ctx.Done()
	return 0, 0, ctx.Err()
}

// A quota that hangs delays one request per second by the timeout, and the others not at all.
func TestQuotaHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := new(hangingQuota)
		l := sharedLimiter(q, 100, time.Now)
		start := time.Now()
		for range 100 {
			if !l.takeShared(t.Context(), 1, client).ok {
				t.Error("refused, want granted by the server's own bucket")
			}
		}
		if waited := time.Since(start); waited != leaseTimeout || q.asked.Load() != 1 {
			t.Errorf("a hundred requests waited %v and took %d leases, want %v and one", waited, q.asked.Load(), leaseTimeout)
		}
	})
}

// A client that leaves during its lease is not a failure of the quota, and its tokens are there for its next request.
func TestSharedLimitClientLeaves(t *testing.T) {
	c := apitest.NewClock()
	l := sharedLimiter(newFakeQuota(c.Now), 6000, c.Now)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if !l.takeShared(ctx, 1, client).ok {
			t.Error("refused")
		}
	}
	if l.shared.retryAt.Load() != 0 {
		t.Error("the quota counts as failing")
	}
}

// At any overlap of the requests of several servers, no token is granted twice.
func TestSharedLimitConcurrently(t *testing.T) {
	const perMinute, servers, workers, each = 600, 3, 8, 100
	q := newFakeQuota(apitest.NewClock().Now)
	var granted atomic.Int64
	var wg sync.WaitGroup
	var limiters []*bucketLimit
	for range servers {
		l := sharedLimiter(q, perMinute, apitest.NewClock().Now)
		limiters = append(limiters, l)
		for range workers {
			wg.Go(func() {
				for range each {
					if l.takeShared(t.Context(), 1, client).ok {
						granted.Add(1)
					}
				}
			})
		}
	}
	wg.Wait()
	held := int64(0)
	for _, l := range limiters {
		b := l.buckets.setOf(1).find(1, 0, l.size)
		if b.held.filling || int(b.held.tokens) > l.reserve {
			t.Errorf("at the end a server holds %+v, want up to %d tokens and no lease under way", b.held, l.reserve)
		}
		held += int64(b.held.tokens)
	}
	if _, taken := q.leases(); taken != perMinute || granted.Load()+held > perMinute || granted.Load() < perMinute-servers*10 {
		t.Errorf("%d tokens are taken, %d granted and %d held, want %d, and all of them granted or held", taken, granted.Load(), held, perMinute)
	}
}

// A client has the same name on all servers, and different clients have different names.
func TestClientNames(t *testing.T) {
	names := make(map[string]string)
	for _, peer := range []string{"192.0.2.1:1", "192.0.2.2:1", "[2001:db8::1]:1", "[2001:db8:0:1::1]:1", "[c000:201::1]:1", "@"} {
		name := string(Address.appendID(nil, apitest.From(peer, nil)))
		if other, ok := names[name]; ok {
			t.Errorf("%s and %s share the name %q", peer, other, name)
		}
		names[name] = peer
	}
	for _, pair := range [][2]string{{"192.0.2.1:1", "[::ffff:192.0.2.1]:2"}, {"[2001:db8::1]:1", "[2001:db8::ffff:1]:1"}} {
		a, b := Address.appendID(nil, apitest.From(pair[0], nil)), Address.appendID(nil, apitest.From(pair[1], nil))
		if !bytes.Equal(a, b) {
			t.Errorf("%s and %s are %x and %x, want one client", pair[0], pair[1], a, b)
		}
	}
}
