package delivery_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"go.uber.org/goleak"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
	"limnomap/data/events/hook/delivery"
	"limnomap/data/fetchguard"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// A clock can be moved.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time          { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *clock) forward(d time.Duration) { c.offset.Add(int64(d)) }

// A world is a database with a log of events, and servers that send webhooks.
type world struct {
	t     *testing.T
	store *store.Store
	clock clock
	log   strings.Builder
	mu    sync.Mutex // guards log

	newest atomic.Int64
	news   chan struct{} // wakes a server
}

// Write implements io.Writer for the log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

type places struct{}

func (places) Lake(id data.LakeID) (*data.Lake, bool) {
	return &data.Lake{ID: id, Name: "Lake " + string(id), Region: "region of " + string(id)}, true
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t: t, store: storetest.New(t), news: make(chan struct{}, 1)}
}

// serve starts a server that sends webhooks, until stop is called.
func (w *world) serve() (stop func()) { return w.serveWith(nil) }

// serveWith starts such a server after a change.
func (w *world) serveWith(change func(d *delivery.Deliverer)) (stop func()) {
	d := delivery.New(delivery.Options{Store: w.store, Holder: fmt.Sprint(time.Now().UnixNano()), AllowHTTP: true, Allow: loopback, UserAgent: "limnomap/test", Present: data.ByClock(w.clock.now),
		Logger: slog.New(slog.NewTextHandler(w, nil)),
		Newest: func() (int64, <-chan struct{}, eventfeed.Places, bool) {
			return w.newest.Load(), w.news, places{}, true
		},
		Attempted: func(bool) {}, Known: func([]hook.Hook) {}})
	if change != nil {
		change(d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { d.Run(ctx); close(ended) }()
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); <-ended }) }
	w.t.Cleanup(stop)
	return stop
}

// happen adds events of lakes to the log.
func (w *world) happen(lakes ...data.LakeID) {
	w.t.Helper()
	var last int64
	err := w.store.NextMoment(w.t.Context(), func(m data.Moment, tx data.MomentTx) (data.Moment, error) {
		m.Number++
		m.At = time.Now().UTC().Truncate(time.Second)
		for _, id := range lakes {
			m.LastSeq++
			e := data.Event{Seq: m.LastSeq, ID: data.EventID(fmt.Sprintf("%032x", m.LastSeq)), LakeID: id, Kind: data.ClassUp, Before: data.NoEventValue(),
				After: data.EventValue{Chlorophyll: 60_00, Level: 2, MeasuredAt: data.Known(int64(1))}}
			if err := tx.PutEvent(&e); err != nil {
				return m, err
			}
		}
		last = m.LastSeq
		return m, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.newest.Store(last)
}

func (w *world) create(address string, filter eventfeed.Filter) hook.Hook {
	w.t.Helper()
	h := hook.New(address, filter, time.Now())
	if err := w.store.CreateHook(w.t.Context(), h); err != nil {
		w.t.Fatal(err)
	}
	return h
}

// hook returns the stored webhook.
func (w *world) hook(id string) hook.Hook {
	w.t.Helper()
	hooks, err := w.store.Hooks(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	i := slices.IndexFunc(hooks, func(h hook.Hook) bool { return h.ID == id })
	if i < 0 {
		w.t.Fatalf("no webhook %s", id)
	}
	return hooks[i]
}

// await waits until cond holds, and wakes servers meanwhile. A busy machine may take a minute.
func (w *world) await(what string, cond func() bool) {
	w.t.Helper()
	for began := time.Now(); !cond(); time.Sleep(5 * time.Millisecond) {
		select {
		case w.news <- struct{}{}:
		default:
		}
		if time.Since(began) > time.Minute {
			w.t.Fatalf("after a minute: not %s\n%s", what, w.logged())
		}
	}
}

// A receiver notes what it gets, and answers as answer says.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []string // lakes of the events, each time they come
	taken  []string // those that it has taken
	ids    []string
	bad    []string
	answer func(n int, w http.ResponseWriter, r *http.Request) bool // reports whether it took the n-th request
	secret hook.Secret
}

func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request) bool) *receiver {
	t.Helper()
	r := &receiver{answer: answer}
	r.Server = httptest.NewServer(http.HandlerFunc(r.receive))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) receive(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var m struct {
		Type string
		Data struct {
			ID     string
			LakeID string `json:"lake_id"`
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	r.mu.Lock()
	n := len(r.got)
	r.got = append(r.got, m.Data.LakeID)
	r.ids = append(r.ids, req.Header.Get("webhook-id"))
	if err != nil || m.Type != "class_up" || m.Data.ID != req.Header.Get("webhook-id") || req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json" ||
		req.Header.Get("User-Agent") != "limnomap/test" {
		r.bad = append(r.bad, fmt.Sprintf("%s %v %s %v", req.Method, req.Header, body, err))
	}
	if r.secret != "" {
		at, _ := time.Parse("2006", "1970")
		var seconds int64
		fmt.Sscan(req.Header.Get("webhook-timestamp"), &seconds)
		signed, err := (&hook.Hook{Secret: r.secret}).Sign(req.Header.Get("webhook-id"), at.Add(time.Duration(seconds)*time.Second), body)
		if err != nil || signed.Signature != req.Header.Get("webhook-signature") {
			r.bad = append(r.bad, "signature "+req.Header.Get("webhook-signature"))
		}
	}
	r.mu.Unlock()
	if r.answer == nil || r.answer(n, w, req) {
		r.mu.Lock()
		r.taken = append(r.taken, m.Data.LakeID)
		r.mu.Unlock()
	}
}

// list returns what came and what was taken.
func (r *receiver) list() (got, taken string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.got, " "), strings.Join(r.taken, " ")
}

func (r *receiver) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.bad) > 0 {
		t.Errorf("wrong requests: %q", r.bad)
	}
}

