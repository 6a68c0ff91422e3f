package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/events/eventlog"
	"limnomap/data/snapshot"
)

// A brokenLog is a Log that fails as long as err is not nil.
type brokenLog struct {
	eventlog.Log
	err atomic.Pointer[error]
}

func (l *brokenLog) EventState(ctx context.Context) (data.EventState, error) {
	if err := l.err.Load(); err != nil {
		return data.EventState{}, *err
	}
	return l.Log.EventState(ctx)
}

// logged is what Keepers log.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func keeperOptions(log eventlog.Log, settings string, messages *logged) eventlog.Options {
	return eventlog.Options{Log: log, Settings: eventlog.Settings{Snapshots: settings}, Keep: 48 * time.Hour, Present: data.ByClock(time.Now), Believed: func(context.Context) (time.Time, error) { return time.Now(), nil }, Wrote: func(map[data.EventKind]int, time.Duration) {},
		Logger: slog.New(slog.NewTextHandler(messages, nil)), Failed: func(err error) { fmt.Fprintln(messages, "failed:", err) }}
}

// describeLog returns the events of a log in short.
func describeLog(t *testing.T, log eventlog.Log) []string {
	t.Helper()
	events, err := log.Events(t.Context(), data.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return describeAll(events)
}

// A Keeper compares what is offered, follows what others write, and forgets what is old.
func TestKeeper(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var messages logged
		log := &brokenLog{Log: new(eventlog.Memory)}
		w := newWorld("a")
		w.set("a", 0, 5)
		one, other := eventlog.NewKeeper(keeperOptions(log, "all", &messages)), eventlog.NewKeeper(keeperOptions(log, "all", &messages))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{}, 2)
		for _, k := range []*eventlog.Keeper{one, other} {
			go func() { k.Run(ctx); ended <- struct{}{} }()
		}
		first := w.snapshot(t, time.Now())
		one.Offer(first)
		synctest.Wait()
		_, news := other.State()
		w.set("a", 0, 60)
		s := w.snapshot(t, time.Now())
		one.Offer(s)
		synctest.Wait()
		if got := describeLog(t, log); !slices.Equal(got, []string{"1 a class_up: level 0 to 2"}) {
			t.Fatalf("%q", got)
		}
		time.Sleep(2 * time.Second)
		select {
		case <-news:
		default:
			t.Error("the other Keeper has no news")
		}
		if state, _ := other.State(); state != (data.EventState{Moment: 2, Oldest: 1, Newest: 1}) {
			t.Errorf("the other Keeper knows %+v", state)
		}
		other.Offer(s)
		synctest.Wait()
		if got := describeLog(t, log); len(got) != 1 {
			t.Errorf("offered to two: %q", got)
		}
		if changed, err := other.Changes(ctx, s, first.Version); err != nil || !changed(0) {
			t.Errorf("the lake is not among the changes: %v", err)
		}
		// While the log fails, the Keeper tries again, ever more rarely.
		away := errors.New("away")
		log.err.Store(&away)
		time.Sleep(10 * time.Minute)
		if n := strings.Count(messages.String(), "failed: away"); n < 2*10 || n > 2*20 {
			t.Errorf("%d failures in ten minutes of two, want about one a minute", n)
		}
		if first, later := strings.Count(messages.String(), "log of events failed"), strings.Count(messages.String(), "log of events still fails"); first != 2 || later > 2 {
			t.Errorf("%d first and %d later lines of the log of ten minutes of two, want 2 and at most 2:\n%s", first, later, &messages)
		}
		log.err.Store(nil)
		time.Sleep(2 * time.Minute)
		if n := strings.Count(messages.String(), "log of events works again"); n != 2 {
			t.Errorf("%d lines say that it works again, want 2:\n%s", n, &messages)
		}
		// Who loads newer data tells that the database is away.
		told := messages.String()
		gone := fmt.Errorf("no answer: %w", data.ErrAway)
		log.err.Store(&gone)
		time.Sleep(time.Minute)
		log.err.Store(nil)
		time.Sleep(2 * time.Minute)
		if lines := strings.TrimPrefix(messages.String(), told); !strings.Contains(lines, "failed: no answer") || strings.Contains(lines, "log of events") {
			t.Errorf("a minute without the database is told: %s", lines)
		}
		// Two days later the event is dropped, not before.
		time.Sleep(47 * time.Hour)
		if state, _ := one.State(); state.Oldest != 1 {
			t.Errorf("after 47 hours: %+v", state)
		}
		time.Sleep(3 * time.Hour)
		if state, _ := one.State(); state != (data.EventState{Moment: 2, Oldest: 2, Newest: 1}) {
			t.Errorf("after 50 hours: %+v", state)
		}
		stop()
		<-ended
		<-ended
	})
}

