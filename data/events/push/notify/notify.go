// Package notify sends notifications to browsers by Web Push (RFC 8030), encrypted (RFC 8291) and signed (RFC 8292).
package notify

import (
	"cmp"
	"context"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"limnomap/data"
	"limnomap/data/events/hook/delivery"
	"limnomap/data/events/push"
	"limnomap/data/snapshot"
)

const (
	// atOnce is how many subscriptions are told at the same time; delivery.Shares says which, when some push services hang. A request with its TLS
	// connection takes less than 100 kB.
	atOnce = 64
	// What is due is looked up when nothing of the last look is left, and every lookEvery: others became due, or other servers have told some.
	lookEvery = 10 * time.Second
	// lease is how long a subscription belongs to the server that tells it: longer than tellFor, after which no more messages of one subscription are begun,
	// since others wait, and a request (delivery.NewClient) together, and less than a minute: if the server dies, another one tells a closure after it.
	lease   = 45 * time.Second
	tellFor = 10 * time.Second
	// urgentWait is the longest wait before something urgent is tried again, also if a push service asks for more: when it is back, a closure must not
	// wait for hours.
	urgentWait = 5 * time.Minute
	// maxPauses bounds the push services that are known to have asked for time, some 100 bytes each.
	maxPauses = 10_000
	// skipped is how many subscriptions of one host are passed over at once because those who made them have their share of the places.
	skipped = 100
	// keepFor is how long a push service keeps a message for a browser that is not there. What then arrives at night is shown without a sound.
	keepFor   = 24 * time.Hour
	pollEvery = time.Second
	dropEvery = time.Hour
	// endTimeout is how long a server that stops takes to end its leases.
	endTimeout = 5 * time.Second
	maxAnswer  = 4 << 10
	// maxMessageBytes fit into what each push service takes, 4096 bytes (RFC 8030, section 7.2), when they are encrypted (RFC 8291, section 4).
	maxMessageBytes = 3900
	maxMessageLakes = 8
	maxNameRunes    = 80
)

// A Key signs what a server sends, so that push services take it only from that server.
type Key struct{ private, public string }

// NewKey returns a random key.
func NewKey() Key {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		panic("notify: a random key: " + err.Error()) // crypto/rand does not fail
	}
	return keyOf(private)
}

// ParseKey reads what Key.Private returns.
func ParseKey(text string) (Key, error) {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(text))
	if err == nil {
		var private *ecdh.PrivateKey
		if private, err = ecdh.P256().NewPrivateKey(b); err == nil {
			return keyOf(private), nil
		}
	}
	return Key{}, errors.New("the key is not one that limnomap push keys prints")
}

func keyOf(private *ecdh.PrivateKey) Key {
	return Key{base64.RawURLEncoding.EncodeToString(private.Bytes()), base64.RawURLEncoding.EncodeToString(private.PublicKey().Bytes())}
}

// Client returns what stands for the network of an address in subscriptions: three bytes of a hash with the secret key, so that the database tells no
// address, and even with the key some hundred addresses are possible. A network is an IPv4 address, or the /48 of an IPv6 one, which one site gets
// (RFC 6177).
func (k Key) Client(a netip.Addr) string {
	a = a.Unmap().WithZone("")
	if !a.IsValid() {
		return ""
	}
	bits := a.BitLen()
	if a.Is6() {
		bits = siteBits
	}
	network, _ := a.Prefix(bits) // the address has as many
	mac := hmac.New(sha256.New, []byte(k.private))
	mac.Write([]byte("client " + network.String())) // never fails
	return hex.EncodeToString(mac.Sum(nil)[:3])
}

const siteBits = 48

// Private returns the secret part of the key as text, Public the one for browsers.
func (k Key) Private() string { return k.private }
func (k Key) Public() string  { return k.public }

// A Store has the subscriptions and the queue; see store.Store.
type Store interface {
	QueueNotifications(ctx context.Context, newest int64, now time.Time) (more, urgent bool, err error)
	DueSubscriptions(ctx context.Context, now time.Time) ([]push.Due, error)
	LeaseNotifications(ctx context.Context, id, holder string, now, until time.Time) (n push.Pending, taken bool, err error)
	EndNotifications(ctx context.Context, id, holder string, o push.Outcome) error
	DeleteSubscription(ctx context.Context, id string) error
	DropSubscriptions(ctx context.Context, renewedBefore time.Time) (int64, error)
}

