package notify_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
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

	"github.com/golang-jwt/jwt/v5"
	"github.com/paulmach/orb"
	"go.uber.org/goleak"

	"limnomap/data"
	"limnomap/data/events/push"
	"limnomap/data/events/push/notify"
	"limnomap/data/events/push/pushtest"
	"limnomap/data/snapshot"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A service is a push service (RFC 8030) with browsers by path.
type service struct {
	*httptest.Server
	t   *testing.T
	key notify.Key

	mu       sync.Mutex
	browsers map[string]*pushtest.Browser
	status   map[string]int // that a path answers; 201 if there is none
	after    map[string]int // so many messages are taken before
	hanging  map[string]chan struct{}
	got      []string // path and message
	headers  []http.Header
}

func newService(t *testing.T, key notify.Key) *service {
	t.Helper()
	s := &service{t: t, key: key, browsers: make(map[string]*pushtest.Browser), status: make(map[string]int), after: make(map[string]int), hanging: make(map[string]chan struct{})}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	b := s.browsers[r.URL.Path]
	if err != nil || b == nil || r.Method != http.MethodPost || r.Header.Get("Content-Encoding") != "aes128gcm" || r.Header.Get("TTL") == "" {
		s.t.Errorf("%s %s with %v: %v", r.Method, r.URL, r.Header, err)
		return
	}
	if err := s.checkKey(r); err != nil {
		s.t.Errorf("Authorization %q: %v", r.Header.Get("Authorization"), err)
	}
	if hang := s.hanging[r.URL.Path]; hang != nil {
		s.mu.Unlock()
		<-hang
		s.mu.Lock()
	}
	if s.after[r.URL.Path]--; s.after[r.URL.Path] >= 0 {
		// as usual
	} else if status := s.status[r.URL.Path]; status != 0 {
		w.WriteHeader(status)
		return
	}
	text, err := b.Decrypt(body)
	if err != nil {
		s.t.Errorf("message to %s: %v", r.URL.Path, err)
		return
	}
	s.got = append(s.got, r.URL.Path+" "+string(text))
	s.headers = append(s.headers, r.Header)
	w.WriteHeader(http.StatusCreated)
}

// checkKey checks that the sender is who the browser allowed to send (RFC 8292).
func (s *service) checkKey(r *http.Request) error {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "vapid t=")
	token, key, ok2 := strings.Cut(text, ", k=")
	if !ok || !ok2 || key != s.key.Public() {
		return errors.New("not the known key")
	}
	point, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return err
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	claims := jwt.MapClaims{}
	_, err = jwt.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return public, nil },
		jwt.WithAudience("https://"+r.Host), jwt.WithExpirationRequired(), jwt.WithValidMethods([]string{"ES256"}))
	if err == nil && claims["sub"] != "mailto:lakes@example.org" {
		err = fmt.Errorf("sub %v", claims["sub"])
	}
	return err
}

// subscribe adds a browser, and returns its subscription.
func (s *service) subscribe(name string, lakes ...data.LakeID) push.Subscription {
	s.t.Helper()
	b := pushtest.NewBrowser(s.t)
	s.mu.Lock()
	s.browsers["/"+name] = b
	s.mu.Unlock()
	p := push.Subscription{Endpoint: s.URL + "/" + name, P256dh: b.P256dh(), Auth: b.Auth(),
		Lakes: lakes, Zone: "UTC", RenewedAt: noon}
	if err := p.Check(); err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *service) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func (s *service) answer(name string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status["/"+name] = status
}

// answerAfter answers so after n more messages.
func (s *service) answerAfter(name string, n, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after["/"+name], s.status["/"+name] = n, status
}

func (s *service) hang(name string, until chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hanging["/"+name] = until
}

var noon = time.Date(2026, time.July, 6, 12, 0, 0, 0, time.UTC)

