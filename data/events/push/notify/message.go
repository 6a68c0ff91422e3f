package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"limnomap/data"
	"limnomap/data/events/push"
	"limnomap/data/snapshot"
)

// A Message is what a browser gets. Its service worker makes sentences of it, in the reader's language.
type Message struct {
	Lakes []LakeNews `json:"lakes"`
	More  int        `json:"more,omitempty"`  // further news of a summary
	Daily bool       `json:"daily,omitempty"` // a summary

	events []int64 // the numbers of those that it tells
}

// LakeNews is what happened to the value of a lake, or to one official statement about it, since the browser was told last.
type LakeNews struct {
	ID         data.LakeID   `json:"id"`
	Name       string        `json:"name"`
	Kind       string        `json:"kind"`
	Before     *int          `json:"before"`
	After      *int          `json:"after"` // levels
	Chl        *float64      `json:"chl"`
	MeasuredAt *string       `json:"measured_at"`
	MeasuredBy string        `json:"measured_by,omitempty"` // empty if that is no longer known
	Advisory   *AdvisoryNews `json:"advisory,omitempty"`    // the statement that it is about
	Closure    *AdvisoryNews `json:"closure,omitempty"`     // another statement, by which bathing is forbidden
	Warned     bool          `json:"warned,omitempty"`      // another statement warns, and none forbids bathing
}

// AdvisoryNews is an official statement in a notification.
type AdvisoryNews struct {
	ID         data.AdvisoryID `json:"id"`
	Kind       string          `json:"kind"`
	Issuer     string          `json:"issuer"`
	ValidUntil *string         `json:"valid_until"`
}

// topic returns what the message is about: a later one replaces an earlier one that the push service still has (RFC 8030, section 5.4).
func (m *Message) topic() string {
	about := "summary"
	if !m.Daily {
		l := &m.Lakes[0]
		about = "lake " + string(l.ID)
		if l.Advisory != nil {
			about = "statement " + string(l.Advisory.ID)
		}
	}
	sum := sha256.Sum256([]byte(about))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// urgent reports whether the message is sent at any hour.
func (m *Message) urgent() bool { return m.Lakes[0].urgent() }

func (m *Message) urgency() webpush.Urgency {
	if m.urgent() {
		return webpush.UrgencyHigh
	}
	return webpush.UrgencyNormal
}

// urgent reports what [push.Urgent] reports of the event that is told.
func (l *LakeNews) urgent() bool {
	return l.Advisory != nil && l.Advisory.Kind == data.Closure.String() && (l.Kind == data.AdvisoryIssued.String() || l.Kind == data.AdvisoryChanged.String())
}

// A subject is what a message can be about: the value of a lake, or a statement about it.
type subject struct {
	lake      data.LakeID
	statement data.AdvisoryID // empty for the value
}

// Messages returns the messages about what waits, closures first: one for each subject, or one summary for all but closures. What happened to a subject
// is one piece of news: a level that rose and fell again meanwhile is none, and its events need no message.
func Messages(n *push.Pending, snap *snapshot.Snapshot) (messages []Message, untold []int64) {
	var subjects []subject
	of := make(map[subject][]*data.Event)
	for i := range n.Events {
		e := &n.Events[i]
		about := subject{lake: e.LakeID}
		if e.Kind.OfAdvisory() {
			about.statement = e.Advisory.ID
		}
		if of[about] == nil {
			subjects = append(subjects, about)
		}
		of[about] = append(of[about], e)
	}
	summary := Message{Daily: true}
	for _, about := range subjects {
		events := of[about]
		var numbers []int64
		for _, e := range events {
			numbers = append(numbers, e.Seq)
		}
		news, ok := newsOf(about, events, snap)
		switch {
		case !ok:
			untold = append(untold, numbers...)
		case n.Daily && !news.urgent():
			summary.Lakes, summary.events = append(summary.Lakes, news), append(summary.events, numbers...)
		default:
			messages = append(messages, Message{Lakes: []LakeNews{news}, events: numbers})
		}
	}
	if len(summary.Lakes) > 0 {
		summary.shorten()
		messages = append(messages, summary)
	}
	slices.SortStableFunc(messages, func(a, b Message) int { return cmp.Compare(rank(&a), rank(&b)) })
	return messages, untold
}

func rank(m *Message) int {
	if m.urgent() {
		return 0
	}
	return 1
}

// shorten leaves out what does not fit.
func (m *Message) shorten() {
	all := m.Lakes
	for shown := min(len(all), maxMessageLakes); shown > 0; shown-- {
		m.Lakes, m.More = all[:shown], len(all)-shown
		if text, err := json.Marshal(m); err != nil || len(text) <= maxMessageBytes {
			return
		}
	}
}

// newsOf returns what the events about a subject, one at least and in their order, mean together; not ok if that is nothing.
func newsOf(about subject, events []*data.Event, snap *snapshot.Snapshot) (news LakeNews, ok bool) {
	first, last := events[0], events[len(events)-1]
	news = LakeNews{ID: about.lake, Name: string(about.lake), Before: levelOf(first.Before), After: levelOf(last.After)}
	if last.After.Chlorophyll.Valid() {
		chl := snap.Profile.Rounded(last.After.Chlorophyll).Float()
		news.Chl = &chl
	}
	if last.After.MeasuredAt.Known {
		news.MeasuredAt = timeText(time.Unix(last.After.MeasuredAt.Value, 0))
	}
	if i, found := snap.Index(about.lake); found {
		news.Name = begin(cmp.Or(snap.Lakes[i].Name, news.Name))
		if state := &snap.Current.States[i]; state.Risk != data.RiskUnknown && last.After.MeasuredAt == data.Known(state.MeasuredAt()) {
			news.MeasuredBy = state.MeasuredBy.String()
		}
		if a := snap.Current.Advisories.Of(i); a != nil && a.ID != about.statement {
			if a.Kind == data.Closure {
				news.Closure = advisoryNews(data.EventAdvisoryOf(a))
			}
			news.Warned = a.Kind == data.Warning
		}
	}
	var kind data.EventKind
	if about.statement != "" {
		kind = statementKind(first, last)
		news.Advisory = advisoryNews(last.Advisory)
	} else {
		kind = data.KindOfChange(first.Before, last.After)
	}
	news.Kind = kind.String()
	return news, kind != data.NoEvent
}

// statementKind returns what the first and the last event of a statement mean together.
func statementKind(first, last *data.Event) data.EventKind {
	over := last.Kind == data.AdvisoryWithdrawn || last.Kind == data.AdvisoryExpired
	switch {
	case first.Kind == data.AdvisoryIssued && over:
		return data.NoEvent
	case first.Kind == data.AdvisoryIssued:
		return data.AdvisoryIssued
	}
	return last.Kind
}

func advisoryNews(a data.EventAdvisory) *AdvisoryNews {
	n := &AdvisoryNews{ID: a.ID, Kind: a.Kind.String(), Issuer: begin(a.Issuer)}
	if !a.ValidUntil.IsZero() {
		n.ValidUntil = timeText(a.ValidUntil)
	}
	return n
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