// Options configure a Sender. All fields are required but Allow.
type Options struct {
	Store    Store
	Holder   string // a unique name of this process
	Key      Key
	Contact  string         // an https or mailto address of the operator, for the operators of push services
	Services push.Services  // to which messages are sent: subscriptions may be older than this list
	Allow    []netip.Prefix // private addresses that may be reached
	Present  func() data.Present
	// Believed returns the time by which subscriptions are old enough to be dropped; the zero time: none is.
	Believed func(context.Context) (time.Time, error)
	Logger   *slog.Logger
	// Newest returns the number of the newest event, a channel that is closed when there is another one, and the published snapshot; nil before
	// it is known.
	Newest    func() (newest int64, news <-chan struct{}, snap *snapshot.Snapshot)
	Attempted func(result string) // is called after each attempt with "sent", "failed" or "gone"
}

// A Sender sends notifications while a server runs.
type Sender struct {
	Options
	client *http.Client
	shares *delivery.Shares
	ended  chan struct{} // has a value when a subscription was told

	mu     sync.Mutex
	pauses map[string]pause // by host

	// Of Run only:
	queued  int64 // the number of the event up to which the queue was filled; -1 at first
	due     [classes]map[string][]push.Due
	looked  time.Time // when due was looked up
	broken  bool      // a subscription that cannot be read was logged
	dropped time.Time
}

// New returns a Sender that does nothing before Run.
func New(o Options) *Sender {
	return &Sender{Options: o, client: delivery.NewClient(o.Allow), shares: delivery.NewShares(atOnce), ended: make(chan struct{}, 1), pauses: make(map[string]pause), queued: -1}
}

// Run sends until ctx ends, and waits for the requests in progress.
func (s *Sender) Run(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var group sync.WaitGroup
	defer group.Wait()
	failed := false
	again := make(chan struct{})
	close(again)
	for {
		newest, news, snap := s.Newest()
		next := again
		if snap == nil {
			next = nil
		} else {
			more, err := s.step(ctx, &group, newest, snap)
			if err != nil || !more {
				next = nil
			}
			if errors.Is(err, data.ErrAway) {
				err = nil // who loads newer data tells of it
			}
			if err != nil && !failed && ctx.Err() == nil {
				s.Logger.Error("notifications cannot be sent", "error", err)
			}
			failed = err != nil
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-s.ended:
		case <-news:
		case <-next:
		}
	}
}

// step puts a page of what is new into the queue, drops old subscriptions if it is time, and begins to tell those for which something is due and for which
// there is a place. It reports whether there are more pages: messages leave between them.
func (s *Sender) step(ctx context.Context, group *sync.WaitGroup, newest int64, snap *snapshot.Snapshot) (more bool, err error) {
	urgent := false
	if newest != s.queued {
		if more, urgent, err = s.Store.QueueNotifications(ctx, newest, s.now()); err != nil {
			return false, err
		}
		if !more {
			s.queued = newest
		}
	}
	if s.dropped.IsZero() || time.Since(s.dropped) >= dropEvery {
		if err := s.drop(ctx); err != nil {
			return false, err
		}
	}
	since := time.Since(s.looked)
	if urgent || since >= lookEvery || s.left() == 0 && (more || since >= pollEvery) {
		if err := s.look(ctx); err != nil {
			return false, err
		}
	}
	return more, s.start(ctx, group, snap)
}

// drop removes the subscriptions that nobody renewed, unless the clock is in doubt.
func (s *Sender) drop(ctx context.Context) error {
	began := time.Now()
	believed, err := s.Believed(ctx)
	if err != nil || believed.IsZero() {
		return err
	}
	if _, err := s.Store.DropSubscriptions(ctx, believed.Add(-push.KeepFor)); err != nil {
		return err
	}
	s.dropped = began
	return nil
}

func (s *Sender) now() time.Time { return s.Present().Now }

// The classes of what is due, in their order: what is urgent before all else, and in each of both first the subscriptions that were told before, then new
// ones, and those that failed last.
const classes = 6

