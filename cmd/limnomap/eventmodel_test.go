package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"limnomap/data"
	"limnomap/data/events/eventlog"
	"limnomap/data/snapshot"
	"limnomap/data/store"
)

// A dyingLog is a log whose process dies in the middle of a transaction, after so many writes.
type dyingLog struct {
	eventlog.Log
	writes int
}

var errDied = errors.New("the process died")

func (l *dyingLog) NextMoment(ctx context.Context, fn func(last data.Moment, tx data.MomentTx) (data.Moment, error)) error {
	return l.Log.NextMoment(ctx, func(last data.Moment, tx data.MomentTx) (data.Moment, error) {
		m, err := fn(last, &dyingTx{tx, l})
		if err == nil && l.writes == 0 {
			err = errDied
		}
		return m, err
	})
}

type dyingTx struct {
	data.MomentTx
	log *dyingLog
}

func (t *dyingTx) die() error {
	if t.log.writes == 0 {
		return errDied
	}
	t.log.writes--
	return nil
}

func (t *dyingTx) PutBlock(index int, block []byte) error {
	return errors.Join(t.die(), t.MomentTx.PutBlock(index, block))
}

func (t *dyingTx) PutEvent(e *data.Event) error {
	return errors.Join(t.die(), t.MomentTx.PutEvent(e))
}

// An eventModel is a database, two servers with it, and what its log should have.
type eventModel struct {
	store   *store.Store
	servers [2]*eventlog.Keeper

	lakes      map[data.LakeID]modelLake     // as they were last published
	statements map[data.LakeID]data.Advisory // those that were valid; there is one a lake at most
	want       []string                      // the events since the check began
	first      int64                         // the number of the last event before
	begin      data.Date                     // of the check's values
	now        time.Time
}

// expectStatement adds the event of the official statement about a lake.
func (m *eventModel) expectStatement(id data.LakeID, all []data.Advisory) {
	before, was := m.statements[id]
	delete(m.statements, id)
	over := false
	for _, a := range all {
		over = !a.ValidUntil.After(m.now) && (a.Withdrawn.IsZero() || !a.Withdrawn.Before(a.ValidUntil))
		if a.ActiveAt(m.now) {
			m.statements[id] = a
		}
	}
	after, is := m.statements[id]
	switch {
	case !was && is:
		m.want = append(m.want, fmt.Sprintf("%s advisory_issued", id))
	case was && is && (before.Kind != after.Kind || !before.ValidUntil.Equal(after.ValidUntil)):
		m.want = append(m.want, fmt.Sprintf("%s advisory_changed", id))
	case was && !is && over:
		m.want = append(m.want, fmt.Sprintf("%s advisory_expired", id))
	case was && !is:
		m.want = append(m.want, fmt.Sprintf("%s advisory_withdrawn", id))
	}
}

// A modelLake is what was last told of a lake.
type modelLake struct {
	level data.Level
	date  data.Date
	since time.Time // when a value of that date was told
	aged  bool      // whether it has become too old by the clock
}

// next returns what is told of a lake in that state.
func (l modelLake) next(state *snapshot.State, now time.Time) modelLake {
	tooOld := func(d data.Date, at time.Time) bool { return at.Sub(d.Time()) >= (28+1)*24*time.Hour }
	switch {
	case !state.Chlorophyll.Valid():
		return modelLake{level: data.NoLevel}
	case tooOld(state.Date, now) && (l.aged || l.level != data.NoLevel && !tooOld(l.date, l.since)):
		return modelLake{level: data.NoLevel, aged: true}
	case l.level != data.NoLevel && l.date == state.Date:
		return modelLake{level: state.Level, date: l.date, since: l.since}
	}
	return modelLake{level: state.Level, date: state.Date, since: now}
}

func (m *eventModel) restart(i int) {
	m.servers[i] = eventlog.NewKeeper(eventlog.Options{Log: m.store, Settings: "model", Keep: time.Hour, Now: func() time.Time { return m.now }, Logger: slog.New(slog.DiscardHandler),
		Wrote: func(map[data.EventKind]int, time.Duration) {}, Failed: func(error) {}})
}

