package snapshot_test

import (
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

func at(s string) time.Time {
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// closure is a valid statement about lake a.
func closure() data.Advisory {
	return data.Advisory{
		ID: "by-2026-17", LakeID: "a", Kind: data.Closure, Cause: data.Cyanobacteria, Issuer: "Gesundheitsamt Starnberg",
		TextEN: "Do not swim.\nKeep dogs out.", TextDE: "Nicht baden.", URL: "https://example.org/17",
		Issued: at("2026-07-01T08:00:00Z"), ValidFrom: at("2026-07-01T10:00:00Z"), ValidUntil: at("2026-07-08T10:00:00Z"),
	}
}

// Of several statements about one lake, the gravest counts, and of equally grave ones the latest. Statements about lakes that are not
// known are left out.
func TestGravestAdvisory(t *testing.T) {
	lakes := []data.Lake{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	statement := func(id data.AdvisoryID, lake data.LakeID, kind data.AdvisoryKind, issued string) data.Advisory {
		a := closure()
		a.ID, a.LakeID, a.Kind, a.Issued = id, lake, kind, at(issued)
		return a
	}
	advisories := snapshot.NewAdvisories(lakes, []data.Advisory{
		statement("5", "c", data.Warning, "2026-06-03T00:00:00Z"),
		statement("4", "c", data.Closure, "2026-06-01T00:00:00Z"),
		statement("3", "c", data.Closure, "2026-06-02T00:00:00Z"),
		statement("2", "a", data.Season, "2026-06-01T00:00:00Z"),
		statement("1", "unknown", data.Closure, "2026-06-01T00:00:00Z"),
	})
	if of := advisories.Of(2); len(of) != 3 || len(advisories.Of(1)) != 0 {
		t.Errorf("lake c has %v, want 3 statements, and lake b none", of)
	}
	active, next := advisories.ActiveAt(data.At(at("2026-07-05T00:00:00Z")))
	if got := active.Of(2); got == nil || got.ID != "3" {
		t.Errorf("the gravest of c is %v, want 3", got)
	}
	if got := active.Kind(0); got != data.Season {
		t.Errorf("a has %v, want season", got)
	}
	if got := active.Of(1); got != nil || active.Kind(1) != data.NoAdvisory {
		t.Errorf("b has %v, want none", got)
	}
	if want := at("2026-07-08T10:00:00Z"); !next.Equal(want) {
		t.Errorf("they change at %s, want %s", next, want)
	}
	none, next := advisories.ActiveAt(data.At(next))
	if !none.Equal(nil) || !next.IsZero() {
		t.Errorf("afterwards there are %v until %s, want none for ever", none, next)
	}
	if active.Equal(none) || !active.Equal(active) {
		t.Error("Equal does not compare the statements")
	}
}

// Of equally grave statements the one that ends last counts, in any order of their ids.
func TestLastingAdvisory(t *testing.T) {
	lakes := []data.Lake{{ID: "a"}}
	statement := func(id data.AdvisoryID, issued, until string) data.Advisory {
		a := closure()
		a.ID, a.LakeID, a.Issued, a.ValidUntil = id, "a", at(issued), time.Time{}
		if until != "" {
			a.ValidUntil = at(until)
		}
		return a
	}
	for _, test := range []struct {
		name          string
		first, second data.Advisory
		want          data.AdvisoryID
	}{
		{"without an end", statement("1", "2026-07-01T00:00:00Z", ""), statement("2", "2026-07-02T00:00:00Z", "2026-07-08T00:00:00Z"), "1"},
		{"a later end", statement("1", "2026-07-02T00:00:00Z", "2026-07-08T00:00:00Z"), statement("2", "2026-07-01T00:00:00Z", "2026-07-09T00:00:00Z"), "2"},
		{"both without an end", statement("1", "2026-07-02T00:00:00Z", ""), statement("2", "2026-07-01T00:00:00Z", ""), "1"},
	} {
		for range 2 {
			active, _ := snapshot.NewAdvisories(lakes, []data.Advisory{test.first, test.second}).ActiveAt(data.At(at("2026-07-05T00:00:00Z")))
			if got := active.Of(0); got == nil || got.ID != test.want {
				t.Errorf("%s: %v, want %s", test.name, got, test.want)
			}
			test.first.ID, test.second.ID = test.second.ID, test.first.ID // the order in which they are added
			test.want = map[data.AdvisoryID]data.AdvisoryID{"1": "2", "2": "1"}[test.want]
		}
	}
}

// A snapshot has the statements that are active when it is loaded, and those of another moment from At. A map of another week has those
// of its Sunday.
func TestSnapshotAt(t *testing.T) {
	src := &memory{lakes: lakes("a", "b"), advisories: []data.Advisory{closure()},
		observations: []data.Observation{obs(t, "a", "2026-07-01", 3), obs(t, "a", "2026-07-08", 3), obs(t, "a", "2026-07-15", 3)}}
	now := at("2026-06-01T00:00:00Z")
	before := load(t, src, &snapshot.Options{Present: data.ByClock(func() time.Time { return now })})
	if before.Current.Advisories.Of(0) != nil || !before.ChangesAt().Equal(closure().Issued) {
		t.Errorf("in June %v is active until %s, want nothing until it is issued", before.Current.Advisories.Of(0), before.ChangesAt())
	}
	if same := before.At(data.At(now.Add(time.Hour))); same != before {
		t.Error("nothing has changed, and At returns another snapshot")
	}
	during := before.At(data.At(closure().ValidFrom))
	if got := during.Current.Values().Mark(0); got != snapshot.Closed || during.Current.Advisories.Kind(0) != data.Closure {
		t.Errorf("the closed lake has mark %d", got)
	}
	if during.Version == before.Version || &during.Current.States[0] != &before.Current.States[0] {
		t.Error("the version is the same, or the states are others")
	}
	if before.Current.Advisories.Of(0) != nil {
		t.Error("At has changed the snapshot")
	}
	after := during.At(data.At(closure().ValidUntil))
	if after.Current.Advisories.Of(0) != nil || after.Version != before.Version || !after.ChangesAt().IsZero() || !after.StatementsChangeAt().IsZero() {
		t.Errorf("expired: %v is active, version %s until %s, want the version before, %s", after.Current.Advisories.Of(0), after.Version, after.ChangesAt(), before.Version)
	}
	for date, closed := range map[string]bool{"2026-07-01": true, "2026-07-08": false} {
		v, err := during.View(t.Context(), day(t, date).Week())
		if err != nil {
			t.Fatal(err)
		}
		if got := v.Advisories.Kind(0) == data.Closure; got != closed {
			t.Errorf("the map of the week of %s: closed is %v, want %v", date, got, closed)
		}
	}
}

// While the clock is in doubt, the statements are active that are so at either time.
func TestStatementsInDoubt(t *testing.T) {
	src := &memory{lakes: lakes("a"), advisories: []data.Advisory{closure()}, observations: []data.Observation{obs(t, "a", "2026-07-01", 3)}}
	s := load(t, src, &snapshot.Options{Present: data.ByClock(func() time.Time { return at("2026-07-02T10:00:00Z") })})
	for _, tt := range []struct {
		now, also string
		closed    bool
		changes   string // by the first clock
	}{
		{"2026-07-02T10:00:00Z", "", true, "2026-07-08T10:00:00Z"},
		{"2026-07-02T10:00:00Z", "2027-07-02T10:00:00Z", true, "2026-07-08T10:00:00Z"}, // it expired by the second
		{"2026-07-02T10:00:00Z", "2025-07-02T10:00:00Z", true, "2026-07-08T10:00:00Z"}, // nor was it issued
		{"2027-07-02T10:00:00Z", "2026-07-02T10:00:00Z", true, "2027-07-08T10:00:00Z"},
		{"2025-07-02T10:00:00Z", "2026-07-02T10:00:00Z", true, "2025-07-08T10:00:00Z"},
		{"2027-07-02T10:00:00Z", "2025-07-02T10:00:00Z", false, "2028-06-30T08:00:00Z"}, // by the second it has not begun
		{"2027-07-02T10:00:00Z", "", false, ""},
	} {
		p := data.At(at(tt.now))
		if tt.also != "" {
			p.Also = at(tt.also)
		}
		got := s.At(p)
		changes := ""
		if !got.StatementsChangeAt().IsZero() {
			changes = got.StatementsChangeAt().Format(time.RFC3339)
		}
		if closed := got.Current.Advisories.Kind(0) == data.Closure; closed != tt.closed || changes != tt.changes {
			t.Errorf("at %s or %s it is closed: %v, until %s; want %v, %s", tt.now, tt.also, closed, changes, tt.closed, tt.changes)
		}
		if again := got.At(p); again != got {
			t.Errorf("at %s or %s At returns another snapshot", tt.now, tt.also)
		}
	}
}

// A statement that is issued after the present time shows that the clock is behind. It counts at once, unless it says that it begins later, but
// not on maps of weeks before it.
func TestStatementsFromTheFuture(t *testing.T) {
	issued := closure()
	issued.Issued, issued.ValidFrom = at("2026-07-03T10:00:00Z"), at("2026-07-03T10:00:00Z")
	planned := issued
	planned.ID, planned.LakeID, planned.ValidFrom = "planned", "b", at("2026-07-04T10:00:00Z")
	src := &memory{lakes: lakes("a", "b"), advisories: []data.Advisory{issued, planned}, observations: []data.Observation{obs(t, "a", "2026-06-01", 3)}}
	for _, now := range []string{"2026-07-03T09:59:00Z", "2025-07-03T09:59:00Z"} {
		s := load(t, src, &snapshot.Options{Present: data.ByClock(func() time.Time { return at(now) })})
		if active := s.Current.Advisories; active.Kind(0) != data.Closure || active.Kind(1) != data.NoAdvisory {
			t.Errorf("at %s the statements are %s and %s, want a closure and none: the second begins a day later", now, active.Kind(0), active.Kind(1))
		}
	}
	s := load(t, src, nil)
	week, err := s.View(t.Context(), src.observations[0].Date.Week())
	if err != nil || week.Advisories.Kind(0) != data.NoAdvisory {
		t.Errorf("in a week before, the statement is %s, %v: want none", week.Advisories.Kind(0), err)
	}
}

// An official statement with an invalid column is not served.
func TestLoadRejectsAdvisory(t *testing.T) {
	wrong := closure()
	wrong.URL = "javascript:alert(1)"
	_, err := snapshot.Load(t.Context(), &memory{lakes: lakes("a"), advisories: []data.Advisory{wrong}}, nil)
	if err == nil || !strings.Contains(err.Error(), `"by-2026-17"`) || !strings.Contains(err.Error(), "url") {
		t.Errorf("Load = %v, want an error that names the statement and its url", err)
	}
}
