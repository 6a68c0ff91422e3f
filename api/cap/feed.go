package cap

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"limnomap/api/atom"
	"limnomap/data"
)

// listedAfter is how long the feed lists a statement that is over, so that a consumer which was away for some days learns of it.
const listedAfter = 7 * 24 * time.Hour

// IsListed reports whether the feed lists a statement at that time: also if it begins later, until seven days after its end or its withdrawal.
func IsListed(a *data.Advisory, now time.Time) bool {
	if !IsPublished(a) {
		return false
	}
	end := a.ValidUntil
	if end.IsZero() || !a.Withdrawn.IsZero() && a.Withdrawn.Before(end) {
		end = a.Withdrawn
	}
	return end.IsZero() || now.Before(end.Add(listedAfter))
}

// A Feed lists messages. The sender joins its parts, since there may be many.
type Feed struct {
	publisher *Publisher
	options   FeedOptions
	listed    []Statement
}

// FeedOptions are what a feed says besides its messages.
type FeedOptions struct {
	Now     time.Time
	Updated time.Time                       // when the data changed
	Self    string                          // the address of the feed
	Link    func(id data.AdvisoryID) string // the address of a message
}

// Feed returns the feed of statements, the newest message first. It changes their order.
func (p *Publisher) Feed(statements []Statement, opts FeedOptions) *Feed {
	f := &Feed{publisher: p, options: opts, listed: statements}
	slices.SortFunc(f.listed, func(a, b Statement) int {
		return cmp.Or(f.sentAt(b).Compare(f.sentAt(a)), strings.Compare(string(a.ID), string(b.ID)))
	})
	return f
}

// Len returns the number of entries.
func (f *Feed) Len() int { return len(f.listed) }

func (f *Feed) sentAt(s Statement) time.Time {
	return sentAt(s.Advisory, isWithdrawn(s.Advisory, f.options.Now))
}

// Head returns what precedes the first entry.
func (f *Feed) Head() []byte {
	updated := f.options.Updated
	if f.Len() > 0 && f.sentAt(f.listed[0]).After(updated) {
		updated = f.sentAt(f.listed[0])
	}
	title := "Official statements about bathing lakes"
	if f.publisher.isTest() {
		title += " (" + f.publisher.Notice + ")"
	}
	feed := atom.Feed{ID: atom.URN(f.publisher.Sender), Title: title, Updated: updated, Author: f.publisher.Sender, Self: f.options.Self}
	return feed.Head()
}

// Append appends entry i. Its id is that of the message and not of the statement, so that programs which know an entry by its id
// fetch the Cancel too.
func (f *Feed) Append(b []byte, i int) []byte {
	s := f.listed[i]
	cancel := isWithdrawn(s.Advisory, f.options.Now)
	l := languagesOf(s.Advisory)[0]
	e := atom.Entry{
		Language:  l.code,
		ID:        atom.URN(f.publisher.Sender, identifierOf(s.Advisory, cancel)),
		Title:     l.headline(s, cancel, f.publisher.isTest()),
		Updated:   atom.Time(sentAt(s.Advisory, cancel)),
		Published: atom.Time(s.Issued),
		Author:    s.Issuer,
		Category:  atom.Category{Term: s.Kind.String()},
		Link:      atom.Link{Rel: "alternate", Type: TypeMessage, Href: f.options.Link(s.ID)},
		Summary:   cmp.Or(l.text(s.Advisory), l.headline(s, cancel, f.publisher.isTest())),
	}
	return e.Append(b)
}
