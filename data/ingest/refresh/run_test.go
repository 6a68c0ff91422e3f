package refresh

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/store"
)

// A weekly is a schedule by a period.
type every time.Duration

func (e every) Next(t time.Time) time.Time { return t.Add(time.Duration(e)) }

const week = every(7 * 24 * time.Hour)

// A station is a store in the fake time of a synctest bubble, with a folder as its source.
type station struct {
	t     *testing.T
	start time.Time
	db    string
	dir   string
	s     *store.Store
}

// inBubble runs fn with a station in a bubble. The times of its files are fake too.
func inBubble(t *testing.T, fn func(*testing.T, *station)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st := &station{t: t, start: time.Now(), db: filepath.Join(dir, "lakes.db"), dir: filepath.Join(dir, "in")}
		must(t, os.Mkdir(st.dir, 0o700))
		st.s = st.open()
		fn(t, st)
	})
}

func (st *station) open() *store.Store {
	st.t.Helper()
	s, err := store.Open(st.t.Context(), st.db, true)
	if err != nil {
		st.t.Fatal(err)
	}
	st.t.Cleanup(func() { s.Close() })
	return s
}

// put writes a file. In a bubble it is the year 2000, so satellite data must not be later.
func (st *station) put(name, text string) {
	write(st.t, st.dir, name, strings.ReplaceAll(text, "2024-", "1999-"))
}

func (st *station) refresher(s *store.Store, log *logBuffer) *Refresher {
	st.t.Helper()
	r, err := New(s, sourcesOf(st.dir), &Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		st.t.Fatal(err)
	}
	return r
}

// run runs a Refresher by the week until stop is called.
func (st *station) run(log *logBuffer) (stop func()) {
	ctx, cancel := context.WithCancel(st.t.Context())
	done := make(chan struct{})
	r := st.refresher(st.s, log)
	go func() { // ends with cancel
		defer close(done)
		r.Run(ctx, week)
	}()
	return func() { cancel(); <-done }
}

// after waits until that long after the start, and returns the state in the database.
func (st *station) after(d time.Duration) data.Refresh {
	st.t.Helper()
	time.Sleep(time.Until(st.start.Add(d)))
	synctest.Wait()
	r, err := st.s.Refresh(st.t.Context())
	if err != nil {
		st.t.Fatal(err)
	}
	return r
}

// begun returns how long after the start the last attempt began.
func (st *station) begun(r data.Refresh) time.Duration { return r.LastAttempt.Sub(st.start) }

func TestRunKeepsItsSchedule(t *testing.T) {
	inBubble(t, func(t *testing.T, st *station) {
		st.put("lakes.csv", lakes)
		log := new(logBuffer)
		stop := st.run(log)
		if r := st.after(time.Second); st.begun(r) != 0 || r.Rows.Added != 2 || r.Turn != 2 {
			t.Errorf("at the start: %+v, want a refresh at once", r)
		}
		st.put("obs.csv", observations)
		if r := st.after(time.Duration(week) - time.Second); r.Turn != 2 {
			t.Errorf("before the week is over: %+v, want no refresh more", r)
		}
		if r := st.after(time.Duration(week) + time.Second); st.begun(r) != time.Duration(week) || r.Rows.Added != 1 {
			t.Errorf("after a week: %+v, %v", r, st.begun(r))
		}
		if r := st.after(2*time.Duration(week) + time.Second); st.begun(r) != 2*time.Duration(week) || r.Turn != 6 || r.LastError != "" || r.Rows.Added != 1 {
			t.Errorf("after two weeks: %+v, %v", r, st.begun(r))
		}
		stop()
		for what, times := range map[string]int{"msg=refreshed": 2, "nothing new": 1, "WARN": 0} {
			if n := strings.Count(log.String(), what); n != times {
				t.Errorf("the log says %d times %q, want %d\n%s", n, what, times, log)
			}
		}
	})
}

// A process that has ended is taken into account by the next one.
func TestRunContinuesAfterAnotherProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, st *station) {
		st.put("lakes.csv", lakes)
		if _, err := st.refresher(st.s, new(logBuffer)).RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		st.after(3 * 24 * time.Hour)
		stop := st.run(new(logBuffer))
		if r := st.after(4 * 24 * time.Hour); r.Turn != 2 {
			t.Errorf("after a restart: %+v, want no refresh", r)
		}
		if r := st.after(time.Duration(week) + time.Second); st.begun(r) != time.Duration(week) {
			t.Errorf("after a week: %+v, %v", r, st.begun(r))
		}
		stop()

		// A missed refresh is done at once.
		st.after(5 * time.Duration(week))
		stop = st.run(new(logBuffer))
		if r := st.after(5*time.Duration(week) + time.Second); st.begun(r) != 5*time.Duration(week) {
			t.Errorf("after a month off: %+v, %v", r, st.begun(r))
		}
		stop()
	})
}