// load returns a snapshot of the database, as each server makes one.
func (m *eventModel) load(t *rapid.T) *snapshot.Snapshot {
	profile, err := data.ProfileByID("who2003")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.Load(context.Background(), m.store, &snapshot.Options{Profile: profile, StaleAfter: 28, Weeks: 10, Now: func() time.Time { return m.now }})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// expect adds the events that a snapshot must give.
func (m *eventModel) expect(snap *snapshot.Snapshot) {
	for i := range snap.Lakes {
		id := snap.Lakes[i].ID
		lake, known := m.lakes[id]
		if !known {
			lake.level = data.NoLevel
		}
		m.expectStatement(id, snap.Advisories.Of(i))
		before := lake.level
		m.lakes[id] = lake.next(&snap.Current.States[i], m.now)
		after := m.lakes[id].level
		switch {
		case before == after:
		case after == data.NoLevel:
			m.want = append(m.want, fmt.Sprintf("%s became_stale", id))
		case before == data.NoLevel:
			m.want = append(m.want, fmt.Sprintf("%s became_current", id))
		case after > before:
			m.want = append(m.want, fmt.Sprintf("%s class_up", id))
		default:
			m.want = append(m.want, fmt.Sprintf("%s class_down", id))
		}
	}
}

// TestEventModel imports, corrects and repeats values and official statements at random, and lets time pass, with restarts, deaths in the middle of a transaction, and two servers that publish
// at the same time. The log has the events of a simple model, each once, in the same order, without gaps.
func TestEventModel(t *testing.T) {
	for name, open := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "lakes.db") },
		"PostgreSQL": func(t *testing.T) string { return newPostgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := store.Open(t.Context(), open(t), true)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			m := &eventModel{store: s, lakes: make(map[data.LakeID]modelLake), statements: make(map[data.LakeID]data.Advisory), begin: 10_000}
			rapid.Check(t, m.check)
		})
	}
}

