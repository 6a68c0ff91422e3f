package notify_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/events/push"
	"limnomap/data/events/push/notify"
	"limnomap/data/events/push/pushtest"
	"limnomap/data/snapshot"
)

// A network has push services that answer, and those whose host or path begins with hang, which do not. It implements http.RoundTripper.
type network struct {
	mu     sync.Mutex
	hung   int
	took   []string // the urgency of each message that was taken, and its path
	failed bool     // all answer 503
	first  func()   // is called before the first message is taken
	// asks returns a status and a Retry-After for a request; nil: it is taken.
	asks func(r *http.Request) (status int, after string)
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	if strings.HasPrefix(r.URL.Host, "hang") || strings.HasPrefix(r.URL.Path, "/hang") {
		n.hung++
		n.mu.Unlock()
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	defer n.mu.Unlock()
	if n.first != nil {
		n.first()
		n.first = nil
	}
	status := http.StatusCreated
	if n.failed {
		status = http.StatusServiceUnavailable
	}
	resp := &http.Response{StatusCode: status, Body: http.NoBody, Request: r, Header: http.Header{}}
	if n.asks != nil {
		var after string
		resp.StatusCode, after = n.asks(r)
		resp.Header.Set("Retry-After", after)
	}
	n.took = append(n.took, r.Header.Get("Urgency")+r.URL.Path)
	return resp, nil
}

func (n *network) counts() (taken, hung int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.took), n.hung
}

// A countingStore counts what is asked of it.
type countingStore struct {
	notify.Store
	mu           sync.Mutex
	pages, looks int
	full         atomic.Bool // no outcome can be stored
}

func (s *countingStore) EndNotifications(ctx context.Context, id, holder string, o push.Outcome) error {
	if s.full.Load() {
		return errors.New("the disk is full")
	}
	return s.Store.EndNotifications(ctx, id, holder, o)
}

func (s *countingStore) QueueNotifications(ctx context.Context, newest int64, now time.Time) (more, urgent bool, err error) {
	s.mu.Lock()
	s.pages++
	s.mu.Unlock()
	return s.Store.QueueNotifications(ctx, newest, now)
}

func (s *countingStore) DueSubscriptions(ctx context.Context, now time.Time) ([]push.Due, error) {
	s.mu.Lock()
	s.looks++
	s.mu.Unlock()
	return s.Store.DueSubscriptions(ctx, now)
}

func (s *countingStore) counts() (pages, looks int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pages, s.looks
}

// A bubble is a world with the fake clock of synctest, and a network.
type bubble struct {
	*world
	network *network
	store   *countingStore // of the world
	browser *pushtest.Browser
	present func() data.Present
}

func newBubble(t *testing.T) *bubble {
	t.Helper()
	w := newWorld(t)
	w.now.Store(time.Now().Unix())
	return &bubble{world: w, network: &network{}, store: &countingStore{Store: w.store}, browser: pushtest.NewBrowser(t), present: data.ByClock(time.Now)}
}

// add stores a subscription, made by a client, for which it is day.
func (b *bubble) add(endpoint, client string, lakes ...data.LakeID) {
	b.t.Helper()
	p := push.Subscription{Endpoint: endpoint, P256dh: b.browser.P256dh(), Auth: b.browser.Auth(), Lakes: lakes, Zone: "Asia/Tokyo", RenewedAt: time.Now(), Client: client}
	if err := p.Check(); err != nil {
		b.t.Fatal(err)
	}
	b.subscribe(p)
}

// begin fills the queue with what has happened, which is no news, and starts a server.
func (b *bubble) begin() (stop func()) {
	b.t.Helper()
	if more, _, err := b.store.Store.QueueNotifications(b.t.Context(), b.newest.Load(), time.Now()); err != nil || more {
		b.t.Fatal(more, err)
	}
	return b.serve()
}

// believed is what clock.Clock does.
func (b *bubble) believed(ctx context.Context) (time.Time, error) {
	p := b.present()
	if p.Doubtful() {
		return time.Time{}, nil
	}
	return b.world.store.Believe(ctx, p.Now)
}

// serve starts a server, until stop is called.
func (b *bubble) serve() (stop func()) {
	s := notify.NewWith(notify.Options{Store: b.store, Holder: "x", Key: notify.NewKey(), Contact: "mailto:lakes@example.org", Services: push.Services{"*"}, Present: b.present, Believed: b.believed,
		Logger: slog.New(slog.DiscardHandler), Newest: func() (int64, <-chan struct{}, *snapshot.Snapshot) { return b.newest.Load(), b.news, b.snap }, Attempted: func(string) {}}, b.network)
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan struct{})
	go func() { s.Run(ctx); close(ended) }()
	return func() { cancel(); <-ended }
}

// fail makes all subscriptions fail, with something that waits for them.
func (b *bubble) fail() {
	b.t.Helper()
	if more, _, err := b.store.Store.QueueNotifications(b.t.Context(), b.newest.Load(), time.Now()); err != nil || more {
		b.t.Fatal(more, err)
	}
	b.happen(closed("l00", data.AdvisoryIssued))
	if _, _, err := b.store.Store.QueueNotifications(b.t.Context(), b.newest.Load(), time.Now()); err != nil {
		b.t.Fatal(err)
	}
	due, err := b.store.Store.DueSubscriptions(b.t.Context(), time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, d := range due {
		if _, taken, err := b.store.LeaseNotifications(b.t.Context(), d.ID, "x", time.Now(), time.Now().Add(time.Minute)); err != nil || !taken {
			b.t.Fatal(taken, err)
		}
		if err := b.store.EndNotifications(b.t.Context(), d.ID, "x", push.Outcome{Progress: push.Progress{Failures: 3, FailingSince: time.Now(), NextAt: time.Now()}}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// ahead makes the clock of servers show another time than it is; it returns a function that sets by how much.
func (b *bubble) ahead() (set func(time.Duration)) {
	var offset atomic.Int64
	b.present = func() data.Present { return data.At(time.Now().Add(time.Duration(offset.Load()))) }
	return func(d time.Duration) { offset.Store(int64(d)) }
}

func (b *bubble) fails(failed bool) {
	b.network.mu.Lock()
	defer b.network.mu.Unlock()
	b.network.failed = failed
}

func (b *bubble) wantCounts(when string, subscriptions, queued int64) {
	b.t.Helper()
	if s, q := b.counts(); s != subscriptions || q != queued {
		b.t.Errorf("%s: %d subscriptions and %d events that wait, want %d and %d", when, s, q, subscriptions, queued)
	}
}

// newFailing returns a bubble with a server and one subscription, whose push service fails, and something to tell it.
func newFailing(t *testing.T) (b *bubble, ahead func(time.Duration), stop func()) {
	b = newBubble(t)
	ahead = b.ahead()
	b.add("https://push.example.org/one", "c", "l00")
	b.fails(true)
	stop = b.begin()
	b.happen(changed("l00", 0, 2))
	return b, ahead, stop
}
