package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// A scripted is a source that changes over time by a script.
type scripted struct {
	mu sync.Mutex // of memory, and of what the script changes
	memory
	start       time.Time
	script      []step
	revisionErr error
	scanErr     error
	hang        bool          // Revision hangs until its context ends
	slow        time.Duration // how long Revision takes
	scanTime    time.Duration // how long Scan takes
	asked       int           // how often
	scanned     int
}

// A step changes the source half a second after the given one.
type step struct {
	second int
	change func(*scripted)
}

// play makes the changes that are due. It locks s.
func (s *scripted) play() {
	s.mu.Lock()
	for len(s.script) > 0 && time.Since(s.start) > time.Duration(s.script[0].second)*time.Second+500*time.Millisecond {
		s.script[0].change(s)
		s.script = s.script[1:]
	}
}

func (s *scripted) Revision(ctx context.Context) (data.Revision, error) {
	s.play()
	s.asked++
	hang, slow := s.hang, s.slow
	s.mu.Unlock()
	if hang {
		<-ctx.Done()
		return data.Revision{}, ctx.Err()
	}
	time.Sleep(slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision, s.revisionErr
}

func (s *scripted) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	s.play()
	s.scanned++
	present, scanTime, scanErr := s.memory, s.scanTime, s.scanErr
	s.mu.Unlock()
	time.Sleep(scanTime)
	if scanErr != nil {
		return data.Revision{}, scanErr
	}
	return present.Scan(ctx, lake, observation)
}

// watch runs a Watcher of src for that many seconds and a half, in the fake time of a synctest bubble. It returns the
// published revisions and the reported errors, each with the time since the start.
func watch(t *testing.T, src *scripted, interval time.Duration, seconds int) (published, failed []string) {
	published, failed, _ = watchClosely(t, src, interval, seconds)
	return published, failed
}

// watchClosely is watch with the confirmed times, since the start.
func watchClosely(t *testing.T, src *scripted, interval time.Duration, seconds int) (published, failed, confirmed []string) {
	synctest.Test(t, func(t *testing.T) {
		src.start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second+500*time.Millisecond)
		defer cancel()
		watcher := &snapshot.Watcher{
			Source:   src,
			Interval: interval,
			Publish: func(s *snapshot.Snapshot) {
				published = append(published, fmt.Sprintf("%v: %d", time.Since(src.start), s.Revision.Number))
			},
			Confirmed: func(at time.Time) {
				if len(published) == 0 {
					t.Error("told of a confirmation before anything was published")
				}
				confirmed = append(confirmed, at.Sub(src.start).String())
			},
			Failed: func(err error) {
				failed = append(failed, fmt.Sprintf("%v: %v", time.Since(src.start), err))
			},
		}
		watcher.Run(ctx)
		if ctx.Err() == nil {
			t.Error("Run returned before its context ended")
		}
	})
	return published, failed, confirmed
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s %q, want %q", what, got, want)
	}
}

func TestWatcherPublishesChanges(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	src := &scripted{script: []step{
		{3, func(s *scripted) { s.revision.Number = 2 }},
		{6, func(s *scripted) { s.revision.ChangedAt = noon }}, // another database at the same path
		{7, func(s *scripted) { s.revision.ChangedAt = noon.In(time.FixedZone("east", 7200)) }},
		{9, func(s *scripted) { s.revision.Number = 1 }}, // an older backup restored
	}}
	published, failed := watch(t, src, 0, 20)
	expect(t, "published", published, "0s: 0", "4s: 2", "7s: 2", "10s: 1")
	expect(t, "failed", failed)
	if src.asked != 20 || src.scanned != 4 {
		t.Errorf("in 20 s the source was asked %d times and read %d times, want 20 and 4", src.asked, src.scanned)
	}
}

// A snapshot is confirmed as of the time of the question, and not while it may be out of date.
func TestWatcherConfirms(t *testing.T) {
	away, damaged := errors.New("away"), errors.New("damaged")
	for _, tt := range []struct {
		name   string
		script []step
		want   []string
	}{
		{"all is well", nil, []string{"0s", "1s", "2s", "3s", "4s", "5s", "6s", "7s", "8s"}},
		{"a question fails", []step{
			{1, func(s *scripted) { s.revisionErr = away }},
			{4, func(s *scripted) { s.revisionErr = nil }},
		}, []string{"0s", "1s", "5s", "6s", "7s", "8s"}},
		{"newer data cannot be loaded", []step{
			{1, func(s *scripted) { s.revision.Number, s.scanErr = 1, damaged }},
			{4, func(s *scripted) { s.scanErr = nil }},
		}, []string{"0s", "1s", "5s", "6s", "7s", "8s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, confirmed := watchClosely(t, &scripted{script: tt.script}, 0, 8)
			expect(t, "confirmed", confirmed, tt.want...)
		})
	}
}

