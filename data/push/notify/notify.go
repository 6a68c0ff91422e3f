// Package notify sends notifications to browsers by Web Push (RFC 8030), encrypted (RFC 8291) and signed (RFC 8292).
package notify

import (
	"cmp"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"limnomap/data"
	"limnomap/data/hook/delivery"
	"limnomap/data/push"
)

const (
	atOnce  = 16
	dueOnce = 256 // subscriptions that are looked up at once
	lease   = 2 * time.Minute
	// giveUpAfter is how long a push service may fail before what waits for a subscription is dropped: it is old news then.
	giveUpAfter = 3 * 24 * time.Hour
	// keepFor is how long a push service keeps a message for a browser that is not there.
	keepFor   = 24 * time.Hour
	pollEvery = time.Second
	dropEvery = time.Hour
	maxAnswer = 4 << 10
	// The most lakes and characters of a message, so that it fits into the 4096 bytes that each push service takes (RFC 8030, section 7.2).
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

// A Store has the subscriptions and the queue; see store.Pushes.
type Store interface {
	QueueNotifications(ctx context.Context, newest int64, now time.Time) (more bool, err error)
	DueSubscriptions(ctx context.Context, now time.Time, limit int) ([]string, error)
	ClaimNotifications(ctx context.Context, id, holder string, now, until time.Time) (n push.Pending, claimed bool, err error)
	EndNotifications(ctx context.Context, id, holder string, now time.Time, last int64, p push.Progress, giveUp time.Time) error
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
	Newest    func() (newest int64, news <-chan struct{}, snap *data.Snapshot)
	Attempted func(result string) // is called after each attempt with "sent", "failed" or "gone"
}

// A Sender sends notifications while a server runs.
type Sender struct {
	Options
	client *http.Client
}

// New returns a Sender that does nothing before Run.
func New(o Options) *Sender {
	return &Sender{Options: o, client: delivery.NewClient(o.Allow)}
}

// Run sends until ctx ends, and waits for the requests in progress.
func (s *Sender) Run(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	queued, failed := int64(-1), false
	var dropped time.Time
	for {
		newest, news, snap := s.Newest()
		if snap != nil {
			err := s.step(ctx, newest, &queued, &dropped, snap)
			if err != nil && !failed && ctx.Err() == nil {
				s.Logger.Error("notifications cannot be sent", "err", err)
			}
			failed = err != nil
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-news:
		}
	}
}

// step queues what is new, sends what is due, and drops old subscriptions if it is time.
func (s *Sender) step(ctx context.Context, newest int64, queued *int64, dropped *time.Time, snap *data.Snapshot) error {
	for more := newest != *queued; more; {
		var err error
		if more, err = s.Store.QueueNotifications(ctx, newest, s.Now()); err != nil {
			return err
		}
	}
	*queued = newest
	if now := s.Now(); now.Sub(*dropped) >= dropEvery {
		if _, err := s.Store.DropSubscriptions(ctx, now.Add(-push.KeepFor)); err != nil {
			return err
		}
		*dropped = now
	}
	due, err := s.Store.DueSubscriptions(ctx, s.Now(), dueOnce)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	defer group.Wait()
	places := make(chan struct{}, atOnce)
	for _, id := range due {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		group.Go(func() {
			defer func() { <-places }()
			if err := s.tell(ctx, id, snap); err != nil && ctx.Err() == nil {
				s.Logger.Error("notification could not be stored", "err", err)
			}
		})
	}
	return nil
}

// tell sends a subscription what it may be told of.
func (s *Sender) tell(ctx context.Context, id string, snap *data.Snapshot) error {
	now := s.Now()
	n, claimed, err := s.Store.ClaimNotifications(ctx, id, s.Holder, now, now.Add(lease))
	if err != nil || !claimed {
		return err
	}
	last := int64(math.MaxInt64) // also what is no longer in the log
	progress := push.Progress{}
	for _, m := range Messages(&n, snap) {
		status, err := s.send(ctx, &n.Subscription, &m)
		if ctx.Err() != nil {
			return ctx.Err() // the claim ends by itself, and the next server sends again
		}
		switch {
		case status == http.StatusNotFound || status == http.StatusGone: // RFC 8030, section 7.3: the subscription is over
			s.Attempted("gone")
			return s.Store.DeleteSubscription(ctx, id)
		case err != nil:
			s.Attempted("failed")
			progress = push.Progress{Failures: n.Failures + 1, FailingSince: n.FailingSince, NextAt: now.Add(delivery.WaitAfter(n.Failures + 1))}
			if progress.FailingSince.IsZero() {
				progress.FailingSince = now
			}
		default:
			s.Attempted("sent")
		}
		if err != nil {
			s.Logger.Warn("push service refused a notification", "service", host(n.Endpoint), "err", err)
			break
		}
	}
	return s.Store.EndNotifications(ctx, id, s.Holder, now, last, progress, now.Add(-giveUpAfter))
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
		return resp.StatusCode, fmt.Errorf("it answers %s", resp.Status)
	}
	return resp.StatusCode, nil
}

// host returns the host of an endpoint, which is no secret.
func host(endpoint string) string {
	rest := strings.TrimPrefix(endpoint, "https://")
	h, _, _ := strings.Cut(rest, "/")
	return h
}

