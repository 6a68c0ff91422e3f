package data

import (
	"encoding/hex"
	"errors"
	"time"

	"limnomap/data/canonical"
)

// An Event is one change of what is published about a lake. Events are numbered in the order of publication.
type Event struct {
	Seq    int64   // from 1 on, without gaps
	ID     EventID // that of the content: the same change of the same data has the same id everywhere
	At     time.Time
	LakeID LakeID
	Kind   EventKind
	// Before and After are what was published about the lake. A new lake has NoEventValue before.
	Before, After EventValue
	Advisory      EventAdvisory  // of an event of an official statement: the statement, as it is then, or as it was
	Forecast      EventForecast  // of ForecastExceeds
	ShareHigh     TenThousandths // of BloomShare: the part of the pixels of the lake with a high risk
	// Snapshot is the version of the first snapshot that shows the change.
	Snapshot string
}

// An EventID identifies an Event: 32 hexadecimal digits.
type EventID string

// eventIDBytes of SHA-256 make an id: the chance that any two of a billion events collide is below 1 in 10²⁰.
const eventIDBytes = 16

// An EventKind is what an Event says.
type EventKind uint8

const (
	NoEvent           EventKind = iota
	ClassUp                     // "class_up": the level rose
	ClassDown                   // "class_down": the level fell
	BecameCurrent               // "became_current": a lake without a current value has one
	BecameStale                 // "became_stale": a lake with a current value has none, for whatever reason; it is never an all-clear
	AdvisoryIssued              // "advisory_issued": an official statement is valid that was not before
	AdvisoryChanged             // "advisory_changed": a valid statement says something else
	AdvisoryWithdrawn           // "advisory_withdrawn": a statement is no longer valid before its time
	AdvisoryExpired             // "advisory_expired": the time of a statement is over
	ForecastExceeds             // "forecast_exceeds": a lake of a low level is forecast to reach a higher one
	BloomShare                  // "bloom_share": a part of a lake that is above a limit has a high risk
)

var eventKindNames = [...]string{NoEvent: "", ClassUp: "class_up", ClassDown: "class_down", BecameCurrent: "became_current", BecameStale: "became_stale",
	AdvisoryIssued: "advisory_issued", AdvisoryChanged: "advisory_changed", AdvisoryWithdrawn: "advisory_withdrawn", AdvisoryExpired: "advisory_expired",
	ForecastExceeds: "forecast_exceeds", BloomShare: "bloom_share"}

// EventKinds returns all kinds.
func EventKinds() []EventKind {
	return []EventKind{ClassUp, ClassDown, BecameCurrent, BecameStale, AdvisoryIssued, AdvisoryChanged, AdvisoryWithdrawn, AdvisoryExpired, ForecastExceeds, BloomShare}
}

// ParseEventKind reads the name of a kind.
func ParseEventKind(s string) (EventKind, error) {
	return parseName(s, "kind", EventKinds()...)
}

// String returns the name of the kind; empty for NoEvent.
func (k EventKind) String() string { return eventKindNames[k] }

// KindOfChange returns what it means that a lake's value was before and is after now; NoEvent if its level is the same.
func KindOfChange(before, after EventValue) EventKind {
	switch {
	case before.Current() && !after.Current():
		return BecameStale
	case !before.Current() && after.Current():
		return BecameCurrent
	case after.Level > before.Level:
		return ClassUp
	case after.Level < before.Level:
		return ClassDown
	}
	return NoEvent
}

// OfAdvisory reports whether the event is about an official statement.
func (k EventKind) OfAdvisory() bool { return k >= AdvisoryIssued && k <= AdvisoryExpired }

// An EventValue is what is published about a lake at one moment: its current value. Without one, Chlorophyll and Level are none, and
// MeasuredAt is that of the last known value.
type EventValue struct {
	Chlorophyll Chlorophyll
	Level       Level
	MeasuredAt  Optional[int64] // Unix seconds
}

// NoEventValue is what is published about a lake that never had a value.
func NoEventValue() EventValue { return EventValue{Chlorophyll: NoChlorophyll, Level: NoLevel} }

// Current reports whether there is a current value.
func (v EventValue) Current() bool { return v.Chlorophyll.Valid() }

// An EventAdvisory is an official statement in an event.
type EventAdvisory struct {
	ID         AdvisoryID
	Kind       AdvisoryKind
	KindBefore AdvisoryKind // of AdvisoryChanged: its kind until then; of others NoAdvisory
	Cause      Cause
	Issuer     string
	URL        string
	ValidUntil time.Time // zero if that is not known yet
}