// Each webhook gets its events, in order, once if nothing fails, also those of the time when no server ran.
func TestDelivers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.happen("before")
	all, some := newReceiver(t, nil), newReceiver(t, nil)
	h := w.create(all.URL+"/path?token=x", eventfeed.Filter{})
	all.secret = h.Secret
	ofSome := w.create(some.URL, eventfeed.Filter{Lakes: []data.LakeID{"b"}})
	region := newReceiver(t, nil)
	ofRegion := w.create(region.URL, eventfeed.Filter{Region: "Region of C", MinLevel: 2})
	w.happen("a", "b", "c")
	stop := w.serve()
	w.await("delivered", func() bool { _, taken := all.list(); return taken == "a b c" })
	for _, of := range []hook.Hook{h, ofSome, ofRegion} { // what was not stored comes twice
		w.await("stored", func() bool { return w.hook(of.ID).After == w.newest.Load() })
	}
	stop()
	w.happen("b", "d")
	w.serve()
	w.happen("e", "b")
	w.await("delivered", func() bool {
		_, one := all.list()
		_, other := some.list()
		_, third := region.list()
		return one == "a b c b d e b" && other == "b b b" && third == "c"
	})
	for _, r := range []*receiver{all, some, region} {
		r.check(t)
	}
	w.await("passed over", func() bool { return w.hook(h.ID).After == w.newest.Load() })
	deliveries, err := w.store.HookDeliveries(t.Context(), h.ID, 100)
	if err != nil || len(deliveries) != 7 || deliveries[0].Status != 200 || deliveries[0].Error != "" || deliveries[0].Attempt != 1 || deliveries[0].Seq != 8 {
		t.Errorf("%d deliveries: %+v, %v", len(deliveries), deliveries, err)
	}
}

