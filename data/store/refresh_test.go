package store

import (
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"limnomap/data"
)

// noon is the start time of the tests of refreshes.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func refreshOf(tb testing.TB, s *Store) data.Refresh {
	tb.Helper()
	r, err := s.Refresh(tb.Context())
	if err != nil {
		tb.Fatalf("Refresh: %v", err)
	}
	return r
}

func claim(tb testing.TB, s *Store, turn int64, holder string, lease time.Duration) bool {
	tb.Helper()
	ok, err := s.LeaseRefresh(tb.Context(), turn, holder, lease)
	if err != nil {
		tb.Fatalf("LeaseRefresh: %v", err)
	}
	return ok
}

func end(tb testing.TB, s *Store, holder string, result data.RefreshResult) {
	tb.Helper()
	if err := s.EndRefresh(tb.Context(), holder, result); err != nil {
		tb.Fatalf("EndRefresh: %v", err)
	}
}

func testRefresh(t *testing.T, open opener) {
	now := noon
	s := open(t, func() time.Time { return now })
	want := func(what string, want data.Refresh) {
		t.Helper()
		if got := refreshOf(t, s); got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	want("a new database", data.Refresh{})

	if !claim(t, s, 0, "one", time.Minute) {
		t.Fatal("the first refresh could not be claimed")
	}
	state := data.Refresh{Turn: 1, LastAttempt: noon, LeasedUntil: noon.Add(time.Minute)}
	want("begun", state)
	now = noon.Add(30 * time.Second)
	if err := s.ExtendRefresh(t.Context(), "one", time.Minute); err != nil {
		t.Errorf("ExtendRefresh: %v", err)
	}
	state.LeasedUntil = now.Add(time.Minute)
	want("extended", state)

	files := []data.RefreshFile{
		{Key: "a", SHA256: sha256.Sum256([]byte("a")), ETag: `W/"a"`, LastModified: "Wed, 01 Jul 2026 10:00:00 GMT"},
		{Key: "b", SHA256: sha256.Sum256([]byte("b"))},
	}
	rows := data.RefreshRows{Added: 1 << 33, Changed: 2, Unchanged: 3, Rejected: 4}
	end(t, s, "one", data.RefreshResult{Rows: &rows, Files: files})
	state = data.Refresh{Turn: 2, LastAttempt: noon, LastSuccess: now, Rows: rows}
	want("succeeded", state)
	wantFiles := func(want []data.RefreshFile) {
		t.Helper()
		if got, err := s.RefreshFiles(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("files %+v, %v, want %+v", got, err, want)
		}
	}
	wantFiles(files)

	// Failures in a row are counted, and keep rows and files.
	for i := range 2 {
		now = now.Add(time.Hour)
		claim(t, s, state.Turn, "two", time.Minute)
		end(t, s, "two", data.RefreshResult{Error: "the source is away"})
		state.Turn, state.LastAttempt, state.LastError, state.Failures = state.Turn+2, now, "the source is away", i+1
		want("failed", state)
	}
	wantFiles(files)

	// A refresh that continues with satellite files keeps its turn, its lease and the number of failures.
	now = now.Add(time.Hour)
	claim(t, s, state.Turn, "beside", time.Minute)
	state.Turn, state.LastAttempt, state.LeasedUntil = state.Turn+1, now, now.Add(time.Minute)
	now = now.Add(10 * time.Second)
	end(t, s, "beside", data.RefreshResult{Continues: true})
	state.LastSuccess, state.LastError = now, ""
	want("the tables are done", state)
	began := now
	now = now.Add(10 * time.Second)
	end(t, s, "beside", data.RefreshResult{Continues: true, Late: "too slow", Began: began})
	state.LastAttempt, state.LastSuccess, state.LastError = began, now, "too slow"
	want("the tables are done again", state)
	now = now.Add(10 * time.Second)
	end(t, s, "beside", data.RefreshResult{Continues: true, Error: "rows", Began: now})
	state.LastAttempt, state.LastError, state.Failures = now, "rows", 3
	want("the tables failed", state)
	if err := s.EndRefresh(t.Context(), "stranger", data.RefreshResult{Continues: true}); !errors.Is(err, data.ErrLeaseLost) {
		t.Errorf("another process continues: %v, want %v", err, data.ErrLeaseLost)
	}
	end(t, s, "beside", data.RefreshResult{Error: "too slow"})
	state.Turn, state.LastError, state.Failures, state.LeasedUntil = state.Turn+1, "too slow", 4, time.Time{}
	want("the satellite files are too slow", state)
	wantFiles(files)

	now = now.Add(time.Hour)
	claim(t, s, state.Turn, "three", time.Minute)
	end(t, s, "three", data.RefreshResult{Files: []data.RefreshFile{}})
	want("succeeded again", data.Refresh{Turn: state.Turn + 2, LastAttempt: now, LastSuccess: now, Rows: rows})
	wantFiles(nil)
	if rev := revisionOf(t, s); rev.Number != 0 {
		t.Errorf("refreshes that import nothing raised the revision to %d", rev.Number)
	}
}

func testRefreshClaims(t *testing.T, open opener) {
	var clock atomic.Int64
	clock.Store(noon.Unix())
	s := open(t, func() time.Time { return time.Unix(clock.Load(), 0).UTC() })

	// Of many concurrent claims one succeeds.
	var group sync.WaitGroup
	var winners atomic.Int32
	for i := range 8 {
		group.Go(func() {
			if ok, err := s.LeaseRefresh(t.Context(), 0, string(rune('a'+i)), time.Minute); err != nil {
				t.Error(err)
			} else if ok {
				winners.Add(1)
			}
		})
	}
	if group.Wait(); winners.Load() != 1 {
		t.Fatalf("%d of 8 began the refresh, want 1", winners.Load())
	}

	// A claim expires, and then counts as a failure.
	if claim(t, s, 1, "late", time.Minute) {
		t.Error("a refresh under way was claimed")
	}
	clock.Add(60)
	if claim(t, s, 0, "late", time.Minute) {
		t.Error("a refresh was claimed by somebody who saw an older state")
	}
	if !claim(t, s, 1, "late", time.Minute) {
		t.Error("a refresh that was left could not be claimed")
	}
	if r := refreshOf(t, s); r.Failures != 1 || r.Turn != 2 || !r.LeasedUntil.Equal(noon.Add(2*time.Minute)) {
		t.Errorf("after a refresh that was left: %+v, want one failure", r)
	}

	// Only the holder can end or extend it.
	for _, stranger := range []string{"a", "b", "nobody", ""} {
		if err := s.EndRefresh(t.Context(), stranger, data.RefreshResult{}); !errors.Is(err, data.ErrLeaseLost) {
			t.Errorf("EndRefresh by %q = %v, want %v", stranger, err, data.ErrLeaseLost)
		}
		if err := s.ExtendRefresh(t.Context(), stranger, time.Hour); !errors.Is(err, data.ErrLeaseLost) {
			t.Errorf("ExtendRefresh by %q = %v, want %v", stranger, err, data.ErrLeaseLost)
		}
	}
	end(t, s, "late", data.RefreshResult{})
	if err := s.EndRefresh(t.Context(), "late", data.RefreshResult{}); !errors.Is(err, data.ErrLeaseLost) {
		t.Errorf("EndRefresh a second time = %v, want %v", err, data.ErrLeaseLost)
	}
	if err := s.ExtendRefresh(t.Context(), "", time.Hour); !errors.Is(err, data.ErrLeaseLost) {
		t.Errorf("ExtendRefresh of none = %v, want %v", err, data.ErrLeaseLost)
	}
	if r := refreshOf(t, s); r.Failures != 0 || r.Turn != 3 || !r.LeasedUntil.IsZero() {
		t.Errorf("after the end: %+v, want turn 3 and no claim", r)
	}
	if claim(t, s, 2, "slow", time.Minute) {
		t.Error("a refresh was claimed by somebody who had not seen the last one")
	}

	// A claim by a wrong clock in the far future is ignored.
	now := clock.Load()
	for _, test := range []struct {
		ahead time.Duration
		want  bool
	}{{MaxClockSkew, false}, {MaxClockSkew + time.Second, true}} {
		turn := refreshOf(t, s).Turn
		clock.Store(now + int64(test.ahead.Seconds()))
		if !claim(t, s, turn, "ahead", time.Minute) {
			t.Fatal("no claim")
		}
		clock.Store(now)
		if got := claim(t, s, turn+1, "after", time.Minute); got != test.want {
			t.Errorf("after a claim by a clock %v ahead: claimed %t, want %t", test.ahead, got, test.want)
		}
		holder := "ahead"
		if test.want {
			holder = "after"
		}
		end(t, s, holder, data.RefreshResult{})
	}
}

// The result of a refresh and its import are committed together, or not at all.
func testRefreshInImport(t *testing.T, open opener) {
	s := open(t, func() time.Time { return noon })
	ctx := t.Context()
	fault := errors.New("fault")
	rows := &data.RefreshRows{Added: 1}
	for _, test := range []struct {
		name   string
		holder string
		fn     error // the error of the import
		want   error
	}{
		{"undone", "me", fault, fault},
		{"somebody else's", "you", nil, data.ErrLeaseLost},
		{"done", "me", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := refreshOf(t, s)
			if before.LeasedUntil.IsZero() && !claim(t, s, before.Turn, "me", time.Minute) {
				t.Fatal("no claim")
			}
			before = refreshOf(t, s)
			err := s.Import(ctx, func(tx Tx) error {
				if _, err := tx.PutLakes(ctx, []data.Lake{testLake("a")}, LakeColumns{}); err != nil {
					return err
				}
				if err := tx.EndRefresh(ctx, test.holder, data.RefreshResult{Rows: rows}); err != nil {
					return err
				}
				return test.fn
			})
			if !errors.Is(err, test.want) || test.want == nil && err != nil {
				t.Errorf("Import = %v, want %v", err, test.want)
			}
			after, lakes := refreshOf(t, s), 0
			rev, ls, _ := scan(t, s)
			lakes = len(ls)
			if test.want != nil && (after != before || lakes != 0 || rev.Number != 0) {
				t.Errorf("%+v with %d lakes in revision %d, want %+v with none in 0", after, lakes, rev.Number, before)
			}
			if test.want == nil && (after.Rows != *rows || !after.LastSuccess.Equal(noon) || lakes != 1 || rev.Number != 1) {
				t.Errorf("%+v with %d lakes in revision %d, want %+v with one in 1", after, lakes, rev.Number, *rows)
			}
		})
	}
}
