package snapshot_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"

	"pgregory.net/rapid"
)

// The view of a week is exactly the same whether its observations are in memory or read from the source, and so are the
// counts of all weeks.
func TestViewIsTheSameFromTheSource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, opts := drawSource(t), drawOptions(t)
		if rapid.Bool().Draw(t, "wide") { // so that trophic status and staleness cross the limits of a block
			for i := range src.observations {
				src.observations[i].Date *= 3
				src.observations[i].MeasuredAt = time.Time{}
			}
		}
		whole := mustLoad(t, src, opts)
		few := *opts
		few.Weeks = rapid.IntRange(1, 8).Draw(t, "weeks")
		s := mustLoad(t, src, &few)
		if s.Version != whole.Version || !slices.Equal(s.Weeks, whole.Weeks) || !reflect.DeepEqual(s.Current, whole.Current) {
			t.Fatalf("with %d weeks held: version %s, weeks %v, current %+v, want %s, %v, %+v",
				few.Weeks, s.Version, s.Weeks, s.Current, whole.Version, whole.Weeks, whole.Current)
		}
		for _, w := range weeksAround(s) {
			got, err := s.View(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			want, err := whole.View(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("with %d weeks held, week %s: %+v, want %+v", few.Weeks, w, got, want)
			}
		}
	})
}

// If a snapshot says that a history is whole, it is the same as the source's, however few weeks are in memory. It says so
// whenever it has dropped nothing.
func TestSnapshotHistoryReportsWhetherItIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawHistories(t)
		if rapid.Bool().Draw(t, "wide") {
			for i := range src.observations {
				src.observations[i].Date *= 4
				src.observations[i].MeasuredAt = time.Time{}
			}
		}
		s := mustLoad(t, src, &snapshot.Options{Weeks: rapid.IntRange(1, 12).Draw(t, "weeks")})
		for range 5 {
			q := drawQuery(t)
			for i, l := range s.Lakes {
				want := historyOf(src, l.ID, q)
				got, whole := s.History(i, q)
				if whole && !slices.Equal(got, want) {
					t.Fatalf("History(%s, %+v) = %+v, and calls it whole; want %+v", l.ID, q, got, want)
				}
				if !whole && len(got) == len(want) && len(historyOf(src, l.ID, data.Newest(100))) == len(allOf(s, i)) {
					t.Fatalf("History(%s, %+v) = %+v, and calls it not whole, though all is held", l.ID, q, got)
				}
			}
		}
	})
}

// allOf returns all observations of a lake in a snapshot.
func allOf(s *snapshot.Snapshot, i int) []data.Observation {
	all, _ := s.History(i, data.Newest(100))
	return all
}

// A yearly is a source with weekly values of one lake over years. Tests can count and block reads of its past.
type yearly struct {
	*memory
	reads atomic.Int32
	gate  chan struct{} // if not nil, each read of the past waits for it
	err   error
}

func newYearly(t testing.TB, weeks int) *yearly {
	src := &yearly{memory: &memory{lakes: lakes("a", "b"), revision: data.Revision{Number: 1}}}
	for _, id := range []data.LakeID{"a", "b"} {
		for i := range weeks {
			o := obs(t, id, "2010-01-04", float64(i%90))
			o.Date += data.Date(7 * i)
			src.observations = append(src.observations, o)
		}
	}
	return src
}

func (y *yearly) Past(ctx context.Context, p data.Period, observation func(data.Observation) error) (data.Revision, error) {
	y.reads.Add(1)
	if y.gate != nil {
		select {
		case <-y.gate:
		case <-ctx.Done():
			return data.Revision{}, ctx.Err()
		}
	}
	if y.err != nil {
		return data.Revision{}, y.err
	}
	return y.memory.Past(ctx, p, observation)
}

// Playing through old years reads one year at a time.
func TestOldWeeksAreReadInBlocks(t *testing.T) {
	src := newYearly(t, 5*52)
	s := load(t, src, &snapshot.Options{Weeks: 52})
	for _, w := range s.Weeks {
		v, err := s.View(t.Context(), w.Week)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := s.View(t.Context(), w.Week); err != nil || again != v {
			t.Fatalf("asked twice, week %s is another view (%v)", w.Week, err)
		}
		if v.WithData != w.LakesWithData {
			t.Errorf("week %s: %d lakes with data, want %d", w.Week, v.WithData, w.LakesWithData)
		}
	}
	if got := src.reads.Load(); got < 4 || got > 5 { // four years, which need not begin with a block
		t.Errorf("208 old weeks in turn take %d readings, want 4 or 5", got)
	}
	// The last two blocks are still in memory, the first one is not.
	before := src.reads.Load()
	mustView(t, s, s.Weeks[207].Week)
	mustView(t, s, s.Weeks[160].Week)
	if got := src.reads.Load(); got != before {
		t.Errorf("the block used last is read again")
	}
	mustView(t, s, s.Weeks[0].Week)
	if got := src.reads.Load(); got != before+1 {
		t.Errorf("the first week takes %d readings, want 1", got-before)
	}
}

