package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/events/eventlog"
	"limnomap/data/snapshot"
)

// TestSixtyDays runs a server for 60 days without new data. All answers are those of a server that is started on that day, a lake
// becomes stale on the map on the day of its event, and each week of the forecast is served until its day is over.
func TestSixtyDays(t *testing.T) {
	source := forecastSource(t)
	source.lakes[0].Region, source.lakes[2].Region = "", "" // as in testSource, of which the other answers are
	unlimited := testOptions(t)
	unlimited.APIRate = 0
	running := newServer(t, unlimited, source)
	first := testSnapshot(t, source)
	log := new(eventlog.Memory)
	var stale, staleEvents, over []string // by day
	lastStale := staleIn(t, running)
	for n := range 61 {
		now := testNow().AddDate(0, 0, n)
		today := data.DateOf(now)
		snap := first.At(data.At(now))
		if err := running.Publish(snap); err != nil {
			t.Fatal(err)
		}
		running.FinishLists()
		if n%6 == 0 || n == 25 { // of each day the states are compared with the events, below
			opts := testOptions(t)
			opts.Now = func() time.Time { return now }
			wantAnswersOf(t, running, newServer(t, opts, source))
		}
		isStale := staleIn(t, running)
		for _, id := range isStale {
			if !slices.Contains(lastStale, id) {
				stale = append(stale, fmt.Sprint(today, " ", id))
			}
		}
		lastStale = isStale
		if err := log.NextMoment(t.Context(), func(last data.Moment, tx data.MomentTx) (data.Moment, error) {
			r, err := eventlog.Next(last, tx, snap, eventlog.Settings{Snapshots: "settings"}, data.At(now))
			return r.Moment, err
		}); err != nil {
			t.Fatal(err)
		}
		for week := 1; week <= 4; week++ {
			w := do(running, http.MethodGet, fmt.Sprintf("%s?week=%d", forecastURL, week))
			if ahead := int64(4) - max(0, (int64(today)-int64(date(t, "2026-11-16"))-1)/7); (w.Code == http.StatusOK) != (int64(week) <= ahead) {
				t.Errorf("the forecast %d weeks ahead on %s: %d, of %d weeks", week, today, w.Code, ahead)
			} else if w.Code == http.StatusNotFound && ahead <= 0 {
				over = append(over, w.Body.String())
			}
		}
	}
	events, err := log.Events(t.Context(), data.EventQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Kind == data.BecameStale {
			staleEvents = append(staleEvents, fmt.Sprint(data.DateOf(e.At), " ", e.LakeID))
		}
	}
	want := []string{"2026-12-08 de_by_medium", "2026-12-15 de_by_clean", "2026-12-15 de_mv_high", "2026-12-15 de_mv_scum", "2026-12-15 fj_east", "2026-12-15 fj_west"}
	if !slices.Equal(stale, want) || !slices.Equal(staleEvents, want) {
		t.Errorf("lakes became stale on %q, with events on %q, want %q", stale, staleEvents, want)
	}
	if len(over) != 4*36 || !strings.Contains(over[0], "of 2026-11-16, has expired: its last day was 2026-12-14") {
		t.Errorf("%d forecasts were over, the first with %q", len(over), over[:min(len(over), 1)])
	}
}

// staleIn returns the stale lakes of the status of a server.
func staleIn(t *testing.T, s *Server) (ids []string) {
	t.Helper()
	for id, r := range lakesOf(t, object(t, get(t, s, http.StatusOK, statusURL))) {
		if r["stale"] == true {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// wantAnswersOf fails unless two servers give the same answers.
func wantAnswersOf(t *testing.T, s, other *Server) {
	t.Helper()
	addresses := append(slices.Clone(urlsOfStates), tileJSONURL, "/api/v1/tiles/vector.json", "/page.json", "/table", "/lakes/de_by_clean",
		"/lakes/de_mv_high/sign", "/lakes/de_mv_high/badge.svg", historyURL+"de_by_clean", statusURL+"?date=2026-11-09", "/api/v1/bathing-lakes/dates")
	for _, address := range addresses {
		got, want := get(t, s, http.StatusOK, address), get(t, other, http.StatusOK, address)
		if got.Body.String() != want.Body.String() || got.Header().Get("ETag") != want.Header().Get("ETag") ||
			got.Header().Get("X-Data-Date") != want.Header().Get("X-Data-Date") {
			t.Errorf("%s: %s\nwant %s", address, got.Body, want.Body)
		}
	}
}

// While the clock is in doubt, /readyz says so, and a closure is in all answers that is in force by either time.
func TestDoubtfulClock(t *testing.T) {
	opts := testOptions(t)
	later := testNow().AddDate(0, 0, 30) // the closure ended 28 days before
	opts.Now = func() time.Time { return later }
	opts.ClockDoubt = func() string { return "it was set" }
	f := testSource(t)
	f.advisories = testAdvisories()
	s := newServer(t, opts, nil)
	for _, tt := range []struct {
		also   time.Time
		closed bool
	}{{time.Time{}, false}, {testNow(), true}} {
		snap, err := snapshot.Load(t.Context(), f, &snapshot.Options{Present: func() data.Present { return data.Present{Now: later, Also: tt.also} }})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Publish(snap); err != nil {
			t.Fatal(err)
		}
		s.FinishLists()
		for address, want := range map[string]string{
			advisoriesURL: `"id":"closed"`,
			"/api/v1/bathing-lakes/status?include_stale=true": `"kind":"closure"`,
			"/api/v1/advisories.cap":                          "/advisories/closed.cap",
		} {
			body := get(t, s, http.StatusOK, address).Body.String()
			if address == "/api/v1/bathing-lakes/status?include_stale=true" {
				body = body[strings.Index(body, `"id":"de_mv_high"`):]
				body = body[:strings.Index(body, `},{"id":"`)]
			}
			if got := strings.Contains(body, want); got != tt.closed {
				t.Errorf("%s in doubt of %s has the closure: %v", address, tt.also, got)
			}
		}
		if doubt := object(t, get(t, s, http.StatusOK, "/readyz"))["clock_doubt"]; doubt != "it was set" {
			t.Errorf("/readyz says %v", doubt)
		}
	}
}