func classOf(d *push.Due) int {
	class := 0
	if !d.Urgent {
		class = classes / 2
	}
	switch {
	case d.Failing:
		return class + 2
	case !d.Told:
		return class + 1
	}
	return class
}

// look looks up what is due. Within a class the order is random: no client can choose it.
func (s *Sender) look(ctx context.Context) error {
	due, err := s.Store.DueSubscriptions(ctx, s.now())
	if err != nil {
		return err
	}
	s.looked = time.Now()
	mathrand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	for class := range s.due {
		s.due[class] = make(map[string][]push.Due)
	}
	for i := range due {
		of := s.due[classOf(&due[i])]
		of[due[i].Host] = append(of[due[i].Host], due[i])
	}
	return nil
}

// left returns the number of hosts with something due in all classes.
func (s *Sender) left() (n int) {
	for _, hosts := range s.due {
		n += len(hosts)
	}
	return n
}

// start begins to tell what is due as far as there are places.
func (s *Sender) start(ctx context.Context, group *sync.WaitGroup, snap *snapshot.Snapshot) error {
	round := s.shares.Round()
	for class, hosts := range s.due {
		for host, waiting := range hosts { // in random order
			for passed := 0; len(waiting) > 0 && passed < min(skipped, len(waiting)) && !s.shares.Full(); {
				d := waiting[0]
				waiting = waiting[1:]
				place := round.Take(delivery.Turn{Host: d.Host, Client: cmp.Or(d.Client, delivery.Unknown), Urgent: d.Urgent, Retry: d.Failing})
				if place == nil {
					waiting = append(waiting, d)
					passed++
					continue
				}
				if !s.allowed(host, class < classes/2) { // maybe since an answer a moment ago
					place.Return()
					waiting = append(waiting, d)
					break
				}
				if err := s.startOne(ctx, group, snap, d.ID, place); err != nil {
					return err
				}
			}
			if hosts[host] = waiting; len(waiting) == 0 {
				delete(hosts, host)
			}
			if s.shares.Full() {
				return nil
			}
		}
	}
	return nil
}

// startOne begins to tell a subscription, unless another server does, and returns the place when it was told.
func (s *Sender) startOne(ctx context.Context, group *sync.WaitGroup, snap *snapshot.Snapshot, id string, place *delivery.Place) error {
	n, taken, err := s.Store.LeaseNotifications(ctx, id, s.Holder, s.now(), s.now().Add(lease))
	if err != nil || !taken {
		place.Return()
		if !errors.Is(err, push.ErrBroken) {
			return err
		}
		if !s.broken {
			s.broken = true
			s.Logger.Error("a subscription to notifications is passed over", "error", err)
		}
		return nil
	}
	group.Go(func() {
		if err := s.tell(ctx, &n, snap, place); err != nil && ctx.Err() == nil {
			s.Logger.Error("notification could not be stored", "error", err)
		}
		place.Return()
		select {
		case s.ended <- struct{}{}:
		default:
		}
	})
	return nil
}

// tell sends a subscription what it may be told of now.
func (s *Sender) tell(ctx context.Context, n *push.Pending, snap *snapshot.Snapshot, place *delivery.Place) error {
	began := time.Now()
	night, until := n.Night(s.now())
	messages, done := Messages(n, snap)
	o := push.Outcome{Progress: n.Progress, Done: done}
	for i := range messages {
		m := &messages[i]
		if night && !m.urgent() { // it was due by day, and could not be sent
			o.Later, o.LaterAt = append(o.Later, m.events...), until
			continue
		}
		if time.Since(began) > tellFor || place.Urgent && !m.urgent() { // others wait for something urgent: the rest has a turn of its own
			break
		}
		sent := time.Now()
		status, after, err := s.send(ctx, &n.Subscription, m)
		if ctx.Err() != nil { // the server stops, and the next one sends this message again
			break
		}
		if status == http.StatusServiceUnavailable { // before others get a place because the service answers
			s.pause(push.HostOf(n.Endpoint), after)
		}
		place.Answered(status != 0 && time.Since(sent) < delivery.SlowAfter)
		if status == http.StatusNotFound || status == http.StatusGone { // RFC 8030, section 7.3: the subscription is over
			s.Attempted("gone")
			return s.Store.DeleteSubscription(ctx, n.ID)
		}
		if err != nil {
			s.Attempted("failed")
			s.Logger.Warn("push service refused a notification", "service", push.HostOf(n.Endpoint), "error", err)
			s.fail(n, &o, m.urgent(), after)
			break
		}
		s.pause(push.HostOf(n.Endpoint), 0)
		s.Attempted("sent")
		o.Progress, o.Told = push.Progress{}, true
		o.Done = append(o.Done, m.events...)
	}
	return s.end(ctx, n.ID, o)
}

