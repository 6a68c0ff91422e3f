// Package hook describes webhooks: addresses to which events are sent as HTTP requests, with signatures as Standard Webhooks
// (https://www.standardwebhooks.com) defines them.
package hook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
)

// A Hook is a webhook.
type Hook struct {
	ID     string
	URL    string
	Filter eventfeed.Filter
	Secret Secret
	// Former is the secret before the last rotation, with which requests are signed too until FormerUntil.
	Former      Secret
	FormerUntil time.Time
	CreatedAt   time.Time
	State       State
	// Progress is that of the events that are not about official statements. Those that are go first, each of both in the order of the log.
	Progress
	Statements Progress
}

// Both returns the progress of all events together: After is the last one before the first that waits, and what fails is that of the statements, if
// they fail.
func (h Hook) Both() Progress {
	p, other := h.Progress, &h.Statements
	if other.Failures > 0 {
		p, other = h.Statements, &h.Progress
	}
	p.After = min(p.After, other.After)
	if other.DeliveredAt.After(p.DeliveredAt) {
		p.DeliveredAt = other.DeliveredAt
	}
	return p
}

// A Progress is how far the deliveries of some events of a Hook are.
type Progress struct {
	After        int64     // the number of the last event that was delivered or passed over
	Failures     int       // of the event that is next
	FailingSince time.Time // zero if the last delivery succeeded
	NextAt       time.Time // the next attempt is not before; zero: at once
	LastError    string    // empty if the last delivery succeeded
	DeliveredAt  time.Time // the last one that succeeded; zero for none
}

// LongestWait is to what the waits between attempts double; each wait is shorter or longer by up to half. maxAhead is how far NextAt can be in the future,
// with an hour more for clocks that differ (store.MaxClockSkew).
const (
	LongestWait = 6 * time.Hour
	maxAhead    = LongestWait*3/2 + time.Hour
)

// TooFar returns the time after which no attempt can have been put off, now: a NextAt that is later is from a wrong clock, and the attempt is due.
func TooFar(now time.Time) time.Time { return now.Add(maxAhead) }

// Due reports whether the next attempt is due.
func (p *Progress) Due(now time.Time) bool {
	return !p.NextAt.After(now) || p.NextAt.After(TooFar(now))
}

// A State says whether events are sent.
type State uint8

const (
	Active State = iota // "active": events are sent
	Paused              // "paused": by the operator
	Dead                // "dead": its receiver failed for too long, or said that it is gone
)

var stateNames = [...]string{Active: "active", Paused: "paused", Dead: "dead"}

// ParseState reads the name of a state.
func ParseState(s string) (State, error) {
	for state, name := range stateNames {
		if s == name {
			return State(state), nil
		}
	}
	return Active, fmt.Errorf("state %.80q is none of active, paused, dead", s)
}

func (s State) String() string { return stateNames[s] }

// Bounds of what is stored.
const (
	MaxHooks      = 1000
	MaxLakes      = 1000 // in the filter of one hook
	MaxURLBytes   = 2000
	MaxDeliveries = 100 // of each hook, that are kept for an operator to look at
)

var (
	// ErrNoHook is returned for an id that no hook has.
	ErrNoHook = errors.New("there is no webhook of that id")
	// ErrBroken is returned for a webhook that another program has written, and that cannot be read.
	ErrBroken = errors.New("the webhook cannot be read; if nothing can mend it, delete it")
)

// New returns an active webhook with a new id and a new secret, which begins after an event.
func New(address string, filter eventfeed.Filter, now time.Time) Hook {
	return Hook{ID: strings.ToLower(rand.Text()[:10]), URL: address, Filter: filter, Secret: NewSecret(), CreatedAt: now.UTC().Truncate(time.Second)}
}

// Check returns an error for a hook that must not be stored. Plain HTTP is only allowed with allowHTTP.
func (h *Hook) Check(allowHTTP bool) error {
	if err := CheckURL(h.URL, allowHTTP); err != nil {
		return err
	}
	if len(h.Filter.Lakes) > MaxLakes {
		return fmt.Errorf("a webhook about %d lakes; at most %d, or a region or a box", len(h.Filter.Lakes), MaxLakes)
	}
	return nil
}

