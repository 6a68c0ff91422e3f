// Package notify sends notifications to browsers by Web Push (RFC 8030), encrypted (RFC 8291) and signed (RFC 8292).
package notify

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"limnomap/data/events/hook/delivery"
	"limnomap/data/events/push"
	"limnomap/data/snapshot"
)

const (
	atOnce  = 32  // subscriptions that are told at the same time
	dueOnce = 256 // that are looked up at once: after an event at many lakes all are due, and each look goes through them
	// lease is how long a subscription belongs to the server that tells it; after tellFor no more messages of one subscription are begun.
	lease   = 2 * time.Minute
	tellFor = time.Minute
	// giveUpAfter is how long a push service may fail before what waits for a subscription is dropped: it is old news then.
	giveUpAfter = 3 * 24 * time.Hour
	// keepFor is how long a push service keeps a message for a browser that is not there. What then arrives at night is shown without a sound.
	keepFor   = 24 * time.Hour
	pollEvery = time.Second
	dropEvery = time.Hour
	maxAnswer = 4 << 10
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

// Private returns the secret part of the key as text, Public the one for browsers.
func (k Key) Private() string { return k.private }
func (k Key) Public() string  { return k.public }

// A Store has the subscriptions and the queue; see store.Store.
type Store interface {
	QueueNotifications(ctx context.Context, newest int64, now time.Time) (more bool, err error)
	DueSubscriptions(ctx context.Context, now time.Time, limit int) ([]string, error)
	LeaseNotifications(ctx context.Context, id, holder string, now, until time.Time) (n push.Pending, taken bool, err error)
	EndNotifications(ctx context.Context, id, holder string, o push.Outcome) error
	DeleteSubscription(ctx context.Context, id string) error
	DropSubscriptions(ctx context.Context, renewedBefore time.Time) (int64, error)
}

// Options configure a Sender. All fields are required but Allow.
type Options struct {
	Store   Store
	Holder  string // a unique name of this process
	Key     Key
	Contact string         // an https or mailto address of the operator, for the operators of push services
	Allow   []netip.Prefix // private addresses that may be reached
	Now     func() time.Time
	Logger  *slog.Logger
	// Newest returns the number of the newest event, a channel that is closed when there is another one, and the published snapshot; nil before
	// it is known.
	Newest    func() (newest int64, news <-chan struct{}, snap *snapshot.Snapshot)
	Attempted func(result string) // is called after each attempt with "sent", "failed" or "gone"
}

// A Sender sends notifications while a server runs.
type Sender struct {
	Options
	client *http.Client
	places chan struct{} // one for each subscription that is being told
	ended  chan struct{} // has a value when one was told

	queued  int64    // the number of the event up to which the queue was filled; -1 at first
	due     []string // subscriptions that were due when they were looked up
	dropped time.Time
}

// New returns a Sender that does nothing before Run.
func New(o Options) *Sender {
	return &Sender{Options: o, client: delivery.NewClient(o.Allow), places: make(chan struct{}, atOnce), ended: make(chan struct{}, 1), queued: -1}
}

// Run sends until ctx ends, and waits for the requests in progress.
func (s *Sender) Run(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var group sync.WaitGroup
	defer group.Wait()
	failed := false
	for {
		newest, news, snap := s.Newest()
		if snap != nil {
			err := s.step(ctx, &group, newest, snap)
			if err != nil && !failed && ctx.Err() == nil {
				s.Logger.Error("notifications cannot be sent", "err", err)
			}
			failed = err != nil
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-s.ended:
		case <-news:
		}
	}
}

// step queues what is new, drops old subscriptions if it is time, and begins to tell those for which something is due and for which there is a place.
func (s *Sender) step(ctx context.Context, group *sync.WaitGroup, newest int64, snap *snapshot.Snapshot) error {
	if newest != s.queued {
		for more := true; more; {
			var err error
			if more, err = s.Store.QueueNotifications(ctx, newest, s.Now()); err != nil {
				return err
			}
		}
		s.queued = newest
		s.due = nil // something urgent may come first now
	}
	if now := s.Now(); now.Sub(s.dropped) >= dropEvery {
		if _, err := s.Store.DropSubscriptions(ctx, now.Add(-push.KeepFor)); err != nil {
			return err
		}
		s.dropped = now
	}
	if len(s.due) == 0 {
		var err error
		if s.due, err = s.Store.DueSubscriptions(ctx, s.Now(), dueOnce); err != nil {
			return err
		}
	}
	for len(s.due) > 0 && len(s.places) < atOnce { // only this goroutine takes places
		id := s.due[0]
		s.due = s.due[1:]
		n, taken, err := s.Store.LeaseNotifications(ctx, id, s.Holder, s.Now(), s.Now().Add(lease))
		if err != nil {
			return err
		}
		if !taken {
			continue
		}
		s.places <- struct{}{}
		group.Go(func() {
			if err := s.tell(ctx, &n, snap); err != nil && ctx.Err() == nil {
				s.Logger.Error("notification could not be stored", "err", err)
			}
			<-s.places
			select {
			case s.ended <- struct{}{}:
			default:
			}
		})
	}
	return nil
}

// tell sends a subscription what it may be told of now.
func (s *Sender) tell(ctx context.Context, n *push.Pending, snap *snapshot.Snapshot) error {
	began := time.Now()
	night, until := n.Night(s.Now())
	messages, done := Messages(n, snap)
	o := push.Outcome{Progress: n.Progress, Done: done}
	for i := range messages {
		m := &messages[i]
		if night && !m.urgent() { // it was due by day, and could not be sent
			o.Later, o.LaterAt = append(o.Later, m.events...), until
			continue
		}
		if time.Since(began) > tellFor {
			break
		}
		status, err := s.send(ctx, &n.Subscription, m)
		if ctx.Err() != nil {
			return ctx.Err() // the lease ends by itself, and the next server sends again
		}
		if status == http.StatusNotFound || status == http.StatusGone { // RFC 8030, section 7.3: the subscription is over
			s.Attempted("gone")
			return s.Store.DeleteSubscription(ctx, n.ID)
		}
		if err != nil {
			s.Attempted("failed")
			s.Logger.Warn("push service refused a notification", "service", host(n.Endpoint), "err", err)
			s.fail(n, &o)
			break
		}
		s.Attempted("sent")
		o.Progress = push.Progress{}
		o.Done = append(o.Done, m.events...)
	}
	return s.Store.EndNotifications(ctx, n.ID, s.Holder, o)
}

// fail notes in the outcome that a message was not taken.
func (s *Sender) fail(n *push.Pending, o *push.Outcome) {
	now := s.Now()
	o.Progress = push.Progress{Failures: n.Failures + 1, FailingSince: n.FailingSince, NextAt: now.Add(delivery.WaitAfter(n.Failures + 1))}
	if o.FailingSince.IsZero() {
		o.FailingSince = now
	}
	if now.Sub(o.FailingSince) > giveUpAfter {
		o.Done = nil
		for i := range n.Events {
			o.Done = append(o.Done, n.Events[i].Seq)
		}
	}
}

// send sends a message. The error says why the push service did not take it.
func (s *Sender) send(ctx context.Context, to *push.Subscription, m *Message) (status int, err error) {
	text, err := json.Marshal(m)
	if err != nil {
		return 0, err
	}
	resp, err := webpush.SendNotificationWithContext(ctx, text, &webpush.Subscription{Endpoint: to.Endpoint, Keys: webpush.Keys{Auth: to.Auth, P256dh: to.P256dh}},
		&webpush.Options{HTTPClient: s.client, Subscriber: strings.TrimPrefix(s.Contact, "mailto:"), Topic: m.topic(), TTL: int(keepFor / time.Second), Urgency: m.urgency(),
			VAPIDPublicKey: s.Key.public, VAPIDPrivateKey: s.Key.private})
	if err != nil {
		return 0, delivery.WithoutURL(err) // the endpoint is a secret
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // only to be polite: the status is known
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return resp.StatusCode, fmt.Errorf("it answers %s", delivery.StatusText(resp.StatusCode))
	}
	return resp.StatusCode, nil
}

// host returns the host of an endpoint, which is no secret.
func host(endpoint string) string {
	rest := strings.TrimPrefix(endpoint, "https://")
	h, _, _ := strings.Cut(rest, "/")
	return h
}