// end stores the outcome, and tries again as long as the lease lasts: while the disk of the database is full, or it is away, a message that was
// taken must not keep the subscription from the next one, and is not sent twice.
func (s *Sender) end(ctx context.Context, id string, o push.Outcome) error {
	for began := time.Now(); ; {
		err := s.Store.EndNotifications(ctx, id, s.Holder, o)
		if err == nil || time.Since(began) >= lease {
			return err
		}
		select {
		case <-ctx.Done(): // the server stops: the next one need not wait until the lease is over
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
			defer cancel()
			return s.Store.EndNotifications(ending, id, s.Holder, o)
		case <-time.After(pollEvery):
		}
	}
}

// A pause says until when a push service that answered 503 with Retry-After is not asked again. A 429 is about one subscription (RFC 8030, section 8.4),
// so that none can silence the others.
type pause struct{ urgent, other time.Time }

// pause notes how long a push service wants to be left alone.
func (s *Sender) pause(host string, wait time.Duration) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pauses, host)
	if wait == 0 {
		return
	}
	maps.DeleteFunc(s.pauses, func(_ string, p pause) bool { return !p.other.After(now) })
	if len(s.pauses) < maxPauses {
		s.pauses[host] = pause{now.Add(min(wait, urgentWait)), now.Add(wait)}
	}
}

// allowed reports whether a request to a push service may begin now: none while it wants to be left alone, but for something urgent one every urgentWait,
// and all when it has taken that.
func (s *Sender) allowed(host string, urgent bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	switch p := s.pauses[host]; {
	case !now.Before(p.other):
		return true
	case urgent && !now.Before(p.urgent):
		p.urgent = now.Add(urgentWait)
		s.pauses[host] = p
		return true
	}
	return false
}

// fail notes in the outcome that a message was not taken, and that the push service asks for a wait.
func (s *Sender) fail(n *push.Pending, o *push.Outcome, urgent bool, after time.Duration) {
	at := s.Present()
	wait := max(delivery.WaitAfter(n.Failures+1), after)
	if urgent {
		wait = min(wait, urgentWait)
	}
	o.Progress = push.Progress{Failures: n.Failures + 1, FailingSince: delivery.FailingSince(n.FailingSince, at.Now), NextAt: at.Now.Add(wait)}
	if delivery.GivenUp(o.Failures, o.FailingSince, at) { // it is old news by now
		o.Done = nil
		for i := range n.Events {
			o.Done = append(o.Done, n.Events[i].Seq)
		}
	}
}

// send sends a message. The error says why the push service did not take it, and after how long it wants to be asked again.
func (s *Sender) send(ctx context.Context, to *push.Subscription, m *Message) (status int, after time.Duration, err error) {
	if err := s.Services.Check(to.Endpoint); err != nil {
		return 0, 0, err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return 0, 0, err
	}
	resp, err := webpush.SendNotificationWithContext(ctx, text, &webpush.Subscription{Endpoint: to.Endpoint, Keys: webpush.Keys{Auth: to.Auth, P256dh: to.P256dh}},
		&webpush.Options{HTTPClient: s.client, Subscriber: strings.TrimPrefix(s.Contact, "mailto:"), Topic: m.topic(), TTL: int(keepFor / time.Second), Urgency: m.urgency(),
			VAPIDPublicKey: s.Key.public, VAPIDPrivateKey: s.Key.private})
	if err != nil {
		return 0, 0, delivery.WithoutURL(err) // the endpoint is a secret
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // only to be polite: the status is known
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return resp.StatusCode, delivery.RetryAfter(resp, s.now()), fmt.Errorf("it answers %s", delivery.StatusText(resp.StatusCode))
	}
	return resp.StatusCode, 0, nil
}