// CheckURL returns an error for an address to which no webhook is sent. Whether its host may be reached is known when it is. The error does not
// have the address: its path or query may be a secret, and a server logs and stores the error.
func CheckURL(address string, allowHTTP bool) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("the URL cannot be read")
	case len(address) > MaxURLBytes:
		return fmt.Errorf("the URL has %d bytes; at most %d", len(address), MaxURLBytes)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Hostname() == "":
		return errors.New("the URL is none of a webhook: want one such as https://example.org/lakes")
	case u.Scheme == "http" && !allowHTTP:
		return errors.New("the URL has the scheme http: want https; plain HTTP must be allowed explicitly")
	case u.User != nil:
		return errors.New("the URL has a user or a password; the signature tells the receiver who sends, and secrets in a path or query are as good")
	case u.Fragment != "":
		return errors.New("the URL has a fragment, which is never sent")
	}
	return nil
}

// A Secret signs requests. Its text is what both sides store.
type Secret string

const secretPrefix = "whsec_"

// secretBytes is the recommended length of a secret (Standard Webhooks, "Signature scheme": 24 to 64 bytes).
const secretBytes = 32

// NewSecret returns a random secret.
func NewSecret() Secret {
	b := make([]byte, secretBytes)
	rand.Read(b) // never fails
	return Secret(secretPrefix + base64.StdEncoding.EncodeToString(b))
}

// Key returns the bytes of the secret.
func (s Secret) Key() ([]byte, error) {
	text, ok := strings.CutPrefix(string(s), secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("the secret of a webhook is damaged")
	}
	return key, nil
}

// sign returns the signature of a request.
func (s Secret) sign(id string, at time.Time, body []byte) (string, error) {
	key, err := s.Key()
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.", id, at.Unix()) // never fails
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}

// A Header is the header fields of a request that tell its receiver that it is genuine.
type Header struct {
	ID        string // webhook-id: that of the event, the same for each attempt
	Timestamp string // webhook-timestamp: of the attempt, in Unix seconds
	Signature string // webhook-signature: by each valid secret
}

// Sign returns the header fields of a request with that body at that time.
func (h *Hook) Sign(id string, at time.Time, body []byte) (Header, error) {
	signature, err := h.Secret.sign(id, at, body)
	if err == nil && h.Former != "" && at.Before(h.FormerUntil) {
		var former string
		former, err = h.Former.sign(id, at, body)
		signature += " " + former
	}
	return Header{ID: id, Timestamp: strconv.FormatInt(at.Unix(), 10), Signature: signature}, err
}

// Rotate replaces the secret. Until a time requests are signed with both.
func (h *Hook) Rotate(until time.Time) {
	h.Former, h.FormerUntil = h.Secret, until.UTC().Truncate(time.Second)
	h.Secret = NewSecret()
}

// Resume makes the hook active again: it goes on with the events that failed.
func (h *Hook) Resume() {
	h.State = Active
	for _, p := range []*Progress{&h.Progress, &h.Statements} {
		p.Failures, p.FailingSince, p.NextAt = 0, time.Time{}, time.Time{}
	}
}

// Skip passes over all events up to one.
func (h *Hook) Skip(until int64) { h.After, h.Statements.After = until, until }

// A message is the body of a request, as Standard Webhooks recommends it.
type message struct {
	Type      string `json:"type"` // the kind of the event
	Timestamp string `json:"timestamp"`
	Data      any    `json:"data"`
}

// Body returns the body of the request about an event.
func Body(e *data.Event, places eventfeed.Places) []byte {
	record := eventfeed.RecordOf(e, places)
	return bodyOf(message{record.Kind, record.At, record})
}

// TestBody returns the body of a request that only tests whether it arrives.
func TestBody(h *Hook, at time.Time) []byte {
	return bodyOf(message{"test", at.UTC().Format(time.RFC3339), struct {
		Hook string `json:"hook"`
	}{h.ID}})
}

func bodyOf(m message) []byte {
	text, err := json.Marshal(&m)
	if err != nil {
		panic("hook: a message must marshal: " + err.Error())
	}
	return text
}

// A Delivery is one attempt to send an event.
type Delivery struct {
	At       time.Time
	Seq      int64 // of the event
	Event    data.EventID
	Attempt  int // from 1 on
	Status   int // of the answer; 0 for none
	Error    string
	Duration time.Duration
}