// An event that fails is sent again with the same id before the next one, later and later.
func TestRetries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n < 4 {
			w.WriteHeader([]int{500, 301, 404, 503}[n])
		}
		return n >= 4
	})
	h := w.create(r.URL, eventfeed.Filter{})
	w.happen("a", "b")
	w.serve()
	for n := 1; n <= 4; n++ {
		w.await(fmt.Sprintf("failed %d times", n), func() bool { return w.hook(h.ID).Failures == n })
		failed := w.hook(h.ID)
		attempts, err := w.store.HookDeliveries(t.Context(), h.ID, 1)
		if err != nil {
			t.Fatal(err)
		}
		wait, usual := failed.NextAt.Sub(attempts[0].At), 5*time.Second<<(n-1) // both times are whole seconds
		if wait > usual*3/2+time.Second || wait < usual/2-time.Second || failed.FailingSince.IsZero() || !strings.Contains(failed.LastError, []string{"500", "redirect", "404", "503"}[n-1]) {
			t.Errorf("after %d failures: next in %v, %+v", n, wait, failed.Progress)
		}
		if got, _ := r.list(); got != strings.TrimSpace(strings.Repeat("a ", n)) {
			t.Errorf("after %d failures came %q", n, got)
		}
		w.clock.forward(usual * 3 / 2)
	}
	w.await("delivered", func() bool { _, taken := r.list(); return taken == "a b" })
	r.check(t)
	w.await("stored", func() bool { return w.hook(h.ID).After == 2 })
	if after := w.hook(h.ID); after.Failures != 0 || !after.FailingSince.IsZero() || after.LastError != "" || after.DeliveredAt.IsZero() {
		t.Errorf("after the delivery: %+v", after.Progress)
	}
	for i, id := range r.ids {
		if want := fmt.Sprintf("%032x", 1+max(0, i-4)); id != want {
			t.Errorf("request %d has the id %s, want %s", i, id, want)
		}
	}
}

// A receiver that fails for three days is given up, one that is gone at once. Resumed, it gets what it missed.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var repaired atomic.Bool
	failing := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		if !repaired.Load() {
			w.WriteHeader(500)
		}
		return repaired.Load()
	})
	gone := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(410); return false })
	f, g := w.create(failing.URL, eventfeed.Filter{}), w.create(gone.URL, eventfeed.Filter{})
	w.happen("a")
	w.serve()
	w.await("dead", func() bool { return w.hook(g.ID).State == hook.Dead })
	w.await("failed", func() bool { return w.hook(f.ID).Failures == 1 })
	attempts := 1
	for ; w.hook(f.ID).State != hook.Dead && attempts < 100; attempts++ {
		failed := w.hook(f.ID)
		w.clock.forward(failed.NextAt.Sub(w.clock.now()))
		w.await("tried again", func() bool { return w.hook(f.ID).Failures > failed.Failures })
	}
	if h := w.hook(f.ID); h.State != hook.Dead || w.clock.now().Sub(h.FailingSince) < delivery.GiveUpAfter {
		t.Errorf("after more than three days: %+v", h)
	}
	if attempts < 12 || attempts > 60 {
		t.Errorf("%d attempts in three days", attempts)
	}
	if n := strings.Count(w.logged(), "webhook is dead"); n != 2 {
		t.Errorf("%d errors about dead webhooks", n)
	}
	w.happen("b")
	repaired.Store(true)
	if err := w.store.UpdateHook(t.Context(), f.ID, func(h *hook.Hook) error { h.Resume(); return nil }); err != nil {
		t.Fatal(err)
	}
	w.await("delivered", func() bool { _, taken := failing.list(); return taken == "a b" })
	if got, _ := gone.list(); got != "a" {
		t.Errorf("the dead webhook got %q", got)
	}
}

// A transport answers requests with a status. It implements http.RoundTripper.
type transport struct {
	status   atomic.Int64
	requests atomic.Int64
}

func (s *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests.Add(1)
	return &http.Response{StatusCode: int(s.status.Load()), Body: http.NoBody, Request: r}, nil
}

// A clock that is a year ahead for two minutes makes no webhook dead that has failed a few times; when it is right again, the event is sent.
func TestAClockThatIsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		receiver := &transport{}
		receiver.status.Store(http.StatusServiceUnavailable)
		h := w.create("https://one.example.org/", eventfeed.Filter{})
		w.happen("a")
		stop := w.serveWith(func(d *delivery.Deliverer) { d.Use(receiver) })
		time.Sleep(30 * time.Second)
		before := receiver.requests.Load()
		const year = 365 * 24 * time.Hour
		w.clock.forward(year)
		time.Sleep(2 * time.Minute)
		if failed := w.hook(h.ID); before == 0 || receiver.requests.Load() == before || failed.State != hook.Active || failed.NextAt.Before(time.Now().Add(year-time.Hour)) {
			t.Errorf("ahead, after %d attempts and %d before, the webhook is %+v", receiver.requests.Load()-before, before, failed)
		}
		receiver.status.Store(http.StatusInternalServerError)
		w.clock.forward(-year)
		time.Sleep(time.Minute)
		if failed := w.hook(h.ID); failed.State != hook.Active || failed.FailingSince.After(time.Now()) || failed.NextAt.After(time.Now().Add(time.Hour)) {
			t.Errorf("right again, the webhook is %+v", failed)
		}
		receiver.status.Store(http.StatusNoContent)
		time.Sleep(time.Hour)
		stop()
		if sent := w.hook(h.ID); sent.State != hook.Active || sent.After != w.newest.Load() || sent.Failures != 0 {
			t.Errorf("in the end the webhook is %+v", sent)
		}
	})
}

