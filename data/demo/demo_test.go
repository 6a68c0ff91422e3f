package demo

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"limnomap/data"
)

func fixed(t time.Time) func() time.Time { return func() time.Time { return t } }

func at(t *testing.T, s string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, s)
	must(t, err)
	return parsed
}

type scanned struct {
	revision     data.Revision
	lakes        []data.Lake
	observations []data.Observation
}

func scan(t *testing.T, s *Source) scanned {
	t.Helper()
	var all scanned
	revision, err := s.Scan(t.Context(), func(l data.Lake) error {
		all.lakes = append(all.lakes, l)
		return nil
	}, func(o data.Observation) error {
		all.observations = append(all.observations, o)
		return nil
	})
	if err != nil {
		t.Fatalf("Scan: %v", err)
	}
	all.revision = revision
	return all
}

func TestRevisionIsTheNewestPass(t *testing.T) {
	for _, test := range []struct{ name, now, pass, week string }{
		{"within a week", "2026-11-18T12:00:00Z", "2026-11-16T10:30:00Z", "2026-W47"},
		{"at the pass", "2026-11-16T10:30:00Z", "2026-11-16T10:30:00Z", "2026-W47"},
		{"a second before it", "2026-11-16T10:29:59Z", "2026-11-09T10:30:00Z", "2026-W46"},
		{"on Sunday night", "2026-11-15T23:59:59Z", "2026-11-09T10:30:00Z", "2026-W46"},
		{"where another day has begun", "2026-11-16T02:00:00+09:00", "2026-11-09T10:30:00Z", "2026-W46"},
		{"over the year's end", "2027-01-01T00:00:00Z", "2026-12-28T10:30:00Z", "2026-W53"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := New(fixed(at(t, test.now))).Revision(t.Context())
			must(t, err)
			if want := at(t, test.pass); !got.ChangedAt.Equal(want) || got.ChangedAt.Location() != time.UTC {
				t.Errorf("ChangedAt = %v, want %v", got.ChangedAt, want)
			}
			if week := data.Week(got.Number).String(); week != test.week {
				t.Errorf("Number = %d, the week %s, want %s", got.Number, week, test.week)
			}
		})
	}
}

func TestNewestPassIsOfThePastSevenDays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// 1900 to 2100, so that weeks before the epoch are among them.
		now := time.Unix(rapid.Int64Range(-2208988800, 4102444800).Draw(t, "now"), 0)
		age := now.Sub(passTime(newestPass(now)))
		if age < 0 || age >= 7*24*time.Hour {
			t.Errorf("the newest pass at %v is %v old, want 0 to 7 days", now, age)
		}
	})
}

func TestScanIsComplete(t *testing.T) {
	s := New(fixed(noon))
	all := scan(t, s)
	if want, _ := s.Revision(t.Context()); all.revision != want {
		t.Errorf("Scan's revision = %v, want %v", all.revision, want)
	}
	if got, want := len(all.observations), len(all.lakes)*passes; got != want {
		t.Fatalf("%d observations, want %d", got, want)
	}
	for i, o := range all.observations {
		lake, pass := all.lakes[i/passes], i%passes
		if o.LakeID != lake.ID {
			t.Fatalf("observation %d is of %s, want %s", i, o.LakeID, lake.ID)
		}
		if want := data.DateOf(noon).Week() - passes + 1 + data.Week(pass); o.Date.Week() != want {
			t.Fatalf("observation %d is of week %v, want %v", i, o.Date.Week(), want)
		}
		if o.Type != data.Satellite || o.Level != data.NoLevel || o.CellDensity != data.NoCellDensity {
			t.Fatalf("observation %d = %+v, want one of a satellite, without level and cells of its own", i, o)
		}
		if data.DateOf(o.MeasuredAt) != o.Date || o.MeasuredAt.After(noon) {
			t.Fatalf("observation %d was measured at %v, want a moment of %v not after %v", i, o.MeasuredAt, o.Date, noon)
		}
	}
	byID := func(a, b data.Lake) int { return compare(a.ID, b.ID) }
	if !slices.IsSortedFunc(all.lakes, byID) {
		t.Error("lakes do not ascend by id")
	}
}

