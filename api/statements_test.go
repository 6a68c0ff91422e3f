package api

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/data/events/eventlog"
	"limnomap/data/snapshot"
	"limnomap/tiles/admission"
)

// TestStatementsArePublishedAtOnce imports random official statements under a running server. It answers as a server that is started with them, with
// the same entity tags: requests for the lists of all lakes wait until these are prepared. Both make the same events.
func TestStatementsArePublishedAtOnce(t *testing.T) {
	for name, sending := range map[string]answer.Options{"held lists": {}, "long lists": {HeldItems: -1}} {
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
				if waits := s.common.current.Load().lists.status.waits(); waits != (published > 0 || name == "long lists") {
					t.Errorf("the lists of snapshot %d are left to FinishLists: %v", published, waits)
				}
				var finishing sync.WaitGroup
				finishing.Go(func() { s.FinishLists() }) // requests for the lists wait for it
				wantAnswersOf(t, s, newServer(t, opts, f))
				finishing.Wait()
				wantLists(t, s)
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

// TestConcurrentStatementsAndLists publishes official statements while the lists of all lakes are prepared and requested. No publication waits for the
// lists, each request gets those of the snapshot that was published or of a later one, and none makes its own, since there is no memory for that.
func TestConcurrentStatementsAndLists(t *testing.T) {
	for name, sending := range map[string]answer.Options{"held lists": {}, "long lists": {HeldItems: -1}} {
		t.Run(name, func(t *testing.T) {
			opts := testOptions(t)
			opts.APIRate, opts.sending, opts.Memory = 0, sending, admission.NewBudget(1)
			f, s := testSource(t), newServer(t, opts, nil)
			ctx, cancel := context.WithCancel(t.Context())
			published := 0
			var finishing, requests sync.WaitGroup
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
				requests.Go(func() { get(t, s, http.StatusOK, geoJSONURL, "Accept-Encoding", "gzip") })
				requests.Go(func() {
					var status struct {
						At time.Time `json:"generated_at"`
					}
					if err := json.Unmarshal([]byte(plainOf(t, "gzip", get(t, s, http.StatusOK, statusURL, "Accept-Encoding", "gzip").Body.Bytes())), &status); err != nil || status.At.Before(generatedAt(snap)) {
						t.Errorf("the status is of %v, %v, want %v or later", status.At, err, generatedAt(snap))
					}
				})
				finishing.Go(func() { s.FinishLists() })
				if published++; published > 40 {
					cancel()
					return
				}
				f.advisories = append(f.advisories, testAdvisories()[0])
				f.advisories[len(f.advisories)-1].ID += data.AdvisoryID(fmt.Sprint(published))
				f.revision.Number++
				f.revision.Statements++
				f.revision.ChangedAt = f.revision.ChangedAt.Add(time.Minute)
			}
			watcher.Run(ctx)
			requests.Wait()
			finishing.Wait()
			wantLists(t, s)
			fresh := newServer(t, opts, f)
			fresh.FinishLists()
			for _, target := range []string{statusURL, geoJSONURL} {
				got, want := get(t, s, http.StatusOK, target, "Accept-Encoding", "gzip"), get(t, fresh, http.StatusOK, target, "Accept-Encoding", "gzip")
				if tag, wanted := got.Header().Get("ETag"), want.Header().Get("ETag"); tag != wanted || got.Body.String() != want.Body.String() {
					t.Errorf("%s: entity tag %s, want %s and the same bytes", target, tag, wanted)
				}
			}
		})
	}
}

// wantLists fails unless the lists of all lakes are prepared.
func wantLists(t *testing.T, s *Server) {
	t.Helper()
	if l := s.common.current.Load().lists; l.status.waits() || l.status.body == nil || l.geojson.waits() || l.geojson.body == nil {
		t.Error("the lists were not prepared")
	}
}

func addEvents(t *testing.T, log *eventlog.Memory, snap *snapshot.Snapshot) {
	t.Helper()
	if err := log.NextMoment(t.Context(), func(last data.Moment, tx data.MomentTx) (data.Moment, error) {
		r, err := eventlog.Next(last, tx, snap, eventlog.Settings{Snapshots: "settings"}, data.At(testNow()))
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
