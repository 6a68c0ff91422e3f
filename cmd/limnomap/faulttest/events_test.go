//go:build unix

package faulttest

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data"
	"limnomap/data/events/hook"
	"limnomap/data/store"
	"limnomap/data/testsize"
)

// A hostileReceiver takes a request, or fails in one of many ways, until it is repaired. It notes the events that it took, in the order in
// which they came first.
type hostileReceiver struct {
	repaired atomic.Bool

	mu    sync.Mutex
	taken []int64
	seen  map[int64]bool
	twice int
}

func (r *hostileReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	var m struct{ Data struct{ Seq int64 } }
	if err != nil || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if !r.repaired.Load() {
		switch rand.IntN(8) {
		case 0:
			w.WriteHeader(http.StatusInternalServerError)
			return
		case 1:
			panic(http.ErrAbortHandler) // the connection ends without an answer
		case 2:
			time.Sleep(time.Duration(rand.Int64N(int64(500 * time.Millisecond))))
		case 3:
			if rand.IntN(10) == 0 {
				<-req.Context().Done() // no answer at all
				return
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[m.Data.Seq] {
		r.twice++
		return
	}
	r.seen[m.Data.Seq] = true
	r.taken = append(r.taken, m.Data.Seq)
}

// storedEvents returns all events of a database.
func storedEvents(t *testing.T, db string) []data.Event {
	t.Helper()
	s, err := store.Open(t.Context(), db, false)
	must(t, err)
	defer s.Close()
	events, err := s.Events(t.Context(), data.EventQuery{})
	must(t, err)
	return events
}

// checkLog fails unless the events have numbers without gaps and different ids, and each goes on where the one before about its lake ended.
// The last ones lead to the levels that a server shows.
func checkLog(t *testing.T, events []data.Event, levels map[data.LakeID]data.Level) {
	t.Helper()
	ids := make(map[data.EventID]bool)
	known := make(map[data.LakeID]data.Level)
	for i, e := range events {
		if e.Seq != int64(i+1) || ids[e.ID] {
			t.Fatalf("event %d has the number %d; its id came before: %v", i+1, e.Seq, ids[e.ID])
		}
		ids[e.ID] = true
		if before, ok := known[e.LakeID]; ok && before != e.Before.Level || e.Before.Level == e.After.Level {
			t.Fatalf("event %d says that lake %s went from level %d to %d; it had %d", e.Seq, e.LakeID, e.Before.Level, e.After.Level, before)
		}
		known[e.LakeID] = e.After.Level
	}
	if !leadTo(events, levels) {
		t.Errorf("by the events the levels are %v, the server shows %v", known, levels)
	}
}

// leadTo reports whether the last event about each lake leads to its level. The log is written after a server shows the data.
func leadTo(events []data.Event, levels map[data.LakeID]data.Level) bool {
	for i, e := range events {
		reached := e.After.Level == levels[e.LakeID]
		if !reached && !slices.ContainsFunc(events[i+1:], func(later data.Event) bool { return later.LakeID == e.LakeID }) {
			return false
		}
	}
	return true
}

// shownLevels returns the levels of a server's status.
func shownLevels(t *testing.T, s *limnomaptest.Server) map[data.LakeID]data.Level {
	t.Helper()
	var status struct {
		Lakes []struct {
			ID    data.LakeID
			Level *int `json:"who_level"`
		}
	}
	limnomaptest.GetJSON(t, s.Base+statusPath, &status)
	levels := make(map[data.LakeID]data.Level)
	for _, l := range status.Lakes {
		levels[l.ID] = data.NoLevel
		if l.Level != nil {
			levels[l.ID] = data.Level(*l.Level)
		}
	}
	return levels
}

// TestEventsSurviveKills kills servers at any time while data are imported and webhooks are sent to receivers that fail in all ways. In between the database is away. The log
// has each change once, without gaps, and each event reaches each receiver, in order.
func TestEventsSurviveKills(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]struct {
		open    func(*testing.T) (db string, outage func())
		servers int
	}{
		"SQLite": {func(t *testing.T) (string, func()) { return filepath.Join(t.TempDir(), "lakes.db"), func() {} }, 1},
		"PostgreSQL": {func(t *testing.T) (string, func()) {
			p := startPostgres(t)
			return p.url, func() {
				p.kill(t)
				time.Sleep(2 * time.Second)
				p.start(t)
			}
		}, 2},
	} {
		if name != "SQLite" && !testsize.Long {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kills := testsize.Of(3, 60)
			db, outage := setup.open(t)
			const lakes = 20
			dir := t.TempDir()
			var table strings.Builder
			table.WriteString("id,name,lat,lon\n")
			for i := range lakes {
				fmt.Fprintf(&table, "lake_%02d,Lake %d,48,%d\n", i, i, i)
			}
			importFile(t, "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", table.String()), db)
			observe := func(chl func(lake int) string) {
				t.Helper()
				var rows strings.Builder
				rows.WriteString("lake_id,date,chl,data_type\n")
				for i := range lakes {
					fmt.Fprintf(&rows, "lake_%02d,2026-07-06,%s,satellite\n", i, chl(i))
				}
				importFile(t, "observations", limnomaptest.WriteFile(t, dir, "obs.csv", rows.String()), db)
			}
			observe(func(int) string { return "5" })

			receivers := []*hostileReceiver{{seen: make(map[int64]bool)}, {seen: make(map[int64]bool)}}
			var hooks []string
			for _, r := range receivers {
				s := httptest.NewServer(r)
				t.Cleanup(s.Close)
				out := limnomaptest.Run(t, "hooks", "create", "--db", db, "--hooks-allow-http", "--hooks-allow", "127.0.0.0/8", "--url", s.URL)
				hooks = append(hooks, strings.Fields(out)[0])
			}
			// One receiver has a certificate that no one trusts, and one is not there: they delay no other.
			untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
			untrusted.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			untrusted.StartTLS()
			t.Cleanup(untrusted.Close)
			absent, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			must(t, absent.Close())
			for _, address := range []string{untrusted.URL, "http://" + absent.Addr().String()} {
				limnomaptest.Run(t, "hooks", "create", "--db", db, "--hooks-allow-http", "--hooks-allow", "127.0.0.0/8", "--url", address)
			}

			servers := make([]*limnomaptest.Server, setup.servers)
			startServer := func(i int) {
				servers[i] = launch(t, "--db", db, "--hooks-allow-http", "--hooks-allow", "127.0.0.0/8")
			}
			for i := range servers {
				startServer(i)
			}
			limnomaptest.Within(t, patience, "the log begins", func() bool {
				return slices.ContainsFunc(servers, func(s *limnomaptest.Server) bool { return strings.Contains(s.Log.String(), "log of events written") })
			})
			for i := range kills {
				if i%20 == 3 {
					outage()
				}
				if i%5 != 4 { // every fifth time the same data are imported again
					observe(func(int) string { return []string{"5", "15", "60", ""}[rand.IntN(4)] })
				} else {
					importFile(t, "observations", filepath.Join(dir, "obs.csv"), db)
				}
				time.Sleep(time.Duration(rand.Int64N(int64(1500 * time.Millisecond))))
				victim := i % len(servers)
				servers[victim].Kill()
				<-servers[victim].Exited()
				startServer(victim)
				for _, id := range hooks { // after failures the next attempt is at once, and not after minutes
					limnomaptest.Run(t, "hooks", "set", id, "--state", "active", "--db", db)
				}
			}
			for _, r := range receivers {
				r.repaired.Store(true)
			}
			for _, s := range servers {
				s.AwaitReady(t)
			}
			observe(func(lake int) string { return []string{"5", "60"}[lake%2] })
			levels := func() map[data.LakeID]data.Level { return shownLevels(t, servers[0]) }
			limnomaptest.Within(t, patience, "the last data are shown", func() bool {
				l := levels()
				for i := range lakes { // data before may have had some of these levels
					if l[data.LakeID(fmt.Sprintf("lake_%02d", i))] != data.Level(i%2*2) {
						return false
					}
				}
				return true
			})
			var events []data.Event
			limnomaptest.Within(t, patience, "the log has the last data, and each receiver has all events", func() bool {
				events = storedEvents(t, db)
				if shown := levels(); !leadTo(events, shown) {
					time.Sleep(time.Second)
					return false
				}
				for i, r := range receivers {
					limnomaptest.Run(t, "hooks", "set", hooks[i], "--state", "active", "--db", db)
					r.mu.Lock()
					n := len(r.taken)
					r.mu.Unlock()
					if n < len(events) {
						time.Sleep(time.Second)
						return false
					}
				}
				return true
			})
			checkLog(t, events, levels())
			for i, r := range receivers {
				r.mu.Lock()
				if !slices.IsSorted(r.taken) || len(r.taken) != len(events) {
					t.Errorf("receiver %d got %d of %d events, in order: %v", i, len(r.taken), len(events), slices.IsSorted(r.taken))
				}
				t.Logf("%d events; receiver %d got %d of them more than once", len(events), i, r.twice)
				r.mu.Unlock()
			}
			s, err := store.Open(t.Context(), db, false)
			must(t, err)
			defer s.Close()
			limnomaptest.Within(t, patience, "deliveries to the receivers that never answer have failed, and no webhook is paused", func() bool {
				all, err := s.Hooks(t.Context())
				must(t, err)
				return !slices.ContainsFunc(all, func(h hook.Hook) bool {
					return h.State != hook.Active || h.Failures == 0 && !slices.Contains(hooks, h.ID)
				})
			})
		})
	}
}
