package api

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

// advisorySource is testSource with official statements: one of each kind, one that is withdrawn a day before testNow, one that ended
// long ago, and one that has not begun.
func advisorySource(tb testing.TB) *fakeSource {
	tb.Helper()
	f := testSource(tb)
	day := 24 * time.Hour
	for i, a := range []data.Advisory{
		{ID: "by-2026-17", LakeID: "de_by_clean", Kind: data.Closure, Cause: data.Cyanobacteria, TextEN: "Do not swim.", TextDE: "Nicht baden."},
		{ID: "by-2026-18.cap", LakeID: "de_by_medium", Kind: data.Warning, Cause: data.Bacteria, URL: "https://example.org/18"},
		{ID: "mv-info", LakeID: "de_mv_never", Kind: data.Info},
		{ID: "mv-season", LakeID: "de_mv_never", Kind: data.Season, TextDE: "Die Badesaison beginnt."},
		{ID: "withdrawn", LakeID: "fj_east", Kind: data.Closure, Withdrawn: testNow().Add(-day)},
		{ID: "over", LakeID: "fj_west", Kind: data.Closure, ValidUntil: testNow().Add(-8 * day)},
		{ID: "future", LakeID: "fj_west", Kind: data.Closure, ValidFrom: testNow().Add(time.Hour)},
	} {
		a.Issuer = "Gesundheitsamt"
		if a.Issued.IsZero() {
			a.Issued = testNow().Add(-time.Duration(20+i) * day)
		}
		if a.ValidFrom.IsZero() {
			a.ValidFrom = a.Issued
		}
		if err := a.Check(); err != nil {
			tb.Fatal(err)
		}
		f.advisories = append(f.advisories, a)
	}
	return f
}

// advisoryServer returns a server at https://lakes.example.org/map with the statements of advisorySource, whose clock may be changed.
func advisoryServer(t *testing.T, f *fakeSource) (s *Server, now *time.Time) {
	t.Helper()
	clock := testNow()
	opts := testOptions(t)
	opts.PublicURL = &url.URL{Scheme: "https", Host: "lakes.example.org:8443", Path: "/map"}
	opts.Now = func() time.Time { return clock }
	return newServer(t, opts, f), &clock
}

type readAdvisoryFeed struct {
	XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Self    struct {
		Href string `xml:"href,attr"`
	} `xml:"link"`
	Entries []struct {
		Title string `xml:"title"`
		Link  struct {
			Type string `xml:"type,attr"`
			Href string `xml:"href,attr"`
		} `xml:"link"`
	} `xml:"entry"`
}

type readAlert struct {
	XMLName    xml.Name `xml:"urn:oasis:names:tc:emergency:cap:1.2 alert"`
	Identifier string   `xml:"identifier"`
	Sender     string   `xml:"sender"`
	Sent       string   `xml:"sent"`
	Status     string   `xml:"status"`
	MsgType    string   `xml:"msgType"`
	References string   `xml:"references"`
	Infos      []struct {
		Language string `xml:"language"`
		Event    string `xml:"event"`
		Area     string `xml:"area>areaDesc"`
	} `xml:"info"`
}

func readXML[T any](t *testing.T, h http.Handler, target, contentType string) (v T) {
	t.Helper()
	w := get(t, h, http.StatusOK, target)
	if got := w.Header().Get("Content-Type"); got != contentType {
		t.Errorf("Content-Type of %s = %q, want %q", target, got, contentType)
	}
	if err := xml.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v\n%s", target, err, w.Body)
	}
	return v
}