// A Message is what a browser gets. Its service worker makes sentences of it, in the reader's language.
type Message struct {
	Lakes []LakeNews `json:"lakes"`
	More  int        `json:"more,omitempty"`  // further lakes of a summary
	Daily bool       `json:"daily,omitempty"` // a summary
}

// LakeNews is what happened to a lake since the browser was told last.
type LakeNews struct {
	ID         data.LakeID   `json:"id"`
	Name       string        `json:"name"`
	Kind       string        `json:"kind"` // of the last event
	Before     *int          `json:"before"`
	After      *int          `json:"after"` // levels
	Chl        *float64      `json:"chl"`
	MeasuredAt *string       `json:"measured_at"`
	MeasuredBy string        `json:"measured_by,omitempty"`
	Advisory   *AdvisoryNews `json:"advisory,omitempty"`
	urgent     bool
}

// AdvisoryNews is an official statement in a notification.
type AdvisoryNews struct {
	Kind       string  `json:"kind"`
	Issuer     string  `json:"issuer"`
	ValidUntil *string `json:"valid_until"`
}

// topic replaces an earlier message about the same lake that the push service still has (RFC 8030, section 5.4).
func (m *Message) topic() string {
	about := "summary"
	if !m.Daily {
		about = string(m.Lakes[0].ID)
	}
	sum := sha256.Sum256([]byte(about))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

func (m *Message) urgency() webpush.Urgency {
	for i := range m.Lakes {
		if m.Lakes[i].urgent {
			return webpush.UrgencyHigh
		}
	}
	return webpush.UrgencyNormal
}

// Messages returns the messages about what waits: one for each lake, or for a daily summary one for all, except closures. What happened to a lake
// is one piece of news: a level that rose and fell again meanwhile is none.
func Messages(n *push.Pending, snap *data.Snapshot) (messages []Message) {
	var news []*LakeNews
	of := make(map[data.LakeID]*LakeNews)
	for i := range n.Events {
		e := &n.Events[i]
		l := of[e.LakeID]
		if l == nil {
			l = newLakeNews(e, snap)
			of[e.LakeID] = l
			news = append(news, l)
		}
		l.add(e)
	}
	var summary []LakeNews
	for _, l := range news {
		switch {
		case !l.tells():
		case n.Daily && !l.urgent:
			summary = append(summary, *l)
		default:
			messages = append(messages, Message{Lakes: []LakeNews{*l}})
		}
	}
	if len(summary) > 0 {
		shown := min(len(summary), maxMessageLakes)
		messages = append(messages, Message{Lakes: summary[:shown], More: len(summary) - shown, Daily: true})
	}
	return messages
}

// newLakeNews returns news that begin with an event, without it.
func newLakeNews(first *data.Event, snap *data.Snapshot) *LakeNews {
	l := &LakeNews{ID: first.LakeID, Name: string(first.LakeID), Before: levelOf(first.Before)}
	if i, ok := snap.Index(first.LakeID); ok {
		l.Name = begin(cmp.Or(snap.Lakes[i].Name, l.Name))
		if state := &snap.Current.States[i]; state.Risk != data.RiskUnknown {
			l.MeasuredBy = state.MeasuredBy.String()
		}
	}
	return l
}

// add adds an event.
func (l *LakeNews) add(e *data.Event) {
	l.After = levelOf(e.After)
	l.Chl, l.MeasuredAt = nil, nil
	if e.After.Chlorophyll.Valid() {
		chl := e.After.Chlorophyll.Float()
		l.Chl = &chl
	}
	if e.After.MeasuredAt.Known {
		l.MeasuredAt = timeText(time.Unix(e.After.MeasuredAt.Value, 0))
	}
	if !e.Kind.OfAdvisory() {
		if l.Advisory == nil {
			l.Kind = e.Kind.String()
		}
		return
	}
	l.Kind = e.Kind.String()
	l.Advisory = &AdvisoryNews{Kind: e.Advisory.Kind.String(), Issuer: begin(e.Advisory.Issuer)}
	if !e.Advisory.ValidUntil.IsZero() {
		l.Advisory.ValidUntil = timeText(e.Advisory.ValidUntil)
	}
	l.urgent = push.Urgent(e)
}

// tells reports whether there is anything to tell.
func (l *LakeNews) tells() bool {
	if l.Advisory != nil {
		return true
	}
	switch {
	case l.Before == nil && l.After == nil || l.Before != nil && l.After != nil && *l.Before == *l.After:
		return false
	case l.After == nil:
		l.Kind = data.BecameStale.String()
	case l.Before == nil:
		l.Kind = data.BecameCurrent.String()
	case *l.After > *l.Before:
		l.Kind = data.ClassUp.String()
	default:
		l.Kind = data.ClassDown.String()
	}
	return true
}

func levelOf(v data.EventValue) *int {
	if v.Level == data.NoLevel {
		return nil
	}
	level := int(v.Level)
	return &level
}

func timeText(t time.Time) *string {
	text := t.UTC().Format(time.RFC3339)
	return &text
}

// begin returns the beginning of a name.
func begin(name string) string {
	runes := []rune(name)
	if len(runes) <= maxNameRunes {
		return name
	}
	return string(runes[:maxNameRunes-1]) + "…"
}