// A receiver that failed for the first time while the clock was ahead fails since now, not until then.
func TestFailingSince(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for stored, want := range map[time.Time]time.Time{{}: now, now.AddDate(1, 0, 0): now, now.AddDate(0, 0, -1): now.AddDate(0, 0, -1)} {
		if got := delivery.FailingSince(stored, now); !got.Equal(want) {
			t.Errorf("stored as %v, it fails since %v, want %v", stored, got, want)
		}
	}
}

// While the clock is in doubt, a receiver that fails is not given up.
func TestInDoubtNoneIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		receiver := &transport{}
		receiver.status.Store(http.StatusServiceUnavailable)
		h := w.create("https://one.example.org/", eventfeed.Filter{})
		if err := w.store.UpdateHook(t.Context(), h.ID, func(h *hook.Hook) error {
			h.Failures, h.FailingSince = 20, time.Now().Add(-2*delivery.GiveUpAfter)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		w.happen("a")
		var sure atomic.Bool
		stop := w.serveWith(func(d *delivery.Deliverer) {
			d.Use(receiver)
			d.Present = func() data.Present {
				if sure.Load() {
					return data.At(w.clock.now())
				}
				return data.Present{Now: w.clock.now(), Also: w.clock.now().AddDate(-1, 0, 0)}
			}
		})
		time.Sleep(10 * time.Second)
		if doubted := w.hook(h.ID); doubted.Failures != 21 || doubted.State != hook.Active {
			t.Errorf("in doubt it is %+v", doubted)
		}
		sure.Store(true)
		w.clock.forward(hook.LongestWait * 3 / 2)
		time.Sleep(10 * time.Second)
		stop()
		if dead := w.hook(h.ID); dead.State != hook.Dead {
			t.Errorf("without a doubt it is %+v", dead)
		}
	})
}

// A receiver that asks for time gets it.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "7200")
		w.WriteHeader(429)
		return false
	})
	h := w.create(r.URL, eventfeed.Filter{})
	w.happen("a")
	w.serve()
	w.await("failed", func() bool { return w.hook(h.ID).Failures == 1 })
	if wait := w.hook(h.ID).NextAt.Sub(w.clock.now()); wait < 110*time.Minute || wait > 2*time.Hour {
		t.Errorf("the next attempt is in %v, want two hours", wait)
	}
}

// Receivers that hang delay no other, and a stop ends the requests to them, which are then no failures.
func TestHangingReceiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hang := make(chan struct{})
	var hanging atomic.Int64
	slow := newReceiver(t, func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		hanging.Add(1)
		select {
		case <-hang:
		case <-r.Context().Done():
		}
		return false
	})
	defer close(hang)
	var ids []string
	for range 20 {
		ids = append(ids, w.create(slow.URL, eventfeed.Filter{}).ID)
	}
	quick := newReceiver(t, nil)
	w.create(quick.URL, eventfeed.Filter{})
	w.happen("a", "b")
	stop := w.serve()
	w.await("delivered beside those that hang", func() bool { _, taken := quick.list(); return taken == "a b" && hanging.Load() >= 2 })
	if n := hanging.Load(); n > 20 {
		t.Errorf("%d requests to 20 webhooks", n)
	}
	stop()
	for _, id := range ids { // a stop that had waited for an answer would have counted a failure
		if h := w.hook(id); h.Failures != 0 || h.After != 0 {
			t.Errorf("stopped meanwhile, the webhook is %+v", h.Progress)
		}
	}
}

