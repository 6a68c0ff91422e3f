package notify_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/events/push"
	"limnomap/data/events/push/notify"
	"limnomap/data/events/push/pushtest"
	"limnomap/data/snapshot"
	"limnomap/data/testsize"
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

// Push services that hang do not keep a closure from those that answer: not those of one host, nor of many, nor those that one client made at the host
// of the others, whether they are asked for the first time or again.
func TestHangingPushServices(t *testing.T) {
	const quick = 20
	for _, tt := range []struct {
		name     string
		endpoint func(i int) string
		clients  int
		again    bool // they have failed before, and the others have been told before
		most     int  // requests that hang, before all others are told
	}{
		{"one host", func(i int) string { return fmt.Sprint("https://hang.example.org/", i) }, 1000, false, 2},
		{"one host, again", func(i int) string { return fmt.Sprint("https://hang.example.org/", i) }, 1000, true, 2},
		{"many hosts, again", func(i int) string { return fmt.Sprintf("https://hang%d.example.org/", i) }, 1000, true, 16},
		{"the same host, one client", func(i int) string { return fmt.Sprint("https://push.example.org/hang", i) }, 1, false, 24},
		{"the same host, without a client", func(i int) string { return fmt.Sprint("https://push.example.org/hang", i) }, 0, false, 24},
		{"the same host, again", func(i int) string { return fmt.Sprint("https://push.example.org/hang", i) }, 1000, true, 24},
	} {
		for _, hanging := range testsize.Of([]int{320}, []int{320, 960}) {
			t.Run(fmt.Sprint(tt.name, " ", hanging), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBubble(t)
					for i := range hanging {
						client := "" // of a subscription from before there were clients
						if tt.clients > 0 {
							client = fmt.Sprint("hostile", i%tt.clients)
						}
						b.add(tt.endpoint(i), client, "l00")
					}
					if tt.again {
						b.fail()
					}
					for i := range quick {
						b.add(fmt.Sprint("https://push.example.org/", i), fmt.Sprint(i), "l00")
					}
					stop := b.begin()
					defer stop()
					b.happen(closed("l00", data.AdvisoryIssued))
					began := time.Now()
					for taken := 0; taken < quick && time.Since(began) < time.Hour; taken, _ = b.network.counts() {
						time.Sleep(100 * time.Millisecond)
					}
					if _, hung := b.network.counts(); time.Since(began) > 20*time.Second || hung > tt.most || hung == 0 {
						t.Errorf("beside %d that hang, a closure took %v by the fake clock, after %d requests to them, want %d at most", hanging, time.Since(began), hung, tt.most)
					}
				})
			})
		}
	}
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

// What an import changed is sent while the rest of it is put into the queue, and a closure, although the last of the events, before all else.
func TestMessagesLeaveWhileTheyAreMade(t *testing.T) {
	const subscriptions, lakes = 400, 20
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t)
		var all []data.LakeID
		var events []data.Event
		for i := range lakes {
			all = append(all, data.LakeID(fmt.Sprintf("l%02d", i)))
			events = append(events, changed(all[i], 0, 2))
		}
		for i := range subscriptions {
			b.add(fmt.Sprint("https://push.example.org/", i), fmt.Sprint(i), all...)
		}
		stop := b.begin()
		defer stop()
		pages := 0
		b.network.first = func() { pages, _ = b.store.counts() }
		b.happen(append(events, closed("l00", data.AdvisoryIssued))...)
		for taken := 0; taken < subscriptions*(lakes+1); taken, _ = b.network.counts() {
			time.Sleep(time.Second)
		}
		if total, _ := b.store.counts(); pages == 0 || pages >= total || total < 4 {
			t.Errorf("the first message leaves after %d of %d pages", pages, total)
		}
		first := b.network.took[:subscriptions]
		if i := slices.IndexFunc(first, func(m string) bool { return !strings.HasPrefix(m, "high") }); i >= 0 {
			t.Errorf("message %d is %s, want the closure to all first", i, first[i])
		}
	})
}

// While push services fail, what is due is looked up once a second at most, and nothing that waits for a later attempt is found.
func TestFailingPushServicesAreQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t)
		for i := range 200 {
			b.add(fmt.Sprint("https://push.example.org/", i), fmt.Sprint(i), "l00", "l01")
		}
		b.network.failed = true
		stop := b.begin()
		defer stop()
		b.happen(changed("l00", 0, 2), changed("l01", 0, 2))
		time.Sleep(10 * time.Minute)
		pages, looks := b.store.counts()
		if taken, _ := b.network.counts(); taken < 1000 || taken > 4000 || looks > 610 || pages > 3 {
			t.Errorf("in ten minutes %d attempts for 200 subscriptions, %d looks, %d pages", taken, looks, pages)
		}
		due, err := b.store.Store.DueSubscriptions(t.Context(), time.Now())
		if err != nil || len(due) > 20 {
			t.Errorf("%d are due, %v, though all have failed many times", len(due), err)
		}
		// Back, it gets a closure at once, and what waits with it.
		b.network.mu.Lock()
		b.network.failed, b.network.took = false, nil
		b.network.mu.Unlock()
		b.happen(closed("l00", data.AdvisoryIssued))
		time.Sleep(time.Minute)
		if taken, _ := b.network.counts(); taken != 3*200 {
			t.Errorf("a minute after a closure %d messages were taken, want %d", taken, 3*200)
		}
	})
}

// What a push service has taken while the disk of the database was full does not keep the subscription from a closure, and is not sent twice.
func TestOutcomeIsStoredLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t)
		b.add("https://push.example.org/one", "c", "l00")
		stop := b.begin()
		defer stop()
		b.store.full.Store(true)
		b.happen(changed("l00", 0, 2))
		time.Sleep(5 * time.Second)
		b.happen(closed("l00", data.AdvisoryIssued))
		time.Sleep(20 * time.Second)
		if taken, _ := b.network.counts(); taken != 1 {
			t.Fatalf("while the disk was full, %d messages were taken, want the first", taken)
		}
		b.store.full.Store(false)
		time.Sleep(5 * time.Second)
		if taken, _ := b.network.counts(); taken != 2 {
			t.Errorf("5 s later %d messages were taken, want the closure too", taken)
		}
	})
}

// A server that stops while a push service hangs ends its lease: the next server sends the message at once.
func TestStopEndsLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t)
		b.add("https://hangs.example.org/one", "c", "l00")
		stop := b.begin()
		b.happen(closed("l00", data.AdvisoryIssued))
		time.Sleep(3 * time.Second)
		if _, hung := b.network.counts(); hung == 0 {
			t.Fatal("there was no attempt")
		}
		stop()
		due, err := b.store.DueSubscriptions(t.Context(), time.Now())
		if err != nil || len(due) != 1 {
			t.Errorf("after the stop %d subscriptions are due, %v, want the one whose message was on its way", len(due), err)
		}
	})
}
