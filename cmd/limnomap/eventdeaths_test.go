package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"golang.org/x/sync/errgroup"
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

// An eventPair is a database with two servers that fail, and another with one that never does.
type eventPair struct {
	store, calm *store.Store
	servers     [2]*eventlog.Keeper
	only        *eventlog.Keeper // of calm

	first, firstCalm int64     // the numbers of the last events before the check
	begin            data.Date // of the check's values
	now              time.Time
}

func (m *eventPair) keeper(log eventlog.Log) *eventlog.Keeper {
	return eventlog.NewKeeper(eventlog.Options{Log: log, Settings: eventlog.Settings{Snapshots: "model"}, Keep: time.Hour, Present: data.ByClock(func() time.Time { return m.now }), Believed: func(context.Context) (time.Time, error) { return m.now, nil }, Logger: slog.New(slog.DiscardHandler),
		Wrote: func(map[data.EventKind]int, time.Duration) {}, Failed: func(error) {}})
}

// load returns a snapshot of the database, as each server makes one.
func (m *eventPair) load(t *rapid.T, s *store.Store) *snapshot.Snapshot {
	profile, err := data.ProfileByID("who2003")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.Load(context.Background(), s, &snapshot.Options{AsOf: snapshot.Newest, Profile: profile, StaleAfter: 28, Weeks: 10, Present: data.ByClock(func() time.Time { return m.now })})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// publish compares the newest snapshot: the server that never fails always, one of the others with compare.
func (m *eventPair) publish(t *rapid.T, compare func(context.Context, *snapshot.Snapshot) error) {
	for _, err := range []error{compare(context.Background(), m.load(t, m.store)), m.only.Compare(context.Background(), m.load(t, m.calm))} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestEventsDespiteDeaths imports, corrects and repeats values and official statements at random, and lets time pass, with restarts, deaths in the middle of a transaction, and two servers that
// publish at the same time. The log has the events of a server that never fails, each once, in the same order, without gaps.
func TestEventsDespiteDeaths(t *testing.T) {
	for name, open := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "lakes.db") },
		"PostgreSQL": func(t *testing.T) string { return newPostgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			m := &eventPair{begin: 10_000}
			for s, place := range map[**store.Store]string{&m.store: open(t), &m.calm: filepath.Join(t.TempDir(), "calm.db")} {
				var err error
				if *s, err = store.Open(t.Context(), place, true); err != nil {
					t.Fatal(err)
				}
				defer (*s).Close()
			}
			rapid.Check(t, m.check)
		})
	}
}

func (m *eventPair) check(t *rapid.T) {
	ctx := context.Background()
	state, err := m.store.EventState(ctx)
	if err != nil {
		t.Fatal(err)
	}
	calmState, err := m.calm.EventState(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m.first, m.firstCalm = state.Newest, calmState.Newest
	m.begin += 300 // after the values of the check before
	m.now = (m.begin + 40).Time()
	m.servers = [2]*eventlog.Keeper{m.keeper(m.store), m.keeper(m.store)}
	m.only = m.keeper(m.calm)
	lakes := []data.LakeID{"a", "b", "c"}
	put := func(observations []data.Observation, statements ...data.Advisory) {
		var all []data.Lake
		for i, id := range lakes {
			all = append(all, data.Lake{ID: id, ExternalID: string(id), Name: string(id), Point: orb.Point{float64(i), 48}})
		}
		for _, s := range []*store.Store{m.store, m.calm} {
			err := s.Import(ctx, func(tx store.Tx) error {
				if _, err := tx.PutLakes(ctx, slices.Clone(all), store.LakeColumns{}); err != nil {
					return err
				}
				if _, err := tx.PutObservations(ctx, slices.Clone(observations), store.ObservationColumns{}); err != nil {
					return err
				}
				_, err := tx.PutAdvisories(ctx, slices.Clone(statements), store.AdvisoryColumns{})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if m.first == 0 && state.Moment == 0 { // the first snapshot with values gives no events
		put([]data.Observation{{LakeID: "a", Date: m.begin - 300, Chlorophyll: 500, Level: data.NoLevel, CellDensity: data.NoCellDensity}})
		m.publish(t, m.servers[0].Compare)
	}
	anyServer := func() *eventlog.Keeper { return m.servers[rapid.IntRange(0, 1).Draw(t, "server")] }
	var last []data.Observation
	for range rapid.IntRange(1, 8).Draw(t, "steps") {
		switch rapid.IntRange(0, 8).Draw(t, "step") {
		case 0: // the same data again
			if len(last) > 0 {
				put(last)
			}
		case 1:
			m.servers[rapid.IntRange(0, 1).Draw(t, "server")] = m.keeper(m.store)
		case 2: // a server dies while it writes, and another one publishes
			dying := m.keeper(&dyingLog{Log: m.store, writes: rapid.IntRange(0, 3).Draw(t, "writes")})
			if err := dying.Compare(ctx, m.load(t, m.store)); err != nil && !errors.Is(err, errDied) {
				t.Fatal(err)
			}
			m.publish(t, anyServer().Compare)
		case 3: // both servers publish at the same time
			m.publish(t, func(ctx context.Context, snap *snapshot.Snapshot) error {
				var group errgroup.Group
				for _, k := range m.servers {
					group.Go(func() error {
						for {
							if err := k.Compare(ctx, snap); !errors.Is(err, data.ErrMomentBusy) {
								return err
							}
							time.Sleep(time.Millisecond)
						}
					})
				}
				return group.Wait()
			})
		case 4: // nothing new arrives for some days
			m.now = m.now.AddDate(0, 0, rapid.IntRange(1, 20).Draw(t, "days"))
			m.publish(t, anyServer().Compare)
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
				m.publish(t, m.servers[0].Compare)
			}
		}
		m.compareLogs(t)
	}
	m.publish(t, m.servers[1].Compare) // the next check begins with what is published
	m.compareLogs(t)
}

// compareLogs compares the events of the check, but for their numbers and the versions of the snapshots.
func (m *eventPair) compareLogs(t *rapid.T) {
	logs := make([][]data.Event, 2)
	for i, s := range []*store.Store{m.store, m.calm} {
		first := []int64{m.first, m.firstCalm}[i]
		var err error
		if logs[i], err = s.Events(context.Background(), data.EventQuery{After: first}); err != nil {
			t.Fatal(err)
		}
		ids := make(map[data.EventID]bool)
		for j := range logs[i] {
			e := &logs[i][j]
			if e.Seq != first+int64(j)+1 || ids[e.ID] {
				t.Fatalf("event %d has the number %d; its id came before: %v", first+int64(j)+1, e.Seq, ids[e.ID])
			}
			ids[e.ID] = true
			e.Seq, e.Snapshot = 0, ""
		}
	}
	if !reflect.DeepEqual(logs[0], logs[1]) {
		t.Fatalf("the log has\n%+v\nwant\n%+v", logs[0], logs[1])
	}
}