// A slow answer confirms the state at the time of the question only.
func TestWatcherConfirmsAsOfTheQuestion(t *testing.T) {
	src := &scripted{script: []step{{1, func(s *scripted) { s.slow = 3 * time.Second }}}}
	_, _, confirmed := watchClosely(t, src, 0, 10)
	expect(t, "confirmed", confirmed, "0s", "1s", "2s", "6s")
}

func TestWatcherRetriesTheFirstLoad(t *testing.T) {
	locked := errors.New("locked")
	src := &scripted{scanErr: locked, script: []step{
		{95, func(s *scripted) { s.scanErr = nil }},
		{130, func(s *scripted) { s.scanErr, s.revision.Number = locked, 1 }},
	}}
	published, failed := watch(t, src, 0, 134)
	expect(t, "published", published, "2m1s: 0")
	// Each reason of the first load is told once.
	expect(t, "failed", failed, "0s: snapshot: locked", "2m11s: snapshot: locked", "2m12s: snapshot: locked", "2m14s: snapshot: locked")
	// At 0 s and after 1, 2, 4, 8, 16 and three times 30 s more: each wait is twice as long as the one before, up to 30 s. After a success they start
	// again at 1 s.
	if src.scanned != 12 {
		t.Errorf("the source was read %d times, want 12", src.scanned)
	}
}

// A failed load keeps the last good snapshot.
func TestWatcherSurvivesABadLoad(t *testing.T) {
	src := &scripted{memory: memory{lakes: lakes("a")}, script: []step{
		{0, func(s *scripted) { s.revision.Number, s.lakes = 1, lakes("b", "a") }},
		{1, func(s *scripted) { s.revision.Number, s.lakes = 2, lakes("a", "b") }},
	}}
	published, failed := watch(t, src, 0, 10)
	expect(t, "published", published, "0s: 0", "2s: 2")
	expect(t, "failed", failed, `1s: snapshot: lake "a" comes after "b": want each once, in ascending order of id`)
}

func TestWatcherReportsAnOutageOnce(t *testing.T) {
	src := &scripted{script: []step{
		{1, func(s *scripted) { s.revisionErr = errors.New("gone") }},
		{100, func(s *scripted) { s.revisionErr = nil }},
		{140, func(s *scripted) { s.revisionErr = errors.New("gone again") }},
	}}
	published, failed := watch(t, src, 0, 150)
	expect(t, "failed", failed, "2s: revision: gone", "2m21s: revision: gone again")
	// The end of an outage is reported by publishing the present snapshot.
	expect(t, "published", published, "0s: 0", "2m3s: 0")
	if src.scanned != 1 {
		t.Errorf("the source was read %d times though nothing had changed, want once", src.scanned)
	}
	// At 1 s, 2 s and after 1, 2, 4, 8, 16 and three times 30 s more, then each second from 124 s to 141 s, then after
	// 1, 2 and 4 s more.
	if src.asked != 31 {
		t.Errorf("asked %d times, want 31", src.asked)
	}
}

func TestWatcherBacksOffNoFasterThanItsInterval(t *testing.T) {
	src := &scripted{scanErr: errors.New("locked")}
	_, failed := watch(t, src, time.Minute, 125)
	expect(t, "failed", failed, "0s: snapshot: locked") // one reason once
	if src.scanned != 3 {
		t.Errorf("the source was read %d times in two minutes, want 3", src.scanned)
	}
}

// The first load is tried until it works. Each reason why it does not is told once.
func TestWatcherWaitsForTheFirstLoad(t *testing.T) {
	src := &scripted{scanErr: errors.New("refused"), script: []step{
		{10, func(s *scripted) { s.scanErr = errors.New("starting up") }},
		{20, func(s *scripted) { s.scanErr = nil }},
		{40, func(s *scripted) { s.revisionErr = errors.New("refused") }}, // a new series
	}}
	published, failed := watch(t, src, 0, 60)
	expect(t, "published", published, "31s: 0")
	expect(t, "failed", failed, "0s: snapshot: refused", "15s: snapshot: starting up", "41s: revision: refused")
}