// Receivers that hang delay no other, whether they are at one host or at many, and whether they are asked for the first time or again.
func TestManyHangingReceivers(t *testing.T) {
	for name, tt := range map[string]struct {
		hosts, failures int
	}{"one host": {1, 0}, "one host, again": {1, 3}, "many hosts, again": {1000, 3}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				service := &service{}
				for i := range 320 {
					h := w.create(fmt.Sprintf("https://hang%d.example.org/", i%tt.hosts), eventfeed.Filter{})
					if err := w.store.UpdateHook(t.Context(), h.ID, func(h *hook.Hook) error { h.Failures = tt.failures; return nil }); err != nil {
						t.Fatal(err)
					}
				}
				w.create("https://quick.example.org/", eventfeed.Filter{})
				w.happen("a")
				stop := w.serveWith(func(d *delivery.Deliverer) { d.Use(service) })
				began := time.Now()
				for service.count("quick.example.org") == 0 && time.Since(began) < time.Hour {
					time.Sleep(100 * time.Millisecond)
				}
				if waited, asked := time.Since(began), service.count(""); waited >= 5*time.Second || asked == 0 || asked > 16 {
					t.Errorf("beside 320 that hang, an event took %v by the fake clock, after %d other requests", waited, asked)
				}
				stop()
			})
		})
	}
}

// A service answers requests, unless the name of the host begins with hang. It implements http.RoundTripper.
type service struct {
	mu   sync.Mutex
	took map[string]int // by host
	hung int
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	if strings.HasPrefix(r.URL.Host, "hang") {
		s.hung++
		s.mu.Unlock()
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	defer s.mu.Unlock()
	if s.took == nil {
		s.took = make(map[string]int)
	}
	s.took[r.URL.Host]++
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: r}, nil
}

// count returns how many requests a host took, or how many hang.
func (s *service) count(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if host == "" {
		return s.hung
	}
	return s.took[host]
}

// A brokenStore says that there are webhooks that cannot be read.
type brokenStore struct{ *store.Store }

func (s brokenStore) Hooks(ctx context.Context) ([]hook.Hook, error) {
	hooks, err := s.Store.Hooks(ctx)
	return hooks, errors.Join(err, fmt.Errorf("webhook x: %w", hook.ErrBroken))
}

// A webhook that cannot be read keeps no other from its events, and the log says so once.
func TestBrokenHook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, nil)
	w.create(r.URL, eventfeed.Filter{})
	w.serveWith(func(d *delivery.Deliverer) { d.Store = brokenStore{w.store} })
	w.happen("a")
	w.await("delivered", func() bool { _, taken := r.list(); return taken == "a" })
	w.happen("b")
	w.await("delivered", func() bool { _, taken := r.list(); return taken == "a b" })
	if n := strings.Count(w.logged(), "passed over"); n != 1 {
		t.Errorf("it is logged %d times:\n%s", n, w.logged())
	}
}

// More slow receivers than there are places, each with a backlog, share the places with one that is quick: each gets its turn before another
// one has its next. Were the first ones served until they have all, the others would wait for ten minutes.
func TestManySlowReceivers(t *testing.T) {
	t.Parallel()
	const slow, places, turn, backlog = 5, 2, 10 * time.Millisecond, 600
	w := newWorld(t)
	var receivers []*receiver
	for range slow {
		r := newReceiver(t, func(int, http.ResponseWriter, *http.Request) bool { time.Sleep(2 * turn); return true }) // one event a turn
		w.create(r.URL, eventfeed.Filter{})
		receivers = append(receivers, r)
	}
	quick := newReceiver(t, nil)
	w.create(quick.URL, eventfeed.Filter{Lakes: []data.LakeID{"quick"}})
	w.happen(append(slices.Repeat([]data.LakeID{"a"}, backlog), "quick")...)
	w.serveWith(func(d *delivery.Deliverer) { d.Shorten(places, turn) })
	w.await("delivered to the quick one", func() bool { _, taken := quick.list(); return taken == "quick" })
	w.happen("quick")
	w.await("delivered to all", func() bool {
		for _, r := range receivers {
			if _, taken := r.list(); taken == "" {
				return false
			}
		}
		_, taken := quick.list()
		return taken == "quick quick"
	})
}

// Of several servers one sends each event, and another goes on when it has stopped.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, func(int, http.ResponseWriter, *http.Request) bool { time.Sleep(time.Millisecond); return true })
	w.create(r.URL, eventfeed.Filter{})
	var want []string
	first := w.serve()
	for range 2 {
		w.serve()
	}
	for i := range 30 {
		id := data.LakeID(fmt.Sprintf("l%d", i))
		want = append(want, string(id))
		w.happen(id)
		if i == 15 {
			first()
		}
	}
	w.await("delivered", func() bool { _, taken := r.list(); return strings.HasSuffix(taken, "l29") })
	// A server that was stopped between the answer and storing it lets one event come twice.
	got, _ := r.list()
	if unique := slices.Compact(strings.Fields(got)); !slices.Equal(unique, want) {
		t.Errorf("came %s, want each once, in order", got)
	}
}