func (m *eventModel) check(t *rapid.T) {
	ctx := context.Background()
	state, err := m.store.EventState(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m.first, m.want = state.Newest, nil
	m.begin += 300 // after the values of the check before
	m.now = (m.begin + 40).Time()
	m.restart(0)
	m.restart(1)
	lakes := []data.LakeID{"a", "b", "c"}
	put := func(observations []data.Observation, statements ...data.Advisory) {
		err := m.store.Import(ctx, func(tx store.Tx) error {
			var all []data.Lake
			for i, id := range lakes {
				all = append(all, data.Lake{ID: id, ExternalID: string(id), Name: string(id), Point: orb.Point{float64(i), 48}})
			}
			if _, err := tx.PutLakes(ctx, all, store.LakeColumns{}); err != nil {
				return err
			}
			if _, err := tx.PutObservations(ctx, observations, store.ObservationColumns{}); err != nil {
				return err
			}
			_, err := tx.PutAdvisories(ctx, statements, store.AdvisoryColumns{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if m.first == 0 && state.Moment == 0 { // the first snapshot with values gives no events
		put([]data.Observation{{LakeID: "a", Date: m.begin - 300, Chlorophyll: 500, Level: data.NoLevel, CellDensity: data.NoCellDensity}})
		snap := m.load(t)
		if err := m.servers[0].Compare(ctx, snap); err != nil {
			t.Fatal(err)
		}
		m.expect(snap)
		m.want = nil
	}
	var last []data.Observation
	for range rapid.IntRange(1, 8).Draw(t, "steps") {
		switch rapid.IntRange(0, 8).Draw(t, "step") {
		case 0: // the same data again
			if len(last) > 0 {
				put(last)
			}
		case 1:
			m.restart(rapid.IntRange(0, 1).Draw(t, "server"))
		case 2: // a server dies while it writes
			dying := &dyingLog{Log: m.store, writes: rapid.IntRange(0, 3).Draw(t, "writes")}
			k := eventlog.NewKeeper(eventlog.Options{Log: dying, Settings: "model", Keep: time.Hour, Now: func() time.Time { return m.now }, Logger: slog.New(slog.DiscardHandler),
				Wrote: func(map[data.EventKind]int, time.Duration) {}, Failed: func(error) {}})
			snap := m.load(t)
			if err := k.Compare(ctx, snap); err == nil {
				m.expect(snap) // it died too late
			} else if !errors.Is(err, errDied) {
				t.Fatal(err)
			}
		case 3: // both servers publish at the same time
			snap := m.load(t)
			var group sync.WaitGroup
			for _, k := range m.servers {
				group.Go(func() {
					for {
						err := k.Compare(ctx, snap)
						if err == nil {
							return
						}
						if !errors.Is(err, data.ErrMomentBusy) {
							t.Errorf("Compare: %v", err)
							return
						}
						time.Sleep(time.Millisecond)
					}
				})
			}
			group.Wait()
			m.expect(snap)
		case 4: // nothing new arrives for some days
			m.now = m.now.AddDate(0, 0, rapid.IntRange(1, 20).Draw(t, "days"))
			snap := m.load(t)
			if err := m.servers[rapid.IntRange(0, 1).Draw(t, "server")].Compare(ctx, snap); err != nil {
				t.Fatal(err)
			}
			m.expect(snap)
		case 5: // an official statement, perhaps another version of it, or its end
			id := rapid.SampledFrom(lakes).Draw(t, "lake")
			a := data.Advisory{ID: data.AdvisoryID("of_" + id), LakeID: id, Issuer: "office", Issued: m.begin.Time(), ValidFrom: m.begin.Time(),
				Kind:       rapid.SampledFrom([]data.AdvisoryKind{data.Warning, data.Closure}).Draw(t, "kind"),
				ValidUntil: m.now.Add(time.Duration(rapid.IntRange(1, 20*24).Draw(t, "until")) * time.Hour)}
			if rapid.IntRange(0, 2).Draw(t, "withdraw") == 0 {
				a.Withdrawn = m.now
			}
			put(nil, a)
		default:
			last = nil
			seen := make(map[string]bool)
			for range rapid.IntRange(1, 4).Draw(t, "rows") {
				o := data.Observation{LakeID: rapid.SampledFrom(lakes).Draw(t, "lake"), Date: m.begin + data.Date(7*rapid.IntRange(0, 8).Draw(t, "week")),
					Chlorophyll: rapid.SampledFrom([]data.Chlorophyll{data.NoChlorophyll, 5_00, 15_00, 60_00}).Draw(t, "chl"), Level: data.NoLevel, CellDensity: data.NoCellDensity}
				if key := fmt.Sprint(o.LakeID, o.Date); !seen[key] {
					seen[key] = true
					last = append(last, o)
				}
			}
			put(last)
			if rapid.Bool().Draw(t, "publish") {
				snap := m.load(t)
				if err := m.servers[0].Compare(ctx, snap); err != nil {
					t.Fatal(err)
				}
				m.expect(snap)
			}
		}
		m.compareLog(t)
	}
	// The next check begins with what is published.
	snap := m.load(t)
	if err := m.servers[1].Compare(ctx, snap); err != nil {
		t.Fatal(err)
	}
	m.expect(snap)
	m.compareLog(t)
}

// compareLog compares the log with the model.
func (m *eventModel) compareLog(t *rapid.T) {
	events, err := m.store.Events(context.Background(), data.EventQuery{After: m.first})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	ids := make(map[data.EventID]bool)
	for i, e := range events {
		if e.Seq != m.first+int64(i)+1 || ids[e.ID] {
			t.Fatalf("event %d has the number %d; its id came before: %v", m.first+int64(i)+1, e.Seq, ids[e.ID])
		}
		ids[e.ID] = true
		got = append(got, fmt.Sprintf("%s %s", e.LakeID, e.Kind))
	}
	if !slices.Equal(got, m.want) {
		t.Fatalf("the log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(m.want, "\n"))
	}
}
