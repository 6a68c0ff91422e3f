// Package push describes subscriptions to notifications on phones and computers by Web Push (RFC 8030): who wants to know what about which
// lakes, and when it may be told.
package push

import (
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	_ "time/tzdata" // time zones of readers, also in a container without them

	"limnomap/data"
)

// A Subscription is a browser that asked to be told of some lakes. It says nothing about the person.
type Subscription struct {
	ID string // of the endpoint: see IDOf
	// Endpoint is the address at the push service of the browser, and the keys are those with which messages to it are encrypted (RFC 8291).
	Endpoint     string
	P256dh, Auth string // base64url without padding
	Lakes        []data.LakeID
	Threshold    Threshold
	Daily        bool   // one summary a day, except for closures
	Zone         string // the IANA time zone, such as Europe/Berlin, or an offset such as +02:00, for the hours of the night
	RenewedAt    time.Time
	// Client stands for the network from which the subscription was made or renewed last: see notify.Key.Client. Empty: not known.
	Client string
}

// A Due is a subscription that may be told of something now.
type Due struct {
	ID      string
	Host    string // of the endpoint: see HostOf
	Client  string
	Urgent  bool // something urgent is to be told
	Told    bool // its push service has taken a message before
	Failing bool // the last attempt failed
}

// HostOf returns the host of an endpoint, which is no secret, with its port if that is not 443.
func HostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "" // another program wrote the row
	}
	return serviceOf(u)
}

// A Pending is what a subscription may be told of now.
type Pending struct {
	Subscription
	Progress
	Events []data.Event // in ascending order of their numbers
}

// An Outcome is how telling what waited went.
type Outcome struct {
	Progress
	Told    bool    // a message was taken
	Done    []int64 // the numbers of the events that were told, or need not be
	Later   []int64 // of those that may not be told before LaterAt
	LaterAt time.Time
}

// A Progress is how sending to a subscription goes.
type Progress struct {
	Failures     int
	FailingSince time.Time // zero if the last attempt succeeded
	NextAt       time.Time // the next attempt is not before; zero: at once
}

// A Threshold says which changes are told.
type Threshold uint8

const (
	FromMedium   Threshold = iota // "medium": levels of medium and high risk, warnings and closures
	FromHigh                      // "high": levels of high risk, warnings and closures
	ClosuresOnly                  // "closures"
)

var thresholdNames = [...]string{FromMedium: "medium", FromHigh: "high", ClosuresOnly: "closures"}

// ParseThreshold reads the name of a threshold.
func ParseThreshold(s string) (Threshold, error) {
	for t, name := range thresholdNames {
		if s == name {
			return Threshold(t), nil
		}
	}
	return FromMedium, fmt.Errorf("threshold %.80q is none of medium, high, closures", s)
}

func (t Threshold) String() string { return thresholdNames[t] }

// Bounds of what is stored. The longest endpoints of the push services of browsers have some 500 bytes.
const (
	MaxSubscriptions = 100_000
	// MaxOfClient is how many subscriptions one client may have: some networks of a mobile operator or a firm are one client.
	MaxOfClient = 1000
	MaxLakes    = 100
	// MaxLakesOfAll is how many lakes all subscriptions may have together, some 200 bytes each: 200 MB in a database. A client may have a tenth.
	MaxLakesOfAll    = 1_000_000
	MaxLakesOfClient = MaxLakesOfAll / 10
	MaxEndpointBytes = 1024
	maxZoneBytes     = 64
	// KeepFor is how long a subscription is kept that is not renewed: the page renews it whenever it is opened.
	KeepFor = 13 * 30 * 24 * time.Hour
)

var (
	// ErrNoSubscription is returned for an id that no subscription has.
	ErrNoSubscription = errors.New("there is no such subscription")
	// ErrManySubscriptions is returned if there are MaxSubscriptions, or if all have MaxLakesOfAll lakes.
	ErrManySubscriptions = errors.New("there are too many subscriptions")
	// ErrManyOfClient is returned if a client has MaxOfClient subscriptions, or MaxLakesOfClient lakes.
	ErrManyOfClient = errors.New("this client has too many subscriptions")
	// ErrBroken is returned for a subscription that another program has written, and that cannot be read.
	ErrBroken = errors.New("the subscription cannot be read")
)

// IDOf returns the id of the subscription with that endpoint. Who does not know the endpoint cannot find it.
func IDOf(endpoint string) string {
	sum := sha256.Sum256([]byte(endpoint))
	return hex.EncodeToString(sum[:16])
}