// What is paused gets nothing, and goes on when it is resumed.
func TestPaused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, other := newReceiver(t, nil), newReceiver(t, nil)
	h := w.create(r.URL, eventfeed.Filter{})
	w.create(other.URL, eventfeed.Filter{})
	set := func(state hook.State) {
		t.Helper()
		if err := w.store.UpdateHook(t.Context(), h.ID, func(h *hook.Hook) error { h.State = state; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	set(hook.Paused)
	w.serve()
	w.happen("a")
	w.await("delivered to the other", func() bool { _, taken := other.list(); return taken == "a" })
	w.happen("b")
	w.await("delivered to the other", func() bool { _, taken := other.list(); return taken == "a b" })
	if got, _ := r.list(); got != "" {
		t.Errorf("paused, it got %q", got)
	}
	set(hook.Active)
	w.await("delivered", func() bool { _, taken := r.list(); return taken == "a b" })
}

// Requests reach public addresses only, however others are written. None of these is answered, since none is asked.
func TestRefusedAddresses(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer target.Close()
	_, port, err := net.SplitHostPort(target.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := delivery.NewClient(nil)
	defer client.CloseIdleConnections()
	for _, host := range []string{
		"127.0.0.1", "localhost", "localhost.", "LOCALHOST", "127.1", "127.0.1", "0.0.0.0", "0", "2130706433", "0x7f000001", "0x7f.0.0.1", "017700000001", "0177.0.0.1", "127.0.0.2", "127.255.255.254",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[::1%25lo]",
		"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "[::ffff:10.0.0.1]", "[fc00::1]", "[fd12:3456::1]", "[fe80::1]", "[fe80::1%25lo]", "[fec0::1]", "[64:ff9b::a00:1]", "[2002:a00:1::]",
		"169.254.169.254", "169.254.170.2", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "2852039166", "0xa9fea9fe", "100.100.100.200", "100.64.0.1", "168.63.129.16", "192.0.0.192",
		"metadata.google.internal", "metadata", "198.18.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "[2001:db8::1]", "224.0.0.1", "255.255.255.255", "240.0.0.1", "[ff02::1]", "[100::1]",
		"127.0.0.1.nip.io.invalid",
	} {
		for _, scheme := range []string{"http", "https"} {
			h := hook.New(scheme+"://"+host+":"+port+"/", eventfeed.Filter{}, time.Now())
			result := delivery.Send(t.Context(), client, &h, "id", []byte("{}"), time.Now(), "test", true)
			if result.Status != 0 || result.Error == "" {
				t.Errorf("%s: %+v, want it refused", h.URL, result)
			}
			if strings.HasPrefix(result.Error, "dial tcp") && !strings.Contains(result.Error, fetchguard.ErrRefused.Error()) && !strings.Contains(result.Error, "lookup") && !strings.Contains(result.Error, "route") {
				t.Errorf("%s: %s", h.URL, result.Error)
			}
		}
	}
	// A redirect is not followed, wherever it leads, and a proxy in the environment is not used.
	redirect := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusTemporaryRedirect))
	defer redirect.Close()
	allowed := delivery.NewClient(loopback)
	h := hook.New(redirect.URL, eventfeed.Filter{}, time.Now())
	if result := delivery.Send(t.Context(), allowed, &h, "id", []byte("{}"), time.Now(), "test", true); result.Status != 307 || !strings.Contains(result.Error, "redirect") {
		t.Errorf("a redirect: %+v", result)
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests reached this machine", n)
	}
	h = hook.New(target.URL, eventfeed.Filter{}, time.Now())
	if result := delivery.Send(t.Context(), allowed, &h, "id", []byte("{}"), time.Now(), "test", true); result.Status != 200 || reached.Load() != 1 {
		t.Errorf("an allowed address: %+v", result)
	}
	if result := delivery.Send(t.Context(), allowed, &h, "id", []byte("{}"), time.Now(), "test", false); result.Status != 0 || !strings.Contains(result.Error, "want https") {
		t.Errorf("plain HTTP: %+v", result)
	}
}

// An answer may be as long as it likes: a small part of it is read.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, 1<<20)
		for range 1 << 10 {
			n, err := w.Write(b)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	client := delivery.NewClient(loopback)
	h := hook.New(server.URL, eventfeed.Filter{}, time.Now())
	if result := delivery.Send(t.Context(), client, &h, "id", []byte("{}"), time.Now(), "test", true); result.Error != "" || result.Status != 200 {
		t.Errorf("%+v", result)
	}
	server.Close()
	if n := sent.Load(); n > 64<<20 {
		t.Errorf("%d bytes of the answer were sent", n)
	}
}

// An error says what is wrong without the address, which may have a secret.
func TestErrorsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	client := delivery.NewClient(loopback)
	for address, want := range map[string]string{
		server.URL + "/secret":                "certificate",
		"https://no-such-host.invalid/secret": "no such host",
		"http://127.0.0.1:1/secret":           "refused",
		"https://127.0.0.1:1/secret#part":     "fragment",
		"ftp://127.0.0.1:1/secret":            "want one such as",
		"https://127.0.0.1:1/secret\x7f":      "cannot be read",
	} {
		h := hook.New(address, eventfeed.Filter{}, time.Now())
		result := delivery.Send(t.Context(), client, &h, "id", []byte("{}"), time.Now(), "test", true)
		if result.Error == "" || strings.Contains(result.Error, "secret") || want != "no such host" && !strings.Contains(result.Error, want) {
			t.Errorf("%s: %q, want it to contain %q", address, result.Error, want)
		}
	}
	// A webhook that was made where plain HTTP is allowed.
	plain := hook.New("http://127.0.0.1:1/secret", eventfeed.Filter{}, time.Now())
	if result := delivery.Send(t.Context(), client, &plain, "id", []byte("{}"), time.Now(), "test", false); !strings.Contains(result.Error, "want https") || strings.Contains(result.Error, "secret") {
		t.Errorf("plain HTTP that is not allowed: %q", result.Error)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("stopped"))
	defer cancel()
	<-ctx.Done()
	h := hook.New(server.URL+"/secret", eventfeed.Filter{}, time.Now())
	if result := delivery.Send(ctx, client, &h, "id", []byte("{}"), time.Now(), "test", true); result.Error == "" || strings.Contains(result.Error, "secret") {
		t.Errorf("stopped: %q", result.Error)
	}
}