// EventAdvisoryOf returns what an event says about a statement.
func EventAdvisoryOf(a *Advisory) EventAdvisory {
	return EventAdvisory{ID: a.ID, Kind: a.Kind, Cause: a.Cause, Issuer: a.Issuer, URL: a.URL, ValidUntil: a.ValidUntil}
}

// An EventForecast is the forecast in an event.
type EventForecast struct {
	Issued Date
	Week   int // ahead, from 1 on, the first in which the level is reached; 0 for no forecast
	Level  Level
	// Chance is the probability of that level or a higher one in that week.
	Chance TenThousandths
}

// ContentID returns the id of what the event says, in the revision in which it was found.
func (e *Event) ContentID(revision Revision) EventID {
	h := canonical.New("limnomap event 1")
	h.Number(revision.Number)
	h.Text(e.Snapshot)
	h.Text(string(e.LakeID))
	h.Number(int64(e.Kind))
	for _, v := range []EventValue{e.Before, e.After} {
		h.Number(int64(v.Chlorophyll))
		h.Number(int64(v.Level))
		if v.MeasuredAt.Known {
			h.Number(v.MeasuredAt.Value)
		}
	}
	if e.Kind.OfAdvisory() {
		a := &e.Advisory
		h.Text(string(a.ID))
		h.Number(int64(a.Kind))
		h.Number(int64(a.KindBefore))
		h.Number(int64(a.Cause))
		h.Text(a.Issuer)
		h.Text(a.URL)
		h.Number(a.ValidUntil.Unix())
	}
	if f := &e.Forecast; e.Kind == ForecastExceeds {
		h.Number(int64(f.Issued))
		h.Number(int64(f.Week))
		h.Number(int64(f.Level))
		h.Number(int64(f.Chance))
	}
	if e.Kind == BloomShare {
		h.Number(int64(e.ShareHigh))
	}
	return EventID(hex.EncodeToString(h.Sum()[:eventIDBytes]))
}

// A Moment is what was last published, without its lakes and statements. The zero value is that of a database of which nothing was published.
type Moment struct {
	Number   int64 // grows by one with each Moment
	Revision Revision
	// StatementsOf is the number of the revision of the official statements, which may be later than that of Revision.
	StatementsOf int64
	// Settings are those by which values were classified. Moments of different settings cannot be compared.
	Settings string
	Snapshot string    // the version of the snapshot
	At       time.Time // as of which official statements were valid
	LastSeq  int64     // of the last event
	Measured int64     // lakes that ever had a value
	Blocks   int       // in which its lakes and statements are stored
	// ChangesSince is the number of the earliest moment since which no lake is gone: from there on, the records that changed are all changes.
	ChangesSince int64
}

// A MomentTx is a transaction that stores a Moment. Its blocks are those of the last moment until they are replaced.
type MomentTx interface {
	// Block returns the block with that index, below the Blocks of the last moment.
	Block(index int) ([]byte, error)
	// PutBlock replaces or adds a block.
	PutBlock(index int, block []byte) error
	// PutEvent adds an event. Its numbers are ascending without gaps.
	PutEvent(e *Event) error
}

var (
	// ErrNoMoment says that the log of events does not know a snapshot: it was never published, or the log no longer goes back so far.
	ErrNoMoment = errors.New("the log of events does not know that snapshot")
	// ErrAway says that the database cannot be reached at present, or does not answer. Of those who use it while a server runs, only who loads
	// newer data tells of it.
	ErrAway = errors.New("the database is away")
	// ErrMomentBusy says that another process is writing the next moment.
	ErrMomentBusy = errors.New("another process is writing to the log of events")
	// ErrUncompared says that the changes of the published snapshot are not known yet.
	ErrUncompared = errors.New("the newest snapshot is still being compared with the one before")
)

// MaxEvents is how many events one query returns at most.
const MaxEvents = 10_000

// An EventQuery selects events. Of its zero value all fields mean no bound.
type EventQuery struct {
	After, Until int64  // numbers: above After, at most Until
	Lake         LakeID // only of this lake
	Statements   bool   // only about official statements
	Limit        int    // at most MaxEvents, which 0 means
	Descending   bool
}

// An EventState is the bounds of a log of events. It is comparable: another one means that there is something new.
type EventState struct {
	Moment int64 // the number of the last one; 0 for none
	Oldest int64 // the number of the oldest event that is kept; without any, Newest + 1
	Newest int64 // the number of the newest event
}
