package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

func eventsOf(tb testing.TB, s *Store, q data.EventQuery) []data.Event {
	tb.Helper()
	events, err := s.Events(tb.Context(), q)
	if err != nil {
		tb.Fatalf("Events(%+v): %v", q, err)
	}
	return events
}

// testEvent returns an event of a kind with all that it can say.
func testEvent(seq int64, lake data.LakeID, kind data.EventKind) data.Event {
	e := data.Event{Seq: seq, ID: data.EventID(fmt.Sprintf("%032x", seq)), LakeID: lake, Kind: kind, Before: data.NoEventValue(),
		After: data.EventValue{Chlorophyll: 60_00, Level: 2, MeasuredAt: data.Known(noon.Unix())}}
	switch {
	case kind.OfAdvisory():
		e.Before = e.After
		e.Advisory = data.EventAdvisory{ID: "s/1", Kind: data.Closure, KindBefore: data.Warning, Cause: data.Bacteria, Issuer: "Amt \"für\" Gewässer", URL: "https://example.org/a", ValidUntil: noon.Add(time.Hour)}
	case kind == data.ForecastExceeds:
		e.Forecast = data.EventForecast{Issued: 20_000, Week: 4, Level: 3, Chance: 10_000}
	case kind == data.BloomShare:
		e.ShareHigh = 10_000
	case kind == data.BecameStale:
		e.Before, e.After = e.After, e.Before
		e.After.MeasuredAt = e.Before.MeasuredAt
	}
	return e
}

// putMoment stores the moment after the last one, with events.
func putMoment(tb testing.TB, s *Store, at time.Time, events ...data.Event) (m data.Moment) {
	tb.Helper()
	err := s.NextMoment(tb.Context(), func(last data.Moment, tx data.MomentTx) (data.Moment, error) {
		m = data.Moment{Number: last.Number + 1, Revision: data.Revision{Number: 7, ChangedAt: noon, Forecasts: 3}, StatementsOf: 8, Settings: "who2003", Measured: 5,
			Snapshot: fmt.Sprintf("version %d", last.Number+1), At: at, LastSeq: last.LastSeq, Blocks: 1, ChangesSince: 1}
		for i := range events {
			if err := tx.PutEvent(&events[i]); err != nil {
				return m, err
			}
			m.LastSeq = events[i].Seq
		}
		return m, tx.PutBlock(0, fmt.Appendf(nil, "block of %d", m.Number))
	})
	if err != nil {
		tb.Fatalf("NextMoment: %v", err)
	}
	return m
}

// lastOf returns the last moment and its blocks.
func lastOf(tb testing.TB, s *Store) (last data.Moment, blocks []string) {
	tb.Helper()
	err := s.LastMoment(tb.Context(), func(m data.Moment, block func(int) ([]byte, error)) error {
		last = m
		for i := range m.Blocks {
			b, err := block(i)
			if err != nil {
				return err
			}
			blocks = append(blocks, string(b))
		}
		return nil
	})
	if err != nil {
		tb.Fatalf("LastMoment: %v", err)
	}
	return last, blocks
}

func wantState(tb testing.TB, s *Store, moment, oldest, newest int64) {
	tb.Helper()
	want := data.EventState{Moment: moment, Oldest: oldest, Newest: newest}
	if got, err := s.EventState(tb.Context()); err != nil || got != want {
		tb.Errorf("EventState = %+v, %v, want %+v", got, err, want)
	}
}