// What a receiver answers reaches a terminal and the log without its own words and without control characters.
func TestErrorsArePrintable(t *testing.T) {
	t.Parallel()
	const evil = "\x1b[2J\u202e\tfine"
	for name, tt := range map[string]struct{ answer, want string }{
		"status":        {"HTTP/1.1 500 " + evil + "\r\n\r\n", "the receiver answers 500 Internal Server Error"},
		"unknown":       {"HTTP/1.1 599 " + evil + "\r\n\r\n", "the receiver answers 599"},
		"redirect":      {"HTTP/1.1 302 " + evil + "\r\nLocation: /\r\n\r\n", "the receiver answers with a redirect (302 Found); redirects are not followed"},
		"location":      {"HTTP/1.1 302 Found\r\nLocation: http://[" + evil + "\r\n\r\n", ""},
		"no HTTP":       {evil + "\r\n\r\n", ""},
		"broken header": {"HTTP/1.1 200 OK\r\n" + evil + "\r\n\r\n", ""},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.WriteString(conn, tt.answer)
			}
		}()
		client := delivery.NewClient(loopback)
		h := hook.New("http://"+listener.Addr().String()+"/", eventfeed.Filter{}, time.Now())
		result := delivery.Send(t.Context(), client, &h, "id", []byte("{}"), time.Now(), "test", true)
		if result.Error == "" || tt.want != "" && result.Error != tt.want {
			t.Errorf("%s: %q, want %q", name, result.Error, tt.want)
		}
		for _, r := range result.Error {
			if !unicode.IsPrint(r) {
				t.Errorf("%s: %q has the character %U", name, result.Error, r)
			}
		}
		_ = listener.Close()
		<-answered
		client.CloseIdleConnections()
	}
}