func TestRunRetries(t *testing.T) {
	inBubble(t, func(t *testing.T, st *station) {
		log := new(logBuffer)
		stop := st.run(log)
		var begun []time.Duration
		last := int64(-1)
		for minute := range 5 * 60 {
			r := st.after(time.Duration(minute)*time.Minute + time.Second)
			if r.Turn != last {
				begun, last = append(begun, st.begun(r)), r.Turn
			}
			if r.LastError != emptyReason || r.Failures != len(begun) {
				t.Fatalf("after %d minutes: %+v", minute, r)
			}
		}
		// 1, 2, 4, 8, 16 and 32 minutes, and then one hour each.
		want := []time.Duration{0, 1, 3, 7, 15, 31, 63, 123, 183, 243}
		for i := range want {
			want[i] *= time.Minute
		}
		if !slices.Equal(begun, want) {
			t.Errorf("attempts began after %v, want %v", begun, want)
		}
		st.put("lakes.csv", lakes)
		if r := st.after(303*time.Minute + time.Second); r.LastError != "" || r.Failures != 0 || r.Rows.Added != 2 {
			t.Errorf("once there is a file: %+v", r)
		}
		if r := st.after(time.Duration(week)); r.Turn != last+2 {
			t.Errorf("after a success: %+v, want the next one in a week", r)
		}
		stop()
		if n := strings.Count(log.String(), "refresh failed"); n != len(want) {
			t.Errorf("the log tells of %d failures, want %d", n, len(want))
		}
	})
}

func TestDue(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	r := &Refresher{now: func() time.Time { return now }}
	before := now.Add(-time.Hour)
	tests := []struct {
		name  string
		state data.Refresh
		every Schedule
		want  time.Time
	}{
		{"never refreshed", data.Refresh{}, week, now},
		{"refreshed", data.Refresh{LastAttempt: before, LastSuccess: before}, week, before.Add(time.Duration(week))},
		{"failed once", data.Refresh{LastAttempt: before, LastError: "x", Failures: 1}, week, before.Add(time.Minute)},
		{"failed often", data.Refresh{LastAttempt: before, LastError: "x", Failures: 1 << 40}, week, before.Add(time.Hour)},
		{"failed, but the schedule comes first", data.Refresh{LastAttempt: before, LastError: "x", Failures: 7}, every(time.Second), before.Add(time.Second)},
		{"held", data.Refresh{LastAttempt: now, LeasedUntil: now.Add(time.Minute)}, week, now.Add(time.Minute)},
		{"attempted by a clock a little ahead", data.Refresh{LastAttempt: now.Add(time.Hour)}, week, now.Add(time.Hour + time.Duration(week))},
		{"attempted by a clock far ahead", data.Refresh{LastAttempt: now.AddDate(1, 0, 0)}, week, now},
		{"held by a clock a little ahead", data.Refresh{LastAttempt: now.Add(time.Hour), LeasedUntil: now.Add(time.Hour + lease)}, week, now.Add(time.Hour + lease)},
		{"held by a clock far ahead", data.Refresh{LastAttempt: now.AddDate(1, 0, 0), LeasedUntil: now.AddDate(1, 0, 0)}, week, now},
		{"left", data.Refresh{LastAttempt: before, LeasedUntil: before.Add(time.Minute)}, week, before.Add(time.Minute)},
	}
	for _, test := range tests {
		if got := r.due(test.state, test.every); !got.Equal(test.want) {
			t.Errorf("%s: due %v, want %v", test.name, got, test.want)
		}
	}
}