// Events are read as they were written, in both orders, of all lakes or one.
func testEvents(t *testing.T, open opener) {
	s := open(t, time.Now)
	wantState(t, s, 0, 1, 0)
	if m, _ := lastOf(t, s); m != (data.Moment{}) {
		t.Errorf("the last moment of an empty database is %+v", m)
	}
	if n, err := s.MomentNumber(t.Context(), "version 1"); !errors.Is(err, data.ErrNoMoment) {
		t.Errorf("MomentNumber = %d, %v, want %v", n, err, data.ErrNoMoment)
	}
	putMoment(t, s, noon)
	wantState(t, s, 1, 1, 0)
	var want []data.Event
	for i, kind := range data.EventKinds() {
		e := testEvent(int64(i+1), []data.LakeID{"a", "b"}[i%2], kind)
		want = append(want, e)
	}
	m := putMoment(t, s, noon.Add(time.Minute), want...)
	for i := range want {
		want[i].At, want[i].Snapshot = m.At, m.Snapshot
	}
	if got, blocks := lastOf(t, s); got != m || !slices.Equal(blocks, []string{"block of 2"}) {
		t.Errorf("the last moment is %+v with %q, want %+v", got, blocks, m)
	}
	if n, err := s.MomentNumber(t.Context(), "version 1"); err != nil || n != 1 {
		t.Errorf("MomentNumber = %d, %v, want 1", n, err)
	}
	newest := int64(len(want))
	wantState(t, s, 2, 1, newest)
	down := slices.Clone(want)
	slices.Reverse(down)
	var ofA []data.Event
	for i := 0; i < len(want); i += 2 {
		ofA = append(ofA, want[i])
	}
	for _, tt := range []struct {
		query data.EventQuery
		want  []data.Event
	}{
		{data.EventQuery{}, want},
		{data.EventQuery{Descending: true}, down},
		{data.EventQuery{After: 3, Limit: 2}, want[3:5]},
		{data.EventQuery{Until: 4, Descending: true, Limit: 2}, []data.Event{want[3], want[2]}},
		{data.EventQuery{Lake: "a"}, ofA},
		{data.EventQuery{Lake: "a", After: 1, Until: 3}, ofA[1:2]},
		{data.EventQuery{Lake: "c"}, nil},
		{data.EventQuery{Statements: true}, want[4:8]},
		{data.EventQuery{Statements: true, Descending: true, Limit: 1}, want[7:8]},
		{data.EventQuery{Statements: true, Lake: "a", After: 5}, want[6:7]},
		{data.EventQuery{After: newest}, nil},
	} {
		if got := eventsOf(t, s, tt.query); !slices.Equal(got, tt.want) {
			t.Errorf("Events(%+v) =\n%+v, want\n%+v", tt.query, got, tt.want)
		}
	}
	var many []data.Event
	for i := range int64(2*eventPage + 10) {
		many = append(many, testEvent(newest+1+i, "c", data.ClassUp))
	}
	putMoment(t, s, noon.Add(time.Hour), many...)
	wantState(t, s, 3, 1, newest+int64(len(many)))
	if got := eventsOf(t, s, data.EventQuery{Lake: "c"}); len(got) != len(many) {
		t.Errorf("%d events of many, want %d", len(got), len(many))
	}
}

// A moment that fails leaves nothing, and of two at once one is stored.
func testNoHalfMoments(t *testing.T, open opener) {
	s := open(t, time.Now)
	m := putMoment(t, s, noon)
	wrong := errors.New("no")
	err := s.NextMoment(t.Context(), func(last data.Moment, tx data.MomentTx) (data.Moment, error) {
		if b, err := tx.Block(0); err != nil || string(b) != "block of 1" {
			t.Errorf("block 0 is %q, %v", b, err)
		}
		for i := range int64(eventPage + 1) {
			e := testEvent(i+1, "a", data.ClassUp)
			if err := tx.PutEvent(&e); err != nil {
				return last, err
			}
		}
		if err := tx.PutBlock(0, []byte("wrong")); err != nil {
			return last, err
		}
		if b, err := tx.Block(0); err != nil || string(b) != "wrong" {
			t.Errorf("the replaced block 0 is %q, %v", b, err)
		}
		return last, wrong
	})
	if !errors.Is(err, wrong) {
		t.Errorf("NextMoment = %v, want %v", err, wrong)
	}
	wantState(t, s, 1, 1, 0)
	if got, blocks := lastOf(t, s); got != m || !slices.Equal(blocks, []string{"block of 1"}) {
		t.Errorf("the last moment is %+v with %q, want %+v", got, blocks, m)
	}
	// One that returns the last moment stores nothing.
	if err := s.NextMoment(t.Context(), func(last data.Moment, tx data.MomentTx) (data.Moment, error) { return last, nil }); err != nil {
		t.Error(err)
	}
	if got, _ := lastOf(t, s); got != m {
		t.Errorf("the last moment is %+v, want %+v", got, m)
	}
	if _, ok := s.db.(*postgres); !ok {
		return // SQLite makes the second one wait, as a second import
	}
	err = s.NextMoment(t.Context(), func(last data.Moment, tx data.MomentTx) (data.Moment, error) {
		return last, s.NextMoment(t.Context(), func(last data.Moment, tx data.MomentTx) (data.Moment, error) {
			t.Error("two moments are made at once")
			return last, nil
		})
	})
	if !errors.Is(err, data.ErrMomentBusy) {
		t.Errorf("NextMoment during another = %v, want %v", err, data.ErrMomentBusy)
	}
}