func TestWatcherGivesUpOnAHangingQuestion(t *testing.T) {
	src := &scripted{script: []step{
		{0, func(s *scripted) { s.hang = true }},
		{30, func(s *scripted) { s.hang, s.revision.Number = false, 1 }},
	}}
	published, failed := watch(t, src, 0, 60)
	expect(t, "failed", failed, "11s: revision: context deadline exceeded")
	// The third question was asked at 24 s and given up at 34 s; the fourth is answered.
	expect(t, "published", published, "0s: 0", "38s: 1")
}

func TestWatcherTellsOfRefreshes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		src := &scripted{start: start}
		refresh := data.Refresh{}
		asked := 0
		ctx, cancel := context.WithTimeout(t.Context(), 10500*time.Millisecond)
		defer cancel()
		var told []string
		watcher := &snapshot.Watcher{
			Source: src,
			Publish: func(*snapshot.Snapshot) {
				if asked == 0 {
					t.Error("the first snapshot is shown before it is known what became of refreshes")
				}
			},
			Outcome: func(context.Context) (data.Refresh, error) {
				asked++
				switch time.Since(start) {
				case 2 * time.Second:
					refresh.Turn = 1
				case 4 * time.Second:
					return data.Refresh{}, errors.New("away")
				case 6 * time.Second:
					refresh = data.Refresh{Turn: 2, LastError: "the source is away", Failures: 1}
				}
				return refresh, nil
			},
			Refreshed: func(r data.Refresh) {
				told = append(told, fmt.Sprintf("%v: %d %s", time.Since(start), r.Turn, r.LastError))
			},
		}
		watcher.Run(ctx)
		expect(t, "told", told, "2s: 1 ", "6s: 2 the source is away")
		if asked != 12 { // before and after the first snapshot, and each second
			t.Errorf("asked %d times in 10 s, want 12", asked)
		}
	})
}

// Of a series of failures each reason is reported once, and three at most: the reason why a connection ended is often another one
// than why there is no new one.
func TestWatcherReportsEachReason(t *testing.T) {
	fails := func(reason string) func(*scripted) {
		return func(s *scripted) { s.revisionErr = errors.New(reason) }
	}
	src := &scripted{script: []step{
		{0, fails("ended")},
		{1, fails("full")},
		{3, fails("ended")},
		{7, fails("third")},
		{15, fails("fourth")},
		{31, func(s *scripted) { s.revisionErr = nil }},
		{32, fails("ended")},
	}}
	_, failed := watch(t, src, 0, 40)
	expect(t, "failed", failed, "1s: revision: ended", "2s: revision: full", "8s: revision: third", "33s: revision: ended")
}

// A database that stops to answer is told once, though the next connection fails in other words.
func TestWatcherTellsOnceOfNoAnswer(t *testing.T) {
	silent := func(text string) func(*scripted) {
		return func(s *scripted) {
			s.revisionErr = fmt.Errorf("%s: %w: %w", text, data.ErrAway, context.DeadlineExceeded)
		}
	}
	src := &scripted{script: []step{{0, silent("lost")}, {1, silent("no connection")}, {3, func(s *scripted) { s.revisionErr = errors.New("full") }}}}
	_, failed := watch(t, src, 0, 8)
	expect(t, "failed", failed, "1s: revision: lost: "+data.ErrAway.Error()+": "+context.DeadlineExceeded.Error(), "4s: revision: full")
}

// Being stopped during a question is not a failure.
func TestWatcherEndsQuietly(t *testing.T) {
	src := &scripted{script: []step{{0, func(s *scripted) { s.hang = true }}}}
	published, failed := watch(t, src, 0, 5)
	expect(t, "published", published, "0s: 0")
	expect(t, "failed", failed)
}