// Check returns an error for a subscription that must not be stored, and sets its ID.
func (s *Subscription) Check() error {
	u, err := url.Parse(s.Endpoint)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "":
		return errors.New("endpoint: want the https address of a push service")
	case len(s.Endpoint) > MaxEndpointBytes:
		return fmt.Errorf("endpoint: %d bytes, at most %d are allowed", len(s.Endpoint), MaxEndpointBytes)
	}
	key, err := base64.RawURLEncoding.DecodeString(s.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(key)
	}
	if err != nil {
		return errors.New("keys.p256dh: want the public key of the browser, a point of P-256 in base64url")
	}
	if secret, err := base64.RawURLEncoding.DecodeString(s.Auth); err != nil || len(secret) != 16 {
		return errors.New("keys.auth: want 16 bytes in base64url")
	}
	if len(s.Lakes) == 0 || len(s.Lakes) > MaxLakes {
		return fmt.Errorf("lakes: %d, want 1 to %d", len(s.Lakes), MaxLakes)
	}
	seen := make(map[data.LakeID]bool)
	for _, id := range s.Lakes {
		if _, err := data.ParseLakeID(string(id)); err != nil {
			return fmt.Errorf("lakes: %w", err)
		}
		if seen[id] {
			return fmt.Errorf("lakes: %s is given twice", id)
		}
		seen[id] = true
	}
	if s.Zone == unknownZone {
		s.Zone = "UTC"
	}
	if _, err := location(s.Zone); err != nil {
		return err
	}
	s.ID = IDOf(s.Endpoint)
	return nil
}

// unknownZone is what a browser gives that does not know its zone (Unicode Technical Standard 35, part 1).
const unknownZone = "Etc/Unknown"

// location returns the zone of a name, or of an offset such as +05:30, which is what a browser gives if its system has one in place of a zone (ECMA-402,
// edition 11).
func location(zone string) (*time.Location, error) {
	if at, err := time.Parse("-07:00", zone); err == nil {
		_, seconds := at.Zone()
		return time.FixedZone(zone, seconds), nil
	}
	if zone == "" || zone == "Local" || len(zone) > maxZoneBytes || strings.Contains(zone, "..") {
		return nil, errors.New("zone: want an IANA time zone, such as Europe/Berlin, or an offset, such as +02:00")
	}
	l, err := time.LoadLocation(zone)
	if err != nil {
		return nil, errors.New("zone: want an IANA time zone, such as Europe/Berlin, or an offset, such as +02:00")
	}
	return l, nil
}

// Wants reports whether the subscription is to be told of an event of one of its lakes.
func (s *Subscription) Wants(e *data.Event) bool {
	if e.Kind.OfAdvisory() {
		kind := max(e.Advisory.Kind, e.Advisory.KindBefore) // who was told of a closure is told that it is eased
		return kind == data.Closure || kind == data.Warning && s.Threshold != ClosuresOnly
	}
	from := map[Threshold]data.Level{FromMedium: 1, FromHigh: 2}
	least, ok := from[s.Threshold]
	return ok && e.Kind != data.ForecastExceeds && e.Kind != data.BloomShare && max(e.Before.Level, e.After.Level) >= least
}

// Urgent reports whether an event is told at any hour.
func Urgent(e *data.Event) bool {
	return e.Kind.OfAdvisory() && e.Advisory.Kind == data.Closure && (e.Kind == data.AdvisoryIssued || e.Kind == data.AdvisoryChanged)
}

// The hours of the day in the reader's time zone: nothing is told from nightBegins to nightEnds, and summaries come at summaryHour.
const (
	nightBegins = 22
	nightEnds   = 7
	summaryHour = 8
)

// maxAhead is how far in the future something can be due, or tried again: a day of 25 hours, with an hour more for clocks that differ
// (store.MaxClockSkew).
const maxAhead = 26 * time.Hour

// TooFar returns the time to which nothing can have been put off, now: a time that is later is from a wrong clock, and what waits for it is due.
func TooFar(now time.Time) time.Time { return now.Add(maxAhead) }

// AtOnce is when what is urgent is due: before all else.
var AtOnce = time.Unix(0, 0).UTC()

// DueAt returns when the subscription may be told of an event that happened now.
func (s *Subscription) DueAt(e *data.Event, now time.Time) time.Time {
	if Urgent(e) {
		return AtOnce
	}
	local := now.In(s.location())
	switch {
	case s.Daily:
		return nextHour(local, summaryHour)
	case isNight(local):
		return nextHour(local, nightEnds)
	}
	return now
}

// Night reports whether it is night for the reader, and until when what is not urgent waits then.
func (s *Subscription) Night(now time.Time) (night bool, until time.Time) {
	local := now.In(s.location())
	if s.Daily {
		return isNight(local), nextHour(local, summaryHour)
	}
	return isNight(local), nextHour(local, nightEnds)
}

func isNight(local time.Time) bool { return local.Hour() >= nightBegins || local.Hour() < nightEnds }

// location returns the time zone of the reader, which Check has seen.
func (s *Subscription) location() *time.Location {
	if l, err := location(s.Zone); err == nil {
		return l
	}
	return time.UTC // another program wrote the row
}

// nextHour returns the next time at or after t when the clock shows that hour.
func nextHour(t time.Time, hour int) time.Time {
	at := time.Date(t.Year(), t.Month(), t.Day(), hour, 0, 0, 0, t.Location())
	if at.Before(t) {
		at = time.Date(t.Year(), t.Month(), t.Day()+1, hour, 0, 0, 0, t.Location())
	}
	return at
}
