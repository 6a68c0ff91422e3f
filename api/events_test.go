package api

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/events/eventlog"
	"limnomap/data/snapshot"
	"limnomap/tiles/admission"
)

const (
	eventsURL  = "/api/v1/events"
	changesURL = "/api/v1/changes"
)

// An eventWorld is a server with a log of events, and the data that it shows.
type eventWorld struct {
	*Server
	t      *testing.T
	source *fakeSource
	log    *eventlog.Memory
	keeper *eventlog.Keeper
}

// newEventWorld returns a server with the data of advisorySource, of which the log has no event.
func newEventWorld(t *testing.T) *eventWorld {
	t.Helper()
	w := &eventWorld{t: t, source: advisorySource(t), log: new(eventlog.Memory)}
	w.source.lakes[0].Region, w.source.lakes[1].Region = "Bayern", "Bayern"
	w.keeper = eventlog.NewKeeper(eventlog.Options{Log: w.log, Settings: eventlog.Settings{Snapshots: "all"}, Keep: 24 * time.Hour, Present: data.ByClock(testNow), Believed: func(context.Context) (time.Time, error) { return testNow(), nil }, Logger: slog.New(slog.DiscardHandler),
		Wrote: func(map[data.EventKind]int, time.Duration) {}, Failed: func(err error) { t.Error(err) }})
	opts := testOptions(t)
	opts.Events = w.keeper
	w.Server = newServer(t, opts, nil)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { w.keeper.Run(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	w.publish()
	return w
}

// publish publishes the data, and waits until the log has the events.
func (w *eventWorld) publish() *snapshot.Snapshot {
	w.t.Helper()
	snap := testSnapshot(w.t, w.source)
	if err := w.Publish(snap); err != nil {
		w.t.Fatal(err)
	}
	w.keeper.Offer(snap)
	for {
		state, news := w.keeper.State()
		if _, err := w.keeper.Changes(w.t.Context(), snap, "none"); state.Moment > 0 && err != nil {
			if n, err := w.log.MomentNumber(w.t.Context(), snap.Version); err == nil && n == state.Moment {
				return snap
			}
		}
		w.await(news)
	}
}

// await waits for news of the log.
func (w *eventWorld) await(news <-chan struct{}) {
	w.t.Helper()
	select {
	case <-news:
	case <-time.After(time.Minute):
		w.t.Fatal("nothing new in the log for a minute")
	}
}

// set gives a lake a value in µg/l in the newest week, or none if it is negative.
func (w *eventWorld) set(id data.LakeID, chl float64) {
	w.source.revision.Number++
	w.source.revision.ChangedAt = w.source.revision.ChangedAt.Add(time.Minute)
	value, err := data.ChlorophyllOf(chl)
	if err != nil {
		value = data.NoChlorophyll
	}
	for i := range w.source.observations {
		if o := &w.source.observations[i]; o.LakeID == id && o.Date == date(w.t, "2026-11-16") {
			o.Chlorophyll, o.CellDensity = value, data.NoCellDensity
			return
		}
	}
	w.t.Fatalf("lake %s has no value in the newest week", id)
}

// An eventPageBody is an answer with events.
type eventPageBody struct {
	Events []struct {
		Seq    int64
		ID     string
		Kind   string
		LakeID string `json:"lake_id"`
	}
	Next, Oldest, Newest int64
}

// problemOf returns the members of a problem.
func problemOf(t *testing.T, w *httptest.ResponseRecorder, status int) map[string]any {
	t.Helper()
	if w.Code != status {
		t.Fatalf("%d %s, want %d", w.Code, w.Body, status)
	}
	return object(t, w)
}

// page returns an answer, which must be as it is described.
func (w *eventWorld) page(query string) (p eventPageBody) {
	w.t.Helper()
	answer := get(w.t, w, http.StatusOK, eventsURL+query)
	wantDescribed(w.t, descriptionRouter(w.t), eventsURL+query, answer)
	if err := json.Unmarshal(answer.Body.Bytes(), &p); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// list returns the events of a page in short.
func (p eventPageBody) list() string {
	var all []string
	for _, e := range p.Events {
		all = append(all, fmt.Sprintf("%d %s %s", e.Seq, e.LakeID, e.Kind))
	}
	return strings.Join(all, ", ")
}

// change makes six events.
func (w *eventWorld) change() (before, after *snapshot.Snapshot) {
	before, _ = w.common.current.Load().snap, 0
	w.set("de_by_clean", 60)
	w.set("de_mv_high", 5)
	w.set("fj_west", -1)
	w.publish()
	w.set("de_mv_high", 62)
	w.source.advisories = append(w.source.advisories, data.Advisory{ID: "new", LakeID: "fj_east", Kind: data.Closure, Cause: data.Bacteria, Issuer: "Office",
		URL: "https://example.org/", Issued: testNow().Add(-time.Hour), ValidFrom: testNow().Add(-time.Hour)})
	return before, w.publish()
}

func TestEvents(t *testing.T) {
	w := newEventWorld(t)
	if p := w.page(""); len(p.Events) > 0 || p.Next != 0 || p.Oldest != 1 || p.Newest != 0 {
		t.Errorf("the first snapshot gives %+v, want no events", p)
	}
	w.change()
	all := "1 de_by_clean class_up, 2 de_mv_high class_down, 3 fj_west became_stale, 4 de_mv_high class_up, 5 fj_east advisory_issued"
	for _, tt := range []struct {
		query, want string
		next        int64
	}{
		{"", all, 5},
		{"?since=3", "4 de_mv_high class_up, 5 fj_east advisory_issued", 5},
		{"?since=5", "", 5},
		{"?since=2&limit=1", "3 fj_west became_stale", 3},
		{"?lake=de_mv_high", "2 de_mv_high class_down, 4 de_mv_high class_up", 5},
		{"?lake=gone", "", 5},
		{"?region=bayern", "1 de_by_clean class_up", 5},
		{"?bbox=170,-20,-170,0", "3 fj_west became_stale, 5 fj_east advisory_issued", 5},
		{"?kind=class_up,became_stale", "1 de_by_clean class_up, 3 fj_west became_stale, 4 de_mv_high class_up", 5},
		{"?min_level=2", "1 de_by_clean class_up, 2 de_mv_high class_down, 4 de_mv_high class_up, 5 fj_east advisory_issued", 5},
		{"?min_level=3", "5 fj_east advisory_issued", 5},
	} {
		p := w.page(tt.query)
		if p.list() != tt.want || p.Next != tt.next || p.Oldest != 1 || p.Newest != 5 {
			t.Errorf("%s: %s, next %d of %d to %d, want %s, next %d", tt.query, p.list(), p.Next, p.Oldest, p.Newest, tt.want, tt.next)
		}
	}
	// Whatever the limit, a client that goes on with next gets each event once.
	for limit := 1; limit < 7; limit++ {
		var got []string
		for next := int64(0); ; {
			p := w.page(fmt.Sprintf("?since=%d&limit=%d&kind=class_up,class_down", next, limit))
			if p.list() != "" {
				got = append(got, p.list())
			}
			if next = p.Next; next == p.Newest {
				break
			}
		}
		if got := strings.Join(got, ", "); got != "1 de_by_clean class_up, 2 de_mv_high class_down, 4 de_mv_high class_up" {
			t.Errorf("in pages of %d: %s", limit, got)
		}
	}
	first := get(t, w, http.StatusOK, eventsURL)
	if again := do(w, http.MethodGet, eventsURL, "If-None-Match", first.Header().Get("ETag")); again.Code != http.StatusNotModified {
		t.Errorf("asked again with its ETag: %d, want 304", again.Code)
	}
	record := object(t, get(t, w, http.StatusOK, eventsURL+"?since=4"))["events"].([]any)[0].(map[string]any)
	if a := record["advisory"].(map[string]any); record["lake_name"] != "Ostsee auf Taveuni" || record["lat"] != -16.8 || record["region"] != nil || a["kind"] != "closure" ||
		a["cause"] != "bacteria" || a["issuer"] != "Office" || a["valid_until"] != nil {
		t.Errorf("the record of a statement is %v", record)
	}
	record = object(t, get(t, w, http.StatusOK, eventsURL+"?since=2"))["events"].([]any)[0].(map[string]any)
	if before, after := record["before"].(map[string]any), record["after"].(map[string]any); before["level"] != 1.0 || before["chl"] != 20.0 || before["risk"] != "medium" ||
		after["level"] != nil || after["risk"] != nil {
		t.Errorf("a value that vanishes is %v", record)
	}
}

func TestEventsRefuse(t *testing.T) {
	w := newEventWorld(t)
	w.change()
	for query, want := range map[string]string{
		"?since=-1":                           `since: "-1" is not the number of an event: a whole number from 0 on`,
		"?limit=0":                            `limit: "0" is not a whole number from 1 to 1000`,
		"?lake=%20":                           `lake: `,
		"?region=" + strings.Repeat("x", 201): "region: ",
		"?bbox=1":                             `bbox: "1" is not west,south,east,north`,
		"?kind=class":                         `kind: kind "class" is none of class_up, class_down`,
		"?min_level=4":                        `min_level: "4" is not a whole number from 0 to 3`,
	} {
		for _, path := range []string{eventsURL, eventsURL + ".atom", eventsURL + "/stream"} {
			if path == eventsURL+".atom" && strings.HasPrefix(query, "?since") {
				continue
			}
			if body := problemOf(t, do(w, http.MethodGet, path+query), http.StatusBadRequest); !strings.Contains(fmt.Sprint(body["errors"]), strings.SplitN(want, ": ", 2)[1]) {
				t.Errorf("%s%s: %v, want %s", path, query, body, want)
			}
		}
	}
	wantProblem(t, do(w, http.MethodGet, eventsURL+"/stream", "Last-Event-ID", "x"), http.StatusBadRequest, "Last-Event-ID")
	// What is not kept any more, and what is not there yet.
	if _, err := w.log.DropEvents(t.Context(), testNow().Add(time.Hour), 2); err != nil {
		t.Fatal(err)
	}
	for {
		state, news := w.keeper.State()
		if state.Oldest == 3 {
			break
		}
		w.await(news)
	}
	for _, target := range []string{eventsURL + "?since=1", eventsURL + "?since=6", eventsURL + "/stream?since=1"} {
		answer := do(w, http.MethodGet, target)
		if body := problemOf(t, answer, http.StatusGone); body["oldest"] != 3.0 || body["newest"] != 5.0 {
			t.Errorf("%s: %v, want the oldest and the newest number", target, body)
		}
		wantDescribed(t, descriptionRouter(t), target, answer)
	}
	if p := w.page("?since=2"); p.list() != "3 fj_west became_stale, 4 de_mv_high class_up, 5 fj_east advisory_issued" {
		t.Errorf("the events that are kept are %s", p.list())
	}
}

// A client that has a number from one server goes on at another one that has not polled the log yet. Beyond the end of the log in the database the
// log was replaced.
func TestEventsAtAServerThatIsBehind(t *testing.T) {
	w := newEventWorld(t)
	_, snap := w.change()
	opts := testOptions(t)
	opts.Events = eventlog.NewKeeper(eventlog.Options{Log: w.log}) // polls never
	behind := newServer(t, opts, nil)
	if err := behind.Publish(snap); err != nil {
		t.Fatal(err)
	}
	if state, _ := opts.Events.State(); state.Newest != 0 {
		t.Fatalf("the server that is behind knows %d events", state.Newest)
	}
	for target, want := range map[string]string{"?since=5": `{"events":[],"next":5,`, "?since=3": `{"events":[{"seq":4,`} {
		if answer := do(behind, http.MethodGet, eventsURL+target); answer.Code != http.StatusOK || !strings.HasPrefix(answer.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", target, answer.Code, answer.Body, want)
		}
	}
	wantProblem(t, do(behind, http.MethodGet, eventsURL+"?since=6"), http.StatusGone)
	behind.handlers.events.streams.close() // so that they end
	for header, want := range map[string]int{"5": http.StatusServiceUnavailable, "6": http.StatusGone} {
		r := httptest.NewRequest(http.MethodGet, eventsURL+"/stream", nil)
		r.Header.Set("Last-Event-ID", header)
		recorder := httptest.NewRecorder()
		if behind.ServeHTTP(recorder, r); recorder.Code != want {
			t.Errorf("a stream after %s: %d %s, want %d", header, recorder.Code, recorder.Body, want)
		}
	}
}

// The feed has the newest events first, with ids and dates that stay.
func TestEventFeed(t *testing.T) {
	w := newEventWorld(t)
	type feed struct {
		ID      string `xml:"id"`
		Title   string `xml:"title"`
		Updated string `xml:"updated"`
		Entries []struct {
			ID        string `xml:"id"`
			Title     string `xml:"title"`
			Updated   string `xml:"updated"`
			Published string `xml:"published"`
			Author    string `xml:"author>name"`
			Summary   string `xml:"summary"`
		} `xml:"entry"`
	}
	read := func(query string) (f feed) {
		t.Helper()
		answer := get(t, w, http.StatusOK, eventsURL+".atom"+query)
		wantDescribed(t, descriptionRouter(t), eventsURL+".atom"+query, answer)
		if err := xml.Unmarshal(answer.Body.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	if f := read(""); len(f.Entries) > 0 || f.Updated != "2026-11-19T06:30:00Z" {
		t.Errorf("a feed without events is %+v", f)
	}
	w.change()
	all := read("")
	var titles []string
	for _, e := range all.Entries {
		titles = append(titles, e.Title)
		if e.Updated != "2026-11-20T12:00:00Z" || e.Published != e.Updated || !strings.HasPrefix(e.ID, "urn:uuid:") || e.Summary == "" {
			t.Errorf("entry %+v", e)
		}
	}
	want := `Ostsee auf Taveuni: closure because of bacteria issued by Office
Müritz: risk rose from low (level 0, 5 µg/l) to high (level 2, 62 µg/l)
Westsee: there is no current value any more (last known risk medium (level 1, 20 µg/l)); this is not an all-clear
Müritz: risk fell from high (level 2, 61 µg/l) to low (level 0, 5 µg/l)
Klarer See: risk rose from low (level 0, 3.5 µg/l) to high (level 2, 60 µg/l)`
	if got := strings.Join(titles, "\n"); got != want {
		t.Errorf("titles:\n%s\nwant\n%s", got, want)
	}
	if all.Entries[0].Author != "Office" || all.Entries[1].Author != "limnomap" {
		t.Errorf("authors %s, %s", all.Entries[0].Author, all.Entries[1].Author)
	}
	lake := read("?lake=de_mv_high&limit=1")
	if len(lake.Entries) != 1 || lake.Entries[0] != all.Entries[1] || lake.Title != "Water quality of lakes: changes of Müritz" || lake.ID == all.ID {
		t.Errorf("the feed of a lake is %+v", lake)
	}
	for query, title := range map[string]string{
		"?region=Bayern":                  "changes of Bayern",
		"?bbox=1,2,3,4":                   "changes of box 1,2,3,4",
		"?lake=de_by_clean&region=Bayern": "changes of Klarer See, Bayern",
		"?kind=class_up":                  "changes of all lakes",
		"?lake=gone":                      "changes of gone",
	} {
		if f := read(query); !strings.HasSuffix(f.Title, title) {
			t.Errorf("%s has the title %q, want %q", query, f.Title, title)
		}
	}
	if answer := do(w, http.MethodGet, eventsURL+".atom", "If-None-Match", get(t, w, http.StatusOK, eventsURL+".atom").Header().Get("ETag")); answer.Code != http.StatusNotModified {
		t.Errorf("the feed again: %d, want 304", answer.Code)
	}
}

// A client that fetches the status once and then only changes has the same status as one that fetches it each time.
func TestChanges(t *testing.T) {
	w := newEventWorld(t)
	first := w.common.current.Load().snap
	mirror := lakesOf(t, object(t, get(t, w, http.StatusOK, statusURL)))
	since := first.Version
	follow := func(want string) {
		t.Helper()
		answer := get(t, w, http.StatusOK, changesURL+"?since="+since)
		wantDescribed(t, descriptionRouter(t), changesURL, answer)
		body := object(t, answer)
		if got := idsOf(t, body); got != want {
			t.Errorf("changed since %s: %s, want %s", since, got, want)
		}
		for id, lake := range lakesOf(t, body) {
			mirror[id] = lake
		}
		since = body["snapshot"].(string)
		for id, lake := range lakesOf(t, object(t, get(t, w, http.StatusOK, statusURL))) {
			if fmt.Sprint(mirror[id]) != fmt.Sprint(lake) {
				t.Errorf("the copy has %v, the status %v", mirror[id], lake)
			}
		}
	}
	follow("")
	w.change()
	follow("de_by_clean de_mv_high fj_east fj_west")
	follow("")
	w.set("de_by_clean", 61)
	w.publish()
	follow("de_by_clean")
	since = first.Version
	follow("de_by_clean de_mv_high fj_east fj_west")

	wantProblem(t, do(w, http.MethodGet, changesURL), http.StatusBadRequest, "since")
	wantProblem(t, do(w, http.MethodGet, changesURL+"?since="), http.StatusBadRequest, "since")
	answer := do(w, http.MethodGet, changesURL+"?since=unknown")
	if body := problemOf(t, answer, http.StatusGone); body["snapshot"] != w.common.current.Load().snap.Version {
		t.Errorf("an unknown snapshot: %v", body)
	}
	wantDescribed(t, descriptionRouter(t), changesURL+"?since=unknown", answer)
	// A lake that is gone cannot be among the records: then nothing is known of what was before.
	w.source.lakes = w.source.lakes[1:]
	w.source.revision.Number++
	w.source.observations = w.source.observations[3:]
	w.source.advisories = nil
	w.publish()
	wantProblem(t, do(w, http.MethodGet, changesURL+"?since="+since), http.StatusGone)
	// A new one is among them.
	since = w.common.current.Load().snap.Version
	mirror = lakesOf(t, object(t, get(t, w, http.StatusOK, statusURL)))
	w.source.lakes = append(w.source.lakes, data.Lake{ID: "zz", ExternalID: "R-9", Name: "Neuer See", Point: orb.Point{1, 2}})
	w.source.revision.Number++
	w.publish()
	follow("zz")
	// Before a snapshot is compared nothing is said about it.
	w.set("fj_east", 2)
	snap := testSnapshot(t, w.source)
	if err := w.Publish(snap); err != nil {
		t.Fatal(err)
	}
	if answer := do(w, http.MethodGet, changesURL+"?since="+since); answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") == "" {
		t.Errorf("before the comparison: %d %v, want 503 with Retry-After", answer.Code, answer.Header())
	}
}

// A reader of a stream.
type streamReader struct {
	*bufio.Scanner
	t *testing.T
}

// next returns the next event: its type, id and data.
func (r streamReader) next() (kind, id, content string) {
	r.t.Helper()
	for r.Scan() {
		field, value, _ := strings.Cut(r.Text(), ": ")
		switch field {
		case "event":
			kind = value
		case "id":
			id = value
		case "data":
			content = value
		case "":
			if content != "" {
				return kind, id, content
			}
		}
	}
	r.t.Fatalf("the stream ended: %v", r.Err())
	return "", "", ""
}

func TestEventStream(t *testing.T) {
	w := newEventWorld(t)
	s := httptest.NewServer(w)
	defer s.Close()
	open := func(query string, header ...string) (*http.Response, streamReader) {
		t.Helper()
		ctx, leave := context.WithTimeout(t.Context(), 5*time.Minute)
		t.Cleanup(leave)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+eventsURL+"/stream"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer, streamReader{bufio.NewScanner(answer.Body), t}
	}
	answer, reader := open("")
	if h := answer.Header; answer.StatusCode != http.StatusOK || h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-store" {
		t.Fatalf("%s with %v", answer.Status, h)
	}
	if kind, id, content := reader.next(); kind != "snapshot" || id != "0" || content != `{"snapshot":"`+w.common.current.Load().snap.Version+`"}` {
		t.Errorf("it begins with %s %s %s", kind, id, content)
	}
	_, snap := w.change()
	// The data may be published before or after their events are in the log.
	told, want := "", `{"snapshot":"`+snap.Version+`"}`
	last, got := "0", []string(nil)
	for len(got) < 5 || told != want {
		kind, id, content := reader.next()
		if kind == "snapshot" {
			if told = content; id != last {
				t.Errorf("after event %s the stream tells of a snapshot with the number %s", last, id)
			}
			continue
		}
		var e struct {
			Seq  int64
			Kind string
		}
		if err := json.Unmarshal([]byte(content), &e); err != nil || fmt.Sprint(e.Seq) != id {
			t.Fatalf("event %s is %s, %v", id, content, err)
		}
		last = id
		got = append(got, id+" "+e.Kind)
	}
	if got := strings.Join(got, ", "); got != "1 class_up, 2 class_down, 3 became_stale, 4 class_up, 5 advisory_issued" {
		t.Errorf("the stream has %s", got)
	}
	// A client that connects again goes on where it was, whatever its address says.
	_, again := open("?since=0&kind=class_up", "Last-Event-ID", "2")
	again.next()
	if kind, id, content := again.next(); kind != "" || id != "4" || !strings.Contains(content, `"class_up"`) {
		t.Errorf("connected again after 2, it gets %s %s %s", kind, id, content)
	}
	// The stop of the server ends all streams, and there are no further ones.
	w.Drain()
	for reader.Scan() {
	}
	for again.Scan() {
	}
	if answer, _ := open(""); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a stream while the server stops: %s, want 503", answer.Status)
	}
}

// Streams are bounded, and those that end make room.
func TestEventStreamsAreBounded(t *testing.T) {
	w := newEventWorld(t)
	w.handlers.events.streams.budget = admission.NewBudget(1)
	hold, err := w.handlers.events.streams.budget.Hold(admission.ClientOf(netip.MustParseAddr("198.51.100.9")), 1)
	if err != nil {
		t.Fatal(err)
	}
	answer := do(w, http.MethodGet, eventsURL+"/stream")
	wantProblem(t, answer, http.StatusServiceUnavailable)
	if answer.Header().Get("Retry-After") == "" {
		t.Error("the refusal has no Retry-After")
	}
	// A browser's EventSource would never connect again after a 503.
	if answer := do(w, http.MethodGet, eventsURL+"/stream", "Accept", "text/event-stream"); answer.Code != http.StatusOK || !strings.HasSuffix(answer.Body.String(), "\nretry: 60000\n\n") {
		t.Errorf("an EventSource is refused with %d %s", answer.Code, answer.Body)
	}
	w.handlers.events.streams.close()
	if answer := do(w, http.MethodGet, eventsURL+"/stream", "Accept", "text/event-stream"); answer.Code != http.StatusOK || !strings.HasSuffix(answer.Body.String(), "\nretry: 5000\n\n") {
		t.Errorf("while the server stops, an EventSource is refused with %d %s", answer.Code, answer.Body)
	}
	w.handlers.events.streams.ended = make(chan struct{})
	hold.Release()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	recorder := httptest.NewRecorder()
	w.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, eventsURL+"/stream", nil).WithContext(ctx))
	if recorder.Code != http.StatusOK {
		t.Errorf("with room again: %d", recorder.Code)
	}
}