func mustView(t testing.TB, s *snapshot.Snapshot, w data.Week) *snapshot.View {
	t.Helper()
	v, err := s.View(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// All requests for weeks of one block wait for one read. A request that ends early does not end the read for the others,
// and if all have ended, the next request gets its result.
func TestConcurrentRequestsShareOneRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newYearly(t, 300)
		src.gate = make(chan struct{})
		s := load(t, src, &snapshot.Options{Weeks: 10})
		old := s.Weeks[1].Week
		ctx, leave := context.WithCancel(t.Context())
		errs := make(chan error, 20)
		go func() { _, err := s.View(ctx, old); errs <- err }()
		synctest.Wait()
		for range 19 {
			go func() { _, err := s.View(t.Context(), old+1); errs <- err }()
		}
		synctest.Wait()
		leave()
		if err := <-errs; !errors.Is(err, context.Canceled) || errors.Is(err, snapshot.ErrUnavailable) {
			t.Errorf("who left gets %v, want its context's error", err)
		}
		close(src.gate)
		for range 19 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if got := src.reads.Load(); got != 1 {
			t.Errorf("%d readings, want 1", got)
		}
	})
}

// Requests to a source that hangs do not wait for ever, and it is not read twice at the same time. When it answers again, so
// do the views.
func TestOldWeeksWhileTheSourceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newYearly(t, 300)
		src.gate = make(chan struct{})
		s := load(t, src, &snapshot.Options{Weeks: 10})
		for _, k := range []int{0, 100} { // two blocks: the second waits for the first until its patience ends
			if _, err := s.View(t.Context(), s.Weeks[k].Week); !errors.Is(err, snapshot.ErrUnavailable) {
				t.Errorf("View from a source that hangs = %v, want %v", err, snapshot.ErrUnavailable)
			}
		}
		if got := src.reads.Load(); got != 1 {
			t.Errorf("%d readings at once, want 1", got)
		}
		mustView(t, s, s.Weeks[len(s.Weeks)-2].Week) // from memory
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, err := s.View(gone, s.Weeks[0].Week); !errors.Is(err, context.Canceled) {
			t.Errorf("View for one who is gone = %v, want %v", err, context.Canceled)
		}
		time.Sleep(time.Hour) // the read has timed out
		synctest.Wait()
		close(src.gate)
		mustView(t, s, s.Weeks[0].Week)
	})
}

func TestOldWeeksOfASourceThatFails(t *testing.T) {
	src := newYearly(t, 300)
	s := load(t, src, &snapshot.Options{Weeks: 10})
	src.err = io.ErrUnexpectedEOF
	if _, err := s.View(t.Context(), s.Weeks[0].Week); !errors.Is(err, snapshot.ErrUnavailable) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("View = %v, want %v and its reason", err, snapshot.ErrUnavailable)
	}
	src.err = nil
	mustView(t, s, s.Weeks[0].Week) // a failure is not cached
}

// Reading old weeks ends with the context that the snapshot was loaded with.
func TestReadEndsWithTheSnapshotsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newYearly(t, 300)
		src.gate = make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		s, err := snapshot.Load(ctx, src, archive(&snapshot.Options{Weeks: 10}))
		if err != nil {
			t.Fatal(err)
		}
		errs := make(chan error)
		go func() { _, err := s.View(context.Background(), s.Weeks[0].Week); errs <- err }()
		synctest.Wait()
		stop()
		if err := <-errs; !errors.Is(err, snapshot.ErrUnavailable) {
			t.Errorf("View = %v, want %v", err, snapshot.ErrUnavailable)
		}
	})
}

// If the source has a later revision, the view of an old week shows that revision, and is not cached.
func TestOldWeeksOfALaterRevision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, opts := drawSource(t), drawOptions(t)
		opts.Weeks = rapid.IntRange(1, 4).Draw(t, "weeks")
		s := mustLoad(t, src, opts)
		if len(s.Weeks) <= opts.Weeks {
			t.Skip("all weeks are held")
		}
		// Values change, rows are added and removed.
		later := drawSource(t).observations
		later = slices.DeleteFunc(later, func(o data.Observation) bool { _, known := s.Index(o.LakeID); return !known })
		whole := *opts
		whole.AsOf = snapshot.Day(s.Current.AsOf)
		moved := mustLoad(t, &memory{lakes: src.lakes, observations: later}, &whole)
		src.revision.Number++
		src.observations = later
		oldest := s.Weeks[len(s.Weeks)-opts.Weeks].Week
		for _, w := range s.Weeks {
			if w.Week >= oldest {
				break
			}
			got, err := s.View(context.Background(), w.Week)
			if err != nil {
				t.Fatalf("week %s: %v", w.Week, err)
			}
			want, err := moved.View(context.Background(), w.Week)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.States, want.States) || !got.Later {
				t.Fatalf("week %s: %+v, want the states of %+v, and Later", w.Week, got, want)
			}
			if again, err := s.View(context.Background(), w.Week); err != nil || again == got {
				t.Fatalf("week %s is kept as if it were the snapshot's (%v)", w.Week, err)
			}
		}
	})
}

// A lake that was added later is not on the snapshot's maps.
func TestOldWeeksOfALaterRevisionWithAnotherLake(t *testing.T) {
	src := newYearly(t, 300)
	s := load(t, src, &snapshot.Options{Weeks: 10})
	src.revision.Number++
	src.lakes = append(src.lakes, lakes("c")...)
	o := obs(t, "c", "2010-01-09", 7)
	src.observations = append(src.observations, o)
	v := mustView(t, s, s.Weeks[0].Week)
	if v.AsOf != o.Date.Week().Sunday() || len(v.States) != 2 || v.WithData != 2 {
		t.Errorf("the map is %+v, want two lakes as of the Sunday after %s", v, o.Date)
	}
	// At the same revision it is an error of the source, and there is no view.
	src.revision.Number--
	if _, err := s.View(t.Context(), s.Weeks[0].Week); !errors.Is(err, snapshot.ErrUnavailable) {
		t.Errorf("View of a past that is not that of the scan = %v, want %v", err, snapshot.ErrUnavailable)
	}
}