// Official statements begin and end at their times, also while the source does not answer.
func TestWatcherPublishesActiveAdvisories(t *testing.T) {
	src := &scripted{memory: memory{lakes: lakes("a"), observations: []data.Observation{obs(t, "a", "1999-12-30", 3)}}}
	synctest.Test(t, func(t *testing.T) {
		src.start = time.Now()
		closed := closure()
		closed.Issued = src.start
		closed.ValidFrom, closed.ValidUntil = src.start.Add(10*time.Second+300*time.Millisecond), src.start.Add(40*time.Second+700*time.Millisecond)
		src.advisories = []data.Advisory{closed}
		src.script = []step{{20, func(s *scripted) { s.revisionErr = errors.New("gone") }}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var published []string
		w := snapshot.Watcher{Source: src, Publish: func(s *snapshot.Snapshot) {
			published = append(published, fmt.Sprintf("%s: %q", time.Since(src.start), s.Current.Advisories.Kind(0)))
		}}
		w.Run(ctx)
		want := []string{`0s: ""`, `10.3s: "closure"`, `40.7s: ""`}
		if !slices.Equal(published, want) {
			t.Errorf("published %q, want %q", published, want)
		}
	})
}

// A closure ends at its time while a load takes long.
func TestWatcherPublishesDuringALoad(t *testing.T) {
	src := &slowSource{memory: memory{lakes: lakes("a"), observations: []data.Observation{obs(t, "a", "1999-12-30", 3)}}}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		closed := closure()
		closed.Issued, closed.ValidFrom, closed.ValidUntil = start, start, start.Add(30*time.Second)
		src.advisories = []data.Advisory{closed}
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		var published []string
		w := snapshot.Watcher{Source: src, Publish: func(s *snapshot.Snapshot) {
			published = append(published, fmt.Sprintf("%s: %d %q", time.Since(start), s.Revision.Number, s.Current.Advisories.Kind(0)))
			if len(published) == 1 { // before the next load begins
				src.slow = time.Minute
				src.revision.Number = 1
			}
		}}
		w.Run(ctx)
		if want := []string{`0s: 0 "closure"`, `30s: 0 ""`, `1m1s: 1 ""`}; !slices.Equal(published, want) {
			t.Errorf("published %q, want %q", published, want)
		}
	})
}

// A slowSource is a source whose scan takes long.
type slowSource struct {
	memory
	slow time.Duration
}

func (s *slowSource) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	time.Sleep(s.slow)
	return s.memory.Scan(ctx, lake, observation)
}

// TestWatcherSharesLakes changes the lakes step by step. Each snapshot is that of a first load, and the texts of lakes that are as before are
// in memory once; if all lakes are, there is one slice.
func TestWatcherSharesLakes(t *testing.T) {
	clone := func(all []data.Lake) []data.Lake { // with texts of their own, as a database returns them
		all = slices.Clone(all)
		for i := range all {
			l := &all[i]
			l.ID, l.Name, l.ExternalID = data.LakeID(strings.Clone(string(l.ID))), strings.Clone(l.Name), strings.Clone(l.ExternalID)
		}
		return all
	}
	renamed := lakes("a", "b", "c", "d")
	renamed[1].Name = "Another name"
	renamed[3].ExternalID = "x"
	var script []step
	versions := [][]data.Lake{
		lakes("a", "b", "c", "d"), lakes("a", "b", "c", "d"), renamed, clone(renamed), lakes("a", "c"), lakes("a"), lakes("a", "c"), lakes("0", "a", "c"),
		lakes("c"), nil, lakes("a", "b", "c", "d"),
	}
	for i, version := range versions {
		script = append(script, step{i - 1, func(s *scripted) {
			s.lakes = clone(version)
			s.revision.Number = int64(i)
		}})
	}
	src := &scripted{script: script}
	var before *snapshot.Snapshot
	loaded := 0
	synctest.Test(t, func(t *testing.T) {
		src.start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(len(versions))*time.Second)
		defer cancel()
		publish := func(s *snapshot.Snapshot) {
			first := load(t, &memory{revision: s.Revision, lakes: clone(versions[loaded])}, nil)
			if !slices.Equal(s.Lakes, first.Lakes) || !slices.Equal(s.ByExternalID(), first.ByExternalID()) || s.Version != first.Version {
				t.Errorf("after change %d: lakes %v, order %v, version %s; the first load has %v, %v, %s",
					loaded, s.Lakes, s.ByExternalID(), s.Version, first.Lakes, first.ByExternalID(), first.Version)
			}
			if before != nil {
				if same := slices.Equal(s.Lakes, before.Lakes); same && len(s.Lakes) > 0 && &s.Lakes[0] != &before.Lakes[0] {
					t.Errorf("after change %d: the same lakes are there twice", loaded)
				}
				for _, l := range s.Lakes {
					if old, ok := before.Lake(l.ID); ok && *old == l && unsafe.StringData(old.Name) != unsafe.StringData(l.Name) {
						t.Errorf("after change %d: the name of lake %s is there twice", loaded, l.ID)
					}
				}
			}
			before = s
			loaded++
		}
		(&snapshot.Watcher{Source: src, Options: &snapshot.Options{AsOf: snapshot.Newest}, Publish: publish, Failed: func(err error) { t.Error(err) }}).Run(ctx)
	})
	if loaded != len(versions) {
		t.Errorf("%d snapshots, want %d", loaded, len(versions))
	}
}
