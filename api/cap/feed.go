package cap

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"time"

	"limnomap/data"
)

// TypeFeed is the media type of the feed (RFC 4287, section 7).
const TypeFeed = "application/atom+xml"

// listedAfter is how long the feed lists a statement that is over, so that a consumer which was away for some days learns of it.
const listedAfter = 7 * 24 * time.Hour

// IsListed reports whether the feed lists a statement at that time: from when it is issued, also if it begins later, until seven days
// after its end or its withdrawal.
func IsListed(a *data.Advisory, now time.Time) bool {
	if !IsPublished(a, now) {
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

// Feed returns the feed of those of the statements that it lists, the newest message first.
func (p *Publisher) Feed(statements []Statement, opts FeedOptions) *Feed {
	f := &Feed{publisher: p, options: opts}
	for _, s := range statements {
		if IsListed(s.Advisory, opts.Now) {
			f.listed = append(f.listed, s)
		}
	}
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

// FeedTail is what follows the last entry.
const FeedTail = "</feed>\n"

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
	var b bytes.Buffer
	b.WriteString(xml.Header + `<feed xmlns="` + atomNamespace + `" xml:lang="en">` + "\n")
	for _, element := range []struct{ name, text string }{
		{"id", urn(f.publisher.Sender)}, {"title", title}, {"updated", atomTime(updated)},
	} {
		b.WriteString("  <" + element.name + ">")
		escape(&b, element.text)
		b.WriteString("</" + element.name + ">\n")
	}
	b.WriteString("  <author><name>")
	escape(&b, f.publisher.Sender)
	b.WriteString(`</name></author>` + "\n" + `  <link rel="self" type="` + TypeFeed + `" href="`)
	escape(&b, f.options.Self)
	b.WriteString(`"/>` + "\n")
	return b.Bytes()
}

func escape(b *bytes.Buffer, s string) {
	_ = xml.EscapeText(b, []byte(s)) // a buffer has no errors
}

// Append appends entry i. Its id is that of the message and not of the statement, so that programs which know an entry by its id
// fetch the Cancel too.
func (f *Feed) Append(b []byte, i int) []byte {
	s := f.listed[i]
	cancel := isWithdrawn(s.Advisory, f.options.Now)
	l := languagesOf(s.Advisory)[0]
	e := atomEntry{
		Language:  l.code,
		ID:        urn(f.publisher.Sender, identifierOf(s.Advisory, cancel)),
		Title:     l.headline(s, cancel, f.publisher.isTest()),
		Updated:   atomTime(sentAt(s.Advisory, cancel)),
		Published: atomTime(s.Issued),
		Author:    s.Issuer,
		Category:  atomCategory{s.Kind.String()},
		Link:      atomLink{Rel: "alternate", Type: TypeMessage, Href: f.options.Link(s.ID)},
		Summary:   cmp.Or(l.text(s.Advisory), l.headline(s, cancel, f.publisher.isTest())),
	}
	entry, err := xml.MarshalIndent(e, "  ", "  ")
	if err != nil {
		panic("cap: an entry of strings must marshal: " + err.Error())
	}
	return append(append(b, entry...), '\n')
}

func atomTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// urn returns a name that is the same for the same parts: a UUID of version 8 (RFC 9562). An entry needs an absolute id, and a
// server without a public address has no other.
func urn(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
