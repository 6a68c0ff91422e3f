package api

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/data/events/eventlog"
	"limnomap/data/snapshot"
)

// TestStatementsArePublishedAtOnce imports random official statements under a running server. It answers as a server that is started with them, with
// the same entity tags: before the lists of all lakes are prepared, and after. Both make the same events.
func TestStatementsArePublishedAtOnce(t *testing.T) {
	for name, sending := range map[string]answer.Options{"held lists": {}, "long lists": {PreparedItems: -1, MadeItems: -1}} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			opts := testOptions(t)
			opts.APIRate, opts.sending = 0, sending
			f, s := testSource(t), newServer(t, opts, nil)
			log, logOfLoads := new(eventlog.Memory), new(eventlog.Memory)
			ctx, cancel := context.WithCancel(t.Context())
			published := 0
			watcher := snapshot.Watcher{Source: f, Interval: time.Millisecond, Options: &snapshot.Options{Present: data.ByClock(testNow)}}
			watcher.Failed = func(err error) { t.Error(err) }
			watcher.Publish = func(snap *snapshot.Snapshot) { // the source changes here only, on the watcher's goroutine
				if err := s.Publish(snap); err != nil {
					t.Error(err)
				}
				if left := s.common.current.Load().former != nil; left != (published > 0) {
					t.Errorf("the lists of snapshot %d were left out: %v", published, left)
				}
				fresh := newServer(t, opts, f)
				for _, finish := range []func(){func() {}, s.FinishLists} {
					if finish(); published > 0 || name == "held lists" { // of the first snapshot long lists are waited for
						wantAnswersOf(t, s, fresh)
					}
				}
				if p := s.common.current.Load(); p.former != nil || p.status.body == nil || p.geojson.body == nil {
					t.Error("the lists were not prepared")
				}
				addEvents(t, log, snap)
				addEvents(t, logOfLoads, testSnapshot(t, f))
				if published++; published > 12 {
					cancel()
					return
				}
				f.advisories = append(f.advisories, testAdvisories()[random.IntN(6)])
				f.advisories[len(f.advisories)-1].ID += data.AdvisoryID(fmt.Sprint(published))
				changed := &f.advisories[random.IntN(len(f.advisories))]
				changed.TextEN, changed.LakeID = fmt.Sprint("Text ", published), f.lakes[random.IntN(len(f.lakes))].ID
				f.revision.Number++
				f.revision.Statements++
				f.revision.ChangedAt = f.revision.ChangedAt.Add(time.Minute)
			}
			watcher.Run(ctx)
			events, err := log.Events(t.Context(), data.EventQuery{Limit: 1000})
			if err != nil || len(events) == 0 {
				t.Fatalf("%d events, %v", len(events), err)
			}
			want, err := logOfLoads.Events(t.Context(), data.EventQuery{Limit: 1000})
			if got, want := kindsOf(events), kindsOf(want); err != nil || got != want {
				t.Errorf("the events are\n%s\nwant those after loads\n%s", got, want)
			}
		})
	}
}

// TestConcurrentStatementsAndLists publishes official statements while the lists of all lakes are prepared. No publication waits for them, and the last
// lists are those of the last snapshot.
func TestConcurrentStatementsAndLists(t *testing.T) {
	for name, sending := range map[string]answer.Options{"held lists": {}, "long lists": {PreparedItems: -1, MadeItems: -1}} {
		t.Run(name, func(t *testing.T) {
			opts := testOptions(t)
			opts.APIRate, opts.sending = 0, sending
			f, s := testSource(t), newServer(t, opts, nil)
			ctx, cancel := context.WithCancel(t.Context())
			published := 0
			var finishing sync.WaitGroup
			watcher := snapshot.Watcher{Source: f, Interval: time.Microsecond, Options: &snapshot.Options{Present: data.ByClock(testNow)}}
			watcher.Failed = func(err error) { t.Error(err) }
			watcher.Publish = func(snap *snapshot.Snapshot) {
				busy := published%3 == 1 && s.common.preparing.TryLock() // as if lists were being prepared
				if err := s.Publish(snap); err != nil {
					t.Error(err)
				}
				if got := s.common.current.Load().snap; got.Version != snap.Version {
					t.Errorf("published %s, want %s", got.Version, snap.Version)
				}
				if busy {
					s.common.preparing.Unlock()
				}
				finishing.Go(s.FinishLists)
				if published++; published > 40 {
					cancel()
					return
				}
				f.advisories = append(f.advisories, testAdvisories()[0])
				f.advisories[len(f.advisories)-1].ID += data.AdvisoryID(fmt.Sprint(published))
				f.revision.Number++
				f.revision.Statements++
			}
			watcher.Run(ctx)
			finishing.Wait()
			if p := s.common.current.Load(); p.former != nil || p.status.body == nil || p.geojson.body == nil {
				t.Error("the lists were not prepared")
			}
			wantAnswersOf(t, s, newServer(t, opts, f))
		})
	}
}

func addEvents(t *testing.T, log *eventlog.Memory, snap *snapshot.Snapshot) {
	t.Helper()
	if err := log.NextMoment(t.Context(), func(last data.Moment, tx data.MomentTx) (data.Moment, error) {
		r, err := eventlog.Next(last, tx, snap, "settings", data.At(testNow()))
		return r.Moment, err
	}); err != nil {
		t.Error(err)
	}
}

// kindsOf describes events.
func kindsOf(events []data.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d %s %v %+v\n", e.Seq, e.LakeID, e.Kind, e.Advisory)
	}
	return b.String()
}