// Of many processes with the same schedule, one refreshes.
func TestOneOfManyProcessesRefreshes(t *testing.T) {
	inBubble(t, func(t *testing.T, st *station) {
		st.put("lakes.csv", lakes)
		ctx, cancel := context.WithCancel(t.Context())
		log := new(logBuffer)
		var group sync.WaitGroup
		for range 4 {
			s := st.open() // each with its own connections
			group.Go(func() { st.refresher(s, log).Run(ctx, week) })
		}
		for i := range 3 {
			if r := st.after(time.Duration(i)*time.Duration(week) + 5*time.Minute); r.Turn != int64(2*(i+1)) || r.LastError != "" || st.begun(r) != time.Duration(i)*time.Duration(week) {
				t.Errorf("in week %d: %+v, began after %v; want one refresh a week", i, r, st.begun(r))
			}
			st.put(fmt.Sprintf("obs%d.csv", i), fmt.Sprintf("lake_id,date,chl,data_type\na,2024-07-0%d,5,satellite\n", i+1))
		}
		cancel()
		group.Wait()
		if n := strings.Count(log.String(), "msg=refreshed"); n != 3 || strings.Contains(log.String(), "WARN") {
			t.Errorf("the logs have %d refreshes, want 3 and no warning:\n%s", n, log)
		}
	})
}

// A claim left by a killed process is taken over when it expires, and counts as a failure until then.
func TestRunTakesOverAnExpiredClaim(t *testing.T) {
	inBubble(t, func(t *testing.T, st *station) {
		st.put("lakes.csv", lakes)
		if ok, err := st.s.LeaseRefresh(t.Context(), 0, "killed", lease); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if _, err := st.refresher(st.s, new(logBuffer)).RunOnce(t.Context()); !errors.Is(err, ErrBusy) {
			t.Errorf("RunOnce during another refresh = %v, want %v", err, ErrBusy)
		}
		stop := st.run(new(logBuffer))
		if r := st.after(lease - time.Second); r.Turn != 1 {
			t.Errorf("while the claim lasts: %+v", r)
		}
		if r := st.after(lease + time.Second); r.Turn != 3 || r.Rows.Added != 2 || st.begun(r) != lease {
			t.Errorf("after it: %+v", r)
		}
		stop()
	})
}

// A slow refresh keeps its claim. If another process takes it over nevertheless, the refresh writes nothing.
func TestClaimIsKeptOrLost(t *testing.T) {
	inBubble(t, func(t *testing.T, st *station) {
		st.put("lakes.csv", lakes)
		slow := st.refresher(st.s, new(logBuffer))
		file := filepath.Join(st.dir, "lakes.csv")
		soon := time.Now()
		must(t, os.Chtimes(file, soon, soon))
		slow.sleep = func(ctx context.Context, _ time.Duration) error { return sleep(ctx, 10*time.Minute) } // a slow source
		done := make(chan error)
		go func() { // ends with the refresh
			_, err := slow.RunOnce(t.Context())
			done <- err
		}()
		r := st.after(9 * time.Minute)
		if left := time.Until(r.LeasedUntil); left <= 0 || left > lease {
			t.Errorf("after 9 minutes the claim lasts for another %v, want up to %v", left, lease)
		}
		if err := <-done; err != nil {
			t.Errorf("a slow refresh = %v", err)
		}
		holds(t, st.s, 1, 2)

		soon = time.Now()
		st.put("lakes.csv", lakes+"c,See C,52,12\n")
		must(t, os.Chtimes(file, soon, soon))
		go func() { // ends with the refresh
			_, err := slow.RunOnce(t.Context())
			done <- err
		}()
		st.after(time.Since(st.start) + time.Minute)
		// Another process's clock is ahead, so that it takes over the claim.
		db, err := sql.Open("sqlite", st.db)
		must(t, err)
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "UPDATE refresh SET holder = 'another', turn = turn + 1"); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, data.ErrLeaseLost) {
			t.Errorf("a refresh that lost its claim = %v, want %v", err, data.ErrLeaseLost)
		}
		holds(t, st.s, 1, 2)
	})
}

// An interruption is stored, and the next process tries again soon.
func TestInterrupted(t *testing.T) {
	inBubble(t, func(t *testing.T, st *station) {
		st.put("lakes.csv", lakes)
		r := st.refresher(st.s, new(logBuffer))
		ctx, cancel := context.WithCancel(t.Context())
		r.sleep = func(ctx context.Context, _ time.Duration) error {
			cancel()
			return ctx.Err()
		}
		now := time.Now()
		must(t, os.Chtimes(filepath.Join(st.dir, "lakes.csv"), now, now))
		if _, err := r.RunOnce(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Once = %v, want %v", err, context.Canceled)
		}
		if r := st.after(0); r.LastError != interruptedReason || r.Failures != 1 || !r.LeasedUntil.IsZero() {
			t.Errorf("interrupted: %+v", r)
		}
		holds(t, st.s, 0, 0)
	})
}