func compare(a, b data.LakeID) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestScanEnds(t *testing.T) {
	s := New(fixed(noon))
	stop := errors.New("enough")
	ignoreLake := func(data.Lake) error { return nil }
	ignore := func(data.Observation) error { return nil }
	if _, err := s.Scan(t.Context(), func(data.Lake) error { return stop }, ignore); !errors.Is(err, stop) {
		t.Errorf("Scan with a lake callback that fails = %v, want its error", err)
	}
	calls := 0
	_, err := s.Scan(t.Context(), ignoreLake, func(data.Observation) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("Scan with an observation callback that fails = %v after %d calls, want its error after 1", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls = 0
	_, err = s.Scan(ctx, ignoreLake, func(data.Observation) error { calls++; cancel(); return nil })
	if !errors.Is(err, context.Canceled) || calls > passes {
		t.Errorf("Scan cancelled at the first observation = %v after %d of them, want it to end with that lake", err, calls)
	}
}

func TestHistory(t *testing.T) {
	s := New(fixed(noon))
	all := scan(t, s)
	const id = "de_by_starnberger_see"
	lake, history, err := s.History(t.Context(), id, data.Newest(5200))
	must(t, err)
	if lake.ID != id || lake.Name != "Starnberger See" || lake.Region != "Bayern" {
		t.Errorf("lake = %+v, want Starnberger See in Bayern", lake)
	}
	if len(history) != passes {
		t.Fatalf("%d rows, want %d", len(history), passes)
	}
	for i, o := range history {
		if i > 0 && o.Date != history[i-1].Date-7 {
			t.Errorf("row %d is of %v after %v, want a week before", i, o.Date, history[i-1].Date)
		}
		if o.LakeID != id {
			t.Errorf("row %d is of %s", i, o.LakeID)
		}
	}
	first := slices.IndexFunc(all.lakes, func(l data.Lake) bool { return l.ID == id }) * passes
	for pass := range passes {
		if got, want := history[len(history)-1-pass], all.observations[first+pass]; got != want {
			t.Errorf("History's row of %v = %+v, Scan's %+v", want.Date, got, want)
		}
	}

	for _, limit := range []int{-1, 0, 1, 6, passes} {
		_, some, err := s.History(t.Context(), id, data.Newest(limit))
		must(t, err)
		if !slices.Equal(some, history[:max(limit, 0)]) {
			t.Errorf("History with limit %d is not the %[1]d newest rows", limit)
		}
	}
	if _, _, err := s.History(t.Context(), "de_by_no_such_lake", data.Newest(1)); !errors.Is(err, data.ErrNoLake) {
		t.Errorf("History of an unknown lake = %v, want ErrNoLake", err)
	}
}

func TestCancelledContext(t *testing.T) {
	s := New(fixed(noon))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Revision(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Revision = %v, want context.Canceled", err)
	}
	if _, _, err := s.History(ctx, "de_by_chiemsee", data.Newest(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("History = %v, want context.Canceled", err)
	}
	if _, err := s.Keys(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Keys = %v, want context.Canceled", err)
	}
}

func TestKeys(t *testing.T) {
	keys, err := New(fixed(noon)).Keys(t.Context())
	must(t, err)
	if len(keys) != 1 || keys[0].Name != "demo" || keys[0].Hash != sha256.Sum256([]byte("limnomap-demo-key")) {
		t.Fatalf("Keys = %+v, want the one documented key", keys)
	}
	if !keys[0].ExpiresAt.IsZero() || !keys[0].RevokedAt.IsZero() {
		t.Errorf("the key expires at %v and was revoked at %v, want never", keys[0].ExpiresAt, keys[0].RevokedAt)
	}
}

// TestConcurrentUse asks from many sides while weeks pass; the race detector watches.
func TestConcurrentUse(t *testing.T) {
	var mu sync.Mutex
	clock := noon
	s := New(func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(24 * time.Hour)
		return clock
	})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 3 {
				_, history, err := s.History(t.Context(), "de_be_grosser_mueggelsee", data.Newest(1))
				if err != nil || len(history) != 1 {
					t.Errorf("History = %v, %v, want one pass", history, err)
				}
				if _, err := s.ForecastIssues(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

func TestEditionIsMadeOncePerWeek(t *testing.T) {
	now := noon
	s := New(func() time.Time { return now })
	first := s.current()
	now = now.AddDate(0, 0, 4) // Sunday of the same week
	if s.current() != first {
		t.Error("another edition on Sunday, want Wednesday's")
	}
	now = now.AddDate(0, 0, 2)
	if s.current() == first {
		t.Error("the same edition after the next week's pass, want another")
	}
}

// must ends the test if err is not nil.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