// A world is a database, its snapshot, and a clock.
type world struct {
	t      *testing.T
	store  *store.Store
	snap   *snapshot.Snapshot
	newest atomic.Int64
	now    atomic.Int64  // Unix seconds
	news   chan struct{} // wakes a server
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := storetest.New(t)
	err := s.Import(t.Context(), func(tx store.Tx) error {
		var lakes []data.Lake
		for i := range 20 {
			id := fmt.Sprintf("l%02d", i)
			lakes = append(lakes, data.Lake{ID: data.LakeID(id), ExternalID: id, Name: "Größer See " + id + strings.Repeat("x", 90*(i%2)), Point: orb.Point{1, 2}})
		}
		if _, err := tx.PutLakes(t.Context(), lakes, store.LakeColumns{}); err != nil {
			return err
		}
		_, err := tx.PutObservations(t.Context(), []data.Observation{{LakeID: "l00", Date: data.DateOf(noon), Chlorophyll: 500, Level: data.NoLevel, CellDensity: data.NoCellDensity}}, store.ObservationColumns{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	profile, err := data.ProfileByID("who2003")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.Load(t.Context(), s, &snapshot.Options{AsOf: snapshot.Newest, Profile: profile, StaleAfter: 28, Weeks: 10, Present: data.ByClock(time.Now)})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: s, snap: snap, news: make(chan struct{}, 1)}
	w.now.Store(noon.Unix())
	w.happen() // the first moment
	return w
}

func (w *world) time() time.Time { return time.Unix(w.now.Load(), 0).UTC() }

// happen adds events to the log.
func (w *world) happen(events ...data.Event) {
	w.t.Helper()
	err := w.store.NextMoment(w.t.Context(), func(m data.Moment, tx data.MomentTx) (data.Moment, error) {
		m.Number++
		m.At = w.time()
		for i := range events {
			e := &events[i]
			m.LastSeq++
			e.Seq, e.ID = m.LastSeq, data.EventID(fmt.Sprintf("%032x", m.LastSeq))
			if err := tx.PutEvent(e); err != nil {
				return m, err
			}
		}
		w.newest.Store(m.LastSeq)
		return m, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func value(level data.Level) data.EventValue {
	if level < 0 {
		return data.NoEventValue()
	}
	return data.EventValue{Chlorophyll: data.Chlorophyll(20_00 * int(level)), Level: level, MeasuredAt: data.Known(noon.Unix())}
}

// changed is an event of a lake whose level changed.
func changed(id data.LakeID, before, after data.Level) data.Event {
	kind := data.ClassUp
	switch {
	case after < 0:
		kind = data.BecameStale
	case before < 0:
		kind = data.BecameCurrent
	case after < before:
		kind = data.ClassDown
	}
	return data.Event{LakeID: id, Kind: kind, Before: value(before), After: value(after)}
}

func closed(id data.LakeID, kind data.EventKind) data.Event {
	return data.Event{LakeID: id, Kind: kind, Before: value(0), After: value(0),
		Advisory: data.EventAdvisory{ID: "s", Kind: data.Closure, Issuer: "Amt", ValidUntil: noon.AddDate(0, 0, 7)}}
}

// closed returns the snapshot with a closure of a lake.
func (w *world) closed(lake data.LakeID, id data.AdvisoryID) *snapshot.Snapshot {
	w.t.Helper()
	err := w.store.Import(w.t.Context(), func(tx store.Tx) error {
		_, err := tx.PutAdvisories(w.t.Context(), []data.Advisory{{ID: id, LakeID: lake, Kind: data.Closure, Issuer: "Amt", Issued: noon, ValidFrom: noon}}, store.AdvisoryColumns{})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := snapshot.Load(w.t.Context(), w.store, &snapshot.Options{AsOf: snapshot.Newest, Profile: w.snap.Profile, StaleAfter: 28, Weeks: 10, Present: data.ByClock(func() time.Time { return noon.Add(time.Hour) })})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// send starts a server that sends notifications, until stop is called.
func (w *world) send(s *service) (stop func()) {
	o := notify.Options{Store: w.store, Holder: rand.Text(), Key: s.key, Contact: "mailto:lakes@example.org", Services: push.Services{strings.TrimPrefix(s.URL, "https://")}, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Present: data.ByClock(w.time), Believed: func(context.Context) (time.Time, error) { return w.time(), nil },
		Logger: slog.New(slog.DiscardHandler), Newest: func() (int64, <-chan struct{}, *snapshot.Snapshot) { return w.newest.Load(), w.news, w.snap }, Attempted: func(string) {}}
	sender := notify.NewForTest(o, s.Certificate())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { sender.Run(ctx); close(ended) }()
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); <-ended }) }
	w.t.Cleanup(stop)
	return stop
}

func (w *world) await(what string, cond func() bool) {
	w.t.Helper()
	for began := time.Now(); !cond(); time.Sleep(5 * time.Millisecond) {
		select {
		case w.news <- struct{}{}:
		default:
		}
		if time.Since(began) > time.Minute {
			w.t.Fatalf("after a minute: not %s", what)
		}
	}
}

// counts returns how many subscriptions there are, and events that wait.
func (w *world) counts() (subscriptions, queued int64) {
	w.t.Helper()
	subscriptions, queued, err := w.store.PushCounts(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return subscriptions, queued
}

func (w *world) subscribe(p push.Subscription) {
	w.t.Helper()
	if err := w.store.PutSubscription(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
}

// A browser is told of its lakes, by day, and gets no more when it is gone.
func TestNotifies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newService(t, notify.NewKey())
	one := s.subscribe("one", "l00", "l01")
	closures := s.subscribe("closures", "l00")
	closures.Threshold = push.ClosuresOnly
	gone := s.subscribe("gone", "l00")
	s.answer("gone", http.StatusGone)
	for _, p := range []push.Subscription{one, closures, gone} {
		w.subscribe(p)
	}
	stop := w.send(s)
	w.await("begun", func() bool {
		more, _, err := w.store.QueueNotifications(t.Context(), w.newest.Load(), w.time())
		return err == nil && !more
	})
	w.happen(changed("l00", 0, 2), changed("l02", 0, 2), closed("l00", data.AdvisoryIssued))
	w.await("told", func() bool { return len(s.list()) == 3 })
	got := s.list()
	slices.Sort(got)
	want := `/closures {"lakes":[{"id":"l00","name":"Größer See l00","kind":"advisory_issued","before":0,"after":0,"chl":0,"measured_at":"2026-07-06T12:00:00Z","advisory":{"id":"s","kind":"closure","issuer":"Amt","valid_until":"2026-07-13T12:00:00Z"}}]}`
	if got[0] != want {
		t.Errorf("told\n%s, want\n%s", got[0], want)
	}
	for i, want := range []string{`"kind":"advisory_issued","before":0,`, `"kind":"class_up","before":0,"after":2,`} {
		if !strings.HasPrefix(got[1+i], `/one {"lakes":[{"id":"l00","name":"Größer See l00",`+want) {
			t.Errorf("told %s, want %s", got[1+i], want)
		}
	}
	topics := make(map[string]bool)
	for i, message := range s.list() {
		h, urgency := s.headers[i], "normal"
		if strings.Contains(message, "closure") {
			urgency = "high"
		}
		if topics[h.Get("Topic")] = true; h.Get("Urgency") != urgency || h.Get("TTL") != "86400" || len(h.Get("Topic")) != 16 {
			t.Errorf("header %v of %s", h, message)
		}
	}
	if len(topics) != 2 {
		t.Errorf("%d topics, want that of the lake's value and that of the statement", len(topics))
	}
	w.await("without the one that is gone", func() bool { n, queued := w.counts(); return n == 2 && queued == 0 })

	// At night nothing comes; what rose and fell again until the morning is no news.
	w.now.Store(noon.Add(11 * time.Hour).Unix())
	w.happen(changed("l00", 0, 2), changed("l01", 0, 1))
	w.happen(changed("l00", 2, 0))
	w.await("queued", func() bool { _, queued := w.counts(); return queued == 3 })
	time.Sleep(50 * time.Millisecond)
	if n := len(s.list()); n != 3 {
		t.Errorf("%d messages at night", n-3)
	}
	stop()
	w.now.Store(noon.Add(19 * time.Hour).Unix())
	w.send(s)
	w.await("told in the morning", func() bool { _, queued := w.counts(); return queued == 0 })
	if got := s.list(); len(got) != 4 || !strings.Contains(got[3], `"id":"l01"`) || !strings.Contains(got[3], `"kind":"class_up","before":0,"after":1`) || strings.Contains(got[3], strings.Repeat("x", 80)) {
		t.Errorf("told in the morning: %q", got[3:])
	}
}

// A push service that fails is asked again later.
func TestPushServiceFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newService(t, notify.NewKey())
	w.subscribe(s.subscribe("one", "l00"))
	s.answer("one", http.StatusServiceUnavailable)
	w.send(s)
	w.await("begun", func() bool {
		more, _, err := w.store.QueueNotifications(t.Context(), w.newest.Load(), w.time())
		return err == nil && !more
	})
	w.happen(changed("l00", 0, 2))
	due := func() int {
		ids, err := w.store.DueSubscriptions(t.Context(), w.time().AddDate(0, 0, 1))
		if err != nil {
			t.Fatal(err)
		}
		return len(ids)
	}
	w.await("queued", func() bool { _, queued := w.counts(); return queued == 1 })
	w.await("failed", func() bool {
		ids, err := w.store.DueSubscriptions(t.Context(), w.time())
		return err == nil && len(ids) == 0 && due() == 1
	})
	s.answer("one", 0)
	w.await("told", func() bool { w.now.Add(1); _, queued := w.counts(); return queued == 0 && len(s.list()) == 1 })
}

// What was due by day and could not be sent waits for the morning, unless it is a closure; a message that was taken is not sent again because of another.
func TestNightAfterAFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newService(t, notify.NewKey())
	w.subscribe(s.subscribe("one", "l00", "l01", "l02"))
	w.now.Store(noon.Add(9*time.Hour + 59*time.Minute).Unix()) // 21:59
	w.send(s)
	w.await("begun", func() bool {
		more, _, err := w.store.QueueNotifications(t.Context(), w.newest.Load(), w.time())
		return err == nil && !more
	})
	s.answerAfter("one", 2, http.StatusTooManyRequests)
	w.happen(changed("l00", 0, 2), changed("l01", 0, 2), closed("l02", data.AdvisoryIssued), changed("l02", 0, 1))
	w.await("two told", func() bool { _, queued := w.counts(); return len(s.list()) == 2 && queued == 2 })
	s.answer("one", 0)
	w.now.Add(600) // 22:09
	w.happen(closed("l01", data.AdvisoryIssued))
	w.await("the closure told", func() bool { _, queued := w.counts(); return len(s.list()) == 3 && queued == 2 })
	w.now.Store(noon.Add(19*time.Hour - time.Second).Unix())
	time.Sleep(50 * time.Millisecond)
	if n := len(s.list()); n != 3 {
		t.Errorf("%d messages at night, want the closure", n-2)
	}
	w.now.Store(noon.Add(19 * time.Hour).Unix())
	w.await("the rest told", func() bool { _, queued := w.counts(); return len(s.list()) == 5 && queued == 0 })
	var order []string
	for _, message := range s.list() {
		_, rest, _ := strings.Cut(message, `"id":"`)
		order = append(order, rest[:3])
	}
	if want := []string{"l02", "l00", "l01", "l01", "l02"}; !slices.Equal(order, want) {
		t.Errorf("told of %v, want %v", order, want)
	}
}

// A browser whose push service hangs does not keep others from being told.
func TestPushServiceHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := newService(t, notify.NewKey())
	hang := make(chan struct{})
	defer close(hang)
	s.hang("one", hang)
	w.subscribe(s.subscribe("one", "l00"))
	w.subscribe(s.subscribe("two", "l01"))
	stop := w.send(s)
	defer stop()
	w.await("begun", func() bool {
		more, _, err := w.store.QueueNotifications(t.Context(), w.newest.Load(), w.time())
		return err == nil && !more
	})
	for n := 1; n < 4; n++ { // while the first request lasts
		w.happen(changed("l00", 0, 2), changed("l01", 0, 2))
		w.await("told", func() bool { return len(s.list()) == n })
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	key := notify.NewKey()
	again, err := notify.ParseKey(" " + key.Private() + "\n")
	if err != nil || again != key || len(key.Public()) != 87 {
		t.Errorf("%+v is read as %+v, %v", key, again, err)
	}
	addr := netip.MustParseAddr
	one := key.Client(addr("192.0.2.1"))
	if len(one) != 6 || key.Client(addr("::ffff:192.0.2.1")) != one || key.Client(addr("192.0.2.2")) == one && key.Client(addr("192.0.2.3")) == one || notify.NewKey().Client(addr("192.0.2.1")) == one {
		t.Errorf("the client of 192.0.2.1 is %q", one)
	}
	if a, b := key.Client(addr("2001:db8:1:2::3")), key.Client(addr("2001:db8:1:ffff::1%eth0")); a != b || len(a) != 6 || key.Client(netip.Addr{}) != "" {
		t.Errorf("two addresses of one site are the clients %q and %q", a, b)
	}
	for _, wrong := range []string{"", "x", key.Public(), strings.Repeat("A", 43)} {
		if _, err := notify.ParseKey(wrong); err == nil {
			t.Errorf("%q was read as a key", wrong)
		}
	}
}
