package delivery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
	"limnomap/data/events/hook/delivery"
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

// happen adds events of lakes to the log: a closure for those whose name begins with closed, and for others that their level rose.
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
			if isClosed(string(id)) {
				e.Kind, e.Advisory = data.AdvisoryIssued, data.EventAdvisory{ID: data.AdvisoryID(id), Kind: data.Closure, Issuer: "Amt"}
			}
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

func isClosed(lake string) bool { return strings.HasPrefix(lake, "closed") }

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
	if err != nil || (m.Type == "advisory_issued") != isClosed(m.Data.LakeID) || m.Data.ID != req.Header.Get("webhook-id") || req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json" ||
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

// A transport answers requests with a status. It implements http.RoundTripper.
type transport struct {
	status   atomic.Int64
	requests atomic.Int64
}

func (s *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	s.requests.Add(1)
	return &http.Response{StatusCode: int(s.status.Load()), Body: http.NoBody, Request: r}, nil
}