// The oldest events are removed, never the last moment.
func testDropEvents(t *testing.T, open opener) {
	s := open(t, time.Now)
	drop := func(before time.Time, most int, want int64) {
		t.Helper()
		if n, err := s.DropEvents(t.Context(), before, most); err != nil || n != want {
			t.Errorf("DropEvents(%v, %d) = %d, %v, want %d", before, most, n, err, want)
		}
	}
	drop(noon.Add(time.Hour), 10, 0)
	seq := int64(0)
	for day := range 4 {
		var events []data.Event
		for range 3 {
			seq++
			events = append(events, testEvent(seq, "a", data.ClassUp))
		}
		putMoment(t, s, noon.AddDate(0, 0, day), events...)
	}
	drop(noon, 10, 0)
	wantState(t, s, 4, 1, 12)
	drop(noon.AddDate(0, 0, 2), 4, 4)
	wantState(t, s, 4, 5, 12)
	drop(noon.AddDate(0, 0, 2), 4, 2)
	wantState(t, s, 4, 7, 12)
	if _, err := s.MomentNumber(t.Context(), "version 2"); !errors.Is(err, data.ErrNoMoment) {
		t.Errorf("the moment of a removed event: %v, want %v", err, data.ErrNoMoment)
	}
	drop(noon.AddDate(1, 0, 0), 10, 3)
	wantState(t, s, 4, 10, 12)
	if m, _ := lastOf(t, s); m.Number != 4 {
		t.Errorf("the last moment is %d, want 4", m.Number)
	}
	putMoment(t, s, noon.AddDate(1, 0, 0))
	drop(noon.AddDate(1, 0, 0), 10, 3)
	wantState(t, s, 5, 13, 12)
	putMoment(t, s, noon.AddDate(1, 0, 0), testEvent(13, "a", data.ClassDown))
	wantState(t, s, 6, 13, 13)
	// Moments with the times of wrong clocks make no earlier one old.
	putMoment(t, s, noon.AddDate(-3, 0, 0), testEvent(14, "a", data.ClassUp))
	putMoment(t, s, noon.AddDate(1, 0, 1), testEvent(15, "a", data.ClassDown))
	drop(noon.AddDate(1, 0, 0), 10, 0)
	wantState(t, s, 8, 13, 15)
}

// What is deleted for its age is so by a time that moves by a day at a time, and not back.
func testBelieve(t *testing.T, open opener) {
	s := open(t, time.Now)
	for _, tt := range []struct{ now, want time.Time }{
		{noon, noon}, // the first
		{noon.Add(time.Hour), noon.Add(time.Hour)},
		{noon.AddDate(1, 0, 0), noon.Add(25 * time.Hour)},
		{noon.AddDate(1, 0, 0), noon.Add(49 * time.Hour)},
		{noon.Add(2 * time.Hour), noon.Add(2 * time.Hour)},
		{noon.AddDate(1, 0, 0), noon.Add(73 * time.Hour)},
	} {
		if got, err := s.Believe(t.Context(), tt.now); err != nil || !got.Equal(tt.want) {
			t.Errorf("Believe(%s) = %s, %v, want %s", tt.now, got, err, tt.want)
		}
	}
	before := time.Now().Add(-time.Minute)
	got, err := s.Times(t.Context())
	if err != nil || !got.Believed.Equal(noon.Add(73*time.Hour)) || got.Imported.After(time.Now()) {
		t.Errorf("Times = %+v, %v", got, err)
	}
	if isPostgres := !got.Database.IsZero(); isPostgres && (got.Database.Before(before) || got.Database.After(time.Now().Add(time.Minute))) {
		t.Errorf("the database's clock shows %s", got.Database)
	}
}

// Missing blocks are read as no bytes, which their reader takes for damage. An event without a valid id is not stored.
func TestDamagedEvents(t *testing.T) {
	s := openFile(t, t.TempDir()+"/lakes.db", true)
	putMoment(t, &s.Store, noon)
	if _, err := s.writer.ExecContext(t.Context(), "DELETE FROM event_blocks"); err != nil {
		t.Fatal(err)
	}
	if _, blocks := lastOf(t, &s.Store); !slices.Equal(blocks, []string{""}) {
		t.Errorf("missing blocks are read as %q", blocks)
	}
	// A block of lakes that is longer than any is not read; that of statements may be longer.
	for number, want := range []int{5 << 20, 0} {
		if _, err := s.writer.ExecContext(t.Context(), "DELETE FROM event_blocks; INSERT INTO event_blocks (number, block) VALUES (?, zeroblob(?))", number, 5<<20); err != nil {
			t.Fatal(err)
		}
		err := s.LastMoment(t.Context(), func(_ data.Moment, block func(int) ([]byte, error)) error {
			if b, err := block(number); err != nil || len(b) != want {
				t.Errorf("block %d has %d bytes, %v; want %d", number, len(b), err, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	e := testEvent(1, "a", data.ClassUp)
	e.ID = data.EventID(strings.Repeat("x", 32))
	if err := s.NextMoment(t.Context(), func(last data.Moment, tx data.MomentTx) (data.Moment, error) {
		return data.Moment{Number: 2}, tx.PutEvent(&e)
	}); err == nil {
		t.Error("an id that is not hexadecimal was stored")
	}
}