func TestAdvisoryFeedLeadsToMessages(t *testing.T) {
	s, _ := advisoryServer(t, advisorySource(t))
	const base = "https://lakes.example.org:8443/map"
	feed := readXML[readAdvisoryFeed](t, s, pathAdvisoryFeed, "application/atom+xml")
	if feed.Self.Href != base+pathAdvisoryFeed || feed.Updated != "2026-11-19T12:00:00Z" {
		t.Errorf("the feed is at %s and of %s", feed.Self.Href, feed.Updated)
	}
	var got []string
	for _, e := range feed.Entries {
		path, ok := strings.CutPrefix(e.Link.Href, base)
		if !ok || e.Link.Type != "application/cap+xml" {
			t.Errorf("entry %q leads to %s of type %s", e.Title, e.Link.Href, e.Link.Type)
		}
		m := readXML[readAlert](t, s, path, "application/cap+xml")
		if m.Sender != "lakes.example.org" || m.Status != "Actual" {
			t.Errorf("%s is of %s with the status %s", path, m.Sender, m.Status)
		}
		got = append(got, fmt.Sprint(path, " ", m.MsgType, " ", m.Infos[0].Event, " ", m.Infos[0].Area, " ", len(m.Infos)))
	}
	want := []string{
		"/api/v1/advisories/withdrawn.cap Cancel Bathing water closure Ostsee auf Taveuni 2",
		"/api/v1/advisories/by-2026-17.cap Alert Bathing water closure Klarer See 2",
		`/api/v1/advisories/by-2026-18.cap.cap Alert Bathing water warning Grüner "See" <&> 2`,
		"/api/v1/advisories/mv-info.cap Alert Bathing water information Unbekannt 2",
		"/api/v1/advisories/mv-season.cap Alert Badesaison Unbekannt 1",
		"/api/v1/advisories/future.cap Alert Bathing water closure Westsee 2",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("messages\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// Links to a message remain valid after the feed has dropped it.
	if m := readXML[readAlert](t, s, pathAdvisory("over"), "application/cap+xml"); m.MsgType != "Alert" {
		t.Errorf("the statement that is over has an %s", m.MsgType)
	}
	for _, id := range []data.AdvisoryID{"nothing", "by-2026-18", "de_by_clean", "..", "%2e%2e"} {
		wantProblem(t, do(s, http.MethodGet, pathAdvisory(id)), http.StatusNotFound)
	}
	for _, target := range []string{"/api/v1/advisories", "/api/v1/advisories/by-2026-17", "/api/v1/advisories/.cap"} {
		wantProblem(t, do(s, http.MethodGet, target), http.StatusNotFound)
	}
}

// The answers change with time, although the data do not: a statement is withdrawn, and the feed drops it.
func TestAdvisoryMessagesFollowTheClock(t *testing.T) {
	s, now := advisoryServer(t, advisorySource(t))
	entries := func() int {
		return len(readXML[readAdvisoryFeed](t, s, pathAdvisoryFeed, "application/atom+xml").Entries)
	}
	if n := entries(); n != 6 {
		t.Errorf("%d entries, want 6", n)
	}
	*now = testNow().Add(-48 * time.Hour)
	before := readXML[readAlert](t, s, pathAdvisory("withdrawn"), "application/cap+xml")
	*now = testNow()
	after := readXML[readAlert](t, s, pathAdvisory("withdrawn"), "application/cap+xml")
	if want := "lakes.example.org," + before.Identifier + "," + before.Sent; before.MsgType != "Alert" || after.References != want {
		t.Errorf("after %s %s the Cancel refers to %s", before.MsgType, before.Identifier, after.References)
	}
	*now = testNow().Add(6 * 24 * time.Hour)
	if n := entries(); n != 5 {
		t.Errorf("%d entries seven days after the withdrawal, want 5", n)
	}
}

// A lake with a high level and no official statement is in no message.
func TestLevelsMakeNoMessage(t *testing.T) {
	s := testServer(t)
	if feed := readXML[readAdvisoryFeed](t, s, pathAdvisoryFeed, "application/atom+xml"); len(feed.Entries) != 0 {
		t.Errorf("%d entries, want none", len(feed.Entries))
	}
	for _, lake := range testSource(t).lakes {
		wantProblem(t, do(s, http.MethodGet, pathAdvisory(data.AdvisoryID(lake.ID))), http.StatusNotFound)
	}
	// With statements, the values make no difference.
	source := advisorySource(t)
	with, _ := advisoryServer(t, source)
	source.observations = nil
	without, _ := advisoryServer(t, source)
	targets := []string{pathAdvisoryFeed}
	for _, a := range source.advisories[:5] {
		targets = append(targets, pathAdvisory(a.ID))
	}
	for _, target := range targets {
		if a, b := get(t, with, http.StatusOK, target).Body.String(), get(t, without, http.StatusOK, target).Body.String(); a != b {
			t.Errorf("%s depends on values:\n%s\n%s", target, a, b)
		}
	}
}

func TestSimulatedStatementsAreTests(t *testing.T) {
	opts := testOptions(t)
	opts.Notice = "Simulated demo data, not measurements"
	s := newServer(t, opts, advisorySource(t))
	m := readXML[readAlert](t, s, pathAdvisory("by-2026-17"), "application/cap+xml")
	if m.Status != "Test" || m.Sender != "limnomap" {
		t.Errorf("status %s of sender %s, want Test of limnomap", m.Status, m.Sender)
	}
	feed := readXML[readAdvisoryFeed](t, s, pathAdvisoryFeed, "application/atom+xml")
	if !strings.Contains(feed.Title, opts.Notice) || !strings.HasPrefix(feed.Entries[0].Title, "Test: ") || feed.Self.Href != pathAdvisoryFeed {
		t.Errorf("feed %q at %s begins with %q", feed.Title, feed.Self.Href, feed.Entries[0].Title)
	}
}
