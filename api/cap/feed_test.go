package cap_test

import (
	"encoding/xml"
	"regexp"
	"slices"
	"testing"
	"time"

	"limnomap/api/atom"
	"limnomap/api/cap"
	"limnomap/data"
)

// A readFeed is what a reader of Atom sees.
type readFeed struct {
	XMLName xml.Name   `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string     `xml:"id"`
	Title   string     `xml:"title"`
	Updated string     `xml:"updated"`
	Author  string     `xml:"author>name"`
	Links   []readLink `xml:"link"`
	Entries []struct {
		ID        string     `xml:"id"`
		Title     string     `xml:"title"`
		Updated   string     `xml:"updated"`
		Published string     `xml:"published"`
		Author    string     `xml:"author>name"`
		Summary   string     `xml:"summary"`
		Links     []readLink `xml:"link"`
	} `xml:"entry"`
}

type readLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

func feedAt(now time.Time, statements ...cap.Statement) []byte {
	statements = slices.DeleteFunc(statements, func(s cap.Statement) bool { return !cap.IsListed(s.Advisory, now) })
	feed := publisher.Feed(statements, cap.FeedOptions{
		Now: now, Updated: begins, Self: "https://lakes.example.org/api/v1/advisories.cap",
		Link: func(id data.AdvisoryID) string {
			return "https://lakes.example.org/api/v1/advisories/" + string(id) + ".cap"
		},
	})
	b := feed.Head()
	for i := range feed.Len() {
		b = feed.Append(b, i)
	}
	return append(b, atom.Tail...)
}

var urnPattern = regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// checkFeed reads a feed, and fails unless it has what RFC 4287 demands of a feed and its entries.
func checkFeed(t interface{ Fatalf(string, ...any) }, content []byte) readFeed {
	var feed readFeed
	if err := xml.Unmarshal(content, &feed); err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	ids := []string{feed.ID}
	times := []string{feed.Updated}
	if feed.Title == "" || feed.Author == "" || len(feed.Links) != 1 || feed.Links[0].Rel != "self" || feed.Links[0].Type != atom.Type {
		t.Fatalf("the feed lacks something: %.500s", content)
	}
	for _, e := range feed.Entries {
		ids, times = append(ids, e.ID), append(times, e.Updated, e.Published)
		if e.Title == "" || e.Author == "" || e.Summary == "" || len(e.Links) != 1 || e.Links[0].Type != cap.TypeMessage {
			t.Fatalf("an entry lacks something: %+v", e)
		}
		if e.Updated > feed.Updated {
			t.Fatalf("the feed is of %s, an entry of %s", feed.Updated, e.Updated)
		}
	}
	for _, id := range ids {
		if !urnPattern.MatchString(id) {
			t.Fatalf("id %q is no UUID of version 8", id)
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 1+len(feed.Entries) {
		t.Fatalf("two entries have one id: %v", ids)
	}
	for _, s := range times {
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return feed
}

func TestFeed(t *testing.T) {
	named := func(id data.AdvisoryID, change func(*data.Advisory)) cap.Statement {
		return with(func(a *data.Advisory) { a.ID = id; change(a) })
	}
	statements := []cap.Statement{
		closure(),
		named("withdrawn", func(a *data.Advisory) { a.Withdrawn = during }),
		named("old", func(a *data.Advisory) {
			a.Issued = begins.AddDate(-1, 0, 0)
			a.ValidUntil = begins.AddDate(0, 0, -30)
			a.ValidFrom = a.Issued
		}),
		named("no-text", func(a *data.Advisory) { a.TextEN, a.TextDE, a.Kind = "", "", data.Season }),
	}
	content := feedAt(during, statements...)
	feed := checkFeed(t, content)
	if len(feed.Entries) != 3 || feed.Entries[0].Links[0].Href != "https://lakes.example.org/api/v1/advisories/withdrawn.cap" {
		t.Errorf("%d entries, want 3, the withdrawn one first", len(feed.Entries))
	}
	if feed.Updated != "2026-07-03T12:00:00Z" {
		t.Errorf("updated %s, want the time of the newest message", feed.Updated)
	}
	golden(t, "feed.xml", content)

	if empty := checkFeed(t, feedAt(during)); len(empty.Entries) != 0 || empty.Updated != "2026-07-01T10:00:00Z" {
		t.Errorf("without statements: %d entries, updated %s", len(empty.Entries), empty.Updated)
	}
}

// An entry has another id once its message is another one, since readers fetch an id only once.
func TestEntryOfACancel(t *testing.T) {
	withdrawn := with(func(a *data.Advisory) { a.Withdrawn = during })
	before, after := checkFeed(t, feedAt(during.Add(-time.Second), withdrawn)), checkFeed(t, feedAt(during, withdrawn))
	if before.Entries[0].ID == after.Entries[0].ID || before.Entries[0].Links[0] != after.Entries[0].Links[0] {
		t.Errorf("entries %+v and %+v: want the same address and another id", before.Entries, after.Entries)
	}
}