// When values become too old by the clock, of two Keepers that are offered the snapshot of the day one writes.
func TestKeeperAgeing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var messages logged
		log := new(eventlog.Memory)
		w := newWorld("a", "b")
		w.set("a", 1, 5)
		w.set("b", 0, 60)
		ahead := time.Until((monday + 28).Time())
		now := func() time.Time { return time.Now().Add(ahead) }
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{}, 2)
		s := w.load(t, snapshot.AsOf{}, now())
		var keepers []*eventlog.Keeper
		for range cap(ended) {
			options := keeperOptions(log, "all", &messages)
			options.Present, options.Keep = data.ByClock(now), 1000*time.Hour
			k := eventlog.NewKeeper(options)
			keepers = append(keepers, k)
			go func() { k.Run(ctx); ended <- struct{}{} }()
		}
		for _, tt := range []struct {
			day  data.Date
			want []string
		}{
			{28, nil},
			{29, []string{"1 b became_stale: level 2 to -1"}},
			{30, []string{"1 b became_stale: level 2 to -1"}},
		} {
			time.Sleep((monday + tt.day).Time().Add(2 * time.Second).Sub(now()))
			for _, k := range keepers {
				k.Offer(s.At(data.At(now())))
			}
			time.Sleep(2 * time.Second)
			if got := describeLog(t, log); !slices.Equal(got, tt.want) {
				t.Errorf("on day %d: %q, want %q", tt.day, got, tt.want)
			}
		}
		if n := strings.Count(messages.String(), "log of events written"); n != 3 {
			t.Errorf("%d moments were written, want 3: %s", n, &messages)
		}
		stop()
		<-ended
		<-ended
	})
}

// A version that was published before may come back: until it is compared anew, nobody is told that nothing changed.
func TestKeeperChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var messages logged
		log := new(eventlog.Memory)
		w := newWorld("a")
		w.set("a", 0, 5)
		begin := time.Now()
		w.statements["s"] = data.Advisory{ID: "s", LakeID: "a", Kind: data.Closure, Issuer: "office", Issued: begin, ValidFrom: begin.Add(time.Hour), ValidUntil: begin.Add(2 * time.Hour)}
		k := eventlog.NewKeeper(keeperOptions(log, "all", &messages))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { k.Run(ctx); close(ended) }()
		open := w.snapshot(t, begin)
		k.Offer(open)
		time.Sleep(time.Hour)
		closed := open.At(data.At(time.Now()))
		k.Offer(closed)
		time.Sleep(2 * time.Second)
		if changed, err := k.Changes(ctx, closed, open.Version); err != nil || !changed(0) {
			t.Errorf("the closed lake is not among the changes: %v", err)
		}
		time.Sleep(time.Hour)
		again := open.At(data.At(time.Now()))
		if again.Version != open.Version || closed.Version == open.Version {
			t.Fatalf("the versions are %s, %s and %s", open.Version, closed.Version, again.Version)
		}
		if _, err := k.Changes(ctx, again, closed.Version); !errors.Is(err, data.ErrUncompared) {
			t.Errorf("before it is compared: %v, want %v", err, data.ErrUncompared)
		}
		k.Offer(again)
		time.Sleep(2 * time.Second)
		if changed, err := k.Changes(ctx, again, closed.Version); err != nil || !changed(0) {
			t.Errorf("the opened lake is not among the changes: %v", err)
		}
		stop()
		<-ended
	})
}

// Of servers with other settings the one that was started last writes, and begins without events.
func TestKeeperSettings(t *testing.T) {
	t.Parallel()
	var messages logged
	log := new(eventlog.Memory)
	w := newWorld("a")
	w.set("a", 0, 5)
	compare := func(k *eventlog.Keeper) {
		t.Helper()
		if err := k.Compare(t.Context(), w.snapshot(t, noon)); err != nil {
			t.Fatal(err)
		}
	}
	former := eventlog.NewKeeper(keeperOptions(log, "who2003", &messages))
	compare(former)
	w.set("a", 0, 60)
	later := eventlog.NewKeeper(keeperOptions(log, "epa2019", &messages))
	compare(later)
	compare(former)
	w.set("a", 0, 5)
	compare(former)
	compare(later)
	compare(former)
	if got := describeLog(t, log); !slices.Equal(got, []string{"1 a class_down: level 2 to 0"}) {
		t.Errorf("%q", got)
	}
	if n := strings.Count(messages.String(), "a server with other settings"); n != 1 {
		t.Errorf("%d warnings in %s", n, &messages)
	}
	// Started again, the former takes over.
	compare(eventlog.NewKeeper(keeperOptions(log, "who2003", &messages)))
	w.set("a", 0, 60)
	compare(later)
	if got := describeLog(t, log); len(got) != 1 {
		t.Errorf("the later one still writes: %q", got)
	}
}

// If what was published last cannot be read, that is logged, and the events go on.
func TestKeeperDamaged(t *testing.T) {
	t.Parallel()
	var messages logged
	log := new(eventlog.Memory)
	k := eventlog.NewKeeper(keeperOptions(log, "all", &messages))
	w := newWorld("a")
	for _, chl := range []float64{5, 60, 5, 60} {
		w.set("a", 0, chl)
		if err := k.Compare(t.Context(), w.snapshot(t, noon)); err != nil {
			t.Fatal(err)
		}
		if chl == 60 && !strings.Contains(messages.String(), "cannot be read") {
			err := log.NextMoment(t.Context(), func(last data.Moment, tx data.MomentTx) (data.Moment, error) {
				last.Number++
				return last, tx.PutBlock(1, []byte("damaged"))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := describeLog(t, log); !slices.Equal(got, []string{"1 a class_up: level 0 to 2", "2 a class_up: level 0 to 2"}) {
		t.Errorf("%q", got)
	}
	if n := strings.Count(messages.String(), "cannot be read"); n != 1 {
		t.Errorf("%d errors in %s", n, &messages)
	}
}
