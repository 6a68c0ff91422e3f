package snapshot_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// weekOfDay returns the week of a day.
func weekOfDay(t testing.TB, day string) data.Week {
	t.Helper()
	d, err := data.ParseDate(day)
	if err != nil {
		t.Fatal(err)
	}
	return d.Week()
}

func TestServedWeeks(t *testing.T) {
	// An observation with a wrong year, a gap of half a year, one of two years, and the newest week.
	days := []string{"1900-01-04", "2020-01-01", "2020-07-01", "2022-07-06", "2022-07-13"}
	src := &memory{lakes: lakes("a")}
	for _, day := range days {
		src.observations = append(src.observations, obs(t, "a", day, 5))
	}
	tests := []struct {
		oldest string // the option; empty for none
		first  string
		listed int // of the days, from the end
		served int // weeks
	}{
		{"", "1900-01-04", 5, 53 + 26 + 53 + 2},
		{"1800-01-01", "1900-01-04", 5, 53 + 26 + 53 + 2},
		{"1900-12-27", "1900-12-27", 4, 2 + 26 + 53 + 2},
		{"1950-01-01", "2020-01-01", 4, 26 + 53 + 2},
		{"2020-01-01", "2020-01-01", 4, 26 + 53 + 2},
		{"2020-05-06", "2020-05-06", 3, 8 + 53 + 2},
		{"2022-07-13", "2022-07-13", 1, 1},
		{"2050-01-01", "2022-07-13", 1, 1}, // the newest week is always served
	}
	for _, test := range tests {
		t.Run(test.oldest, func(t *testing.T) {
			opts := &snapshot.Options{Weeks: 2}
			if test.oldest != "" {
				d, err := data.ParseDate(test.oldest)
				if err != nil {
					t.Fatal(err)
				}
				opts.Oldest = &d
			}
			s := load(t, src, opts)
			if want := weekOfDay(t, test.first); s.First() != want {
				t.Errorf("the first week is %s, want %s", s.First(), want)
			}
			var listed, want []data.Week
			for _, w := range s.Weeks {
				listed = append(listed, w.Week)
			}
			for _, day := range days[len(days)-test.listed:] {
				want = append(want, weekOfDay(t, day))
			}
			if !slices.Equal(listed, want) {
				t.Errorf("weeks %s are listed, want %s", listed, want)
			}
			served := 0
			for w := weekOfDay(t, "1700-01-01"); w < weekOfDay(t, "2300-01-01"); w++ {
				if s.Serves(w) {
					served++
				}
			}
			if served != test.served {
				t.Errorf("%d weeks are served, want %d", served, test.served)
			}
			for _, w := range listed {
				if !s.Serves(w) {
					t.Errorf("week %s is listed and not served", w)
				}
			}
			// The bound hides weeks and changes none.
			whole := load(t, src, nil)
			if got, want := mustView(t, s, s.First()), mustView(t, whole, s.First()); !slices.Equal(got.States, want.States) || got.AsOf != want.AsOf {
				t.Errorf("week %s is %+v, without the bound %+v", s.First(), got, want)
			}
		})
	}
	if empty := load(t, &memory{lakes: lakes("a")}, nil); empty.Serves(0) {
		t.Error("a week without any observation is served")
	}
}

// A read that no one waits for any more is waited for, unless it is of the same weeks.
func TestAwaitSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newYearly(t, 300)
		src.gate = make(chan struct{})
		s := load(t, src, &snapshot.Options{Weeks: 10, Patience: time.Second})
		if _, err := s.View(t.Context(), s.Weeks[0].Week); !errors.Is(err, snapshot.ErrUnavailable) {
			t.Fatalf("View from a source that hangs = %v, want %v", err, snapshot.ErrUnavailable)
		}
		for _, k := range []int{0, 295, 299} { // the same block, a week in memory, the current one
			if err := s.AwaitSource(t.Context(), s.Weeks[k].Week); err != nil {
				t.Errorf("week %d: %v", k, err)
			}
		}
		late := errors.New("late")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, late)
		defer cancel()
		if err := s.AwaitSource(ctx, s.Weeks[100].Week); !errors.Is(err, late) {
			t.Errorf("another block: %v, want the cause of the context's end", err)
		}
		go func() {
			time.Sleep(time.Second)
			close(src.gate)
		}()
		if err := s.AwaitSource(t.Context(), s.Weeks[100].Week); err != nil {
			t.Error(err)
		}
		mustView(t, s, s.Weeks[100].Week)
	})
}

// Held returns the views that need no work, and Old says which ones need the source.
func TestHeldViews(t *testing.T) {
	src := newYearly(t, 200)
	s := load(t, src, &snapshot.Options{Weeks: 50})
	old, recent := s.Weeks[10].Week, s.Weeks[180].Week
	for name, w := range map[string]data.Week{"old": old, "recent": recent} {
		if v, isOld := s.Held(w), s.Old(w); v != nil || isOld != (name == "old") {
			t.Errorf("the %s week before it is asked for: %v, old: %v", name, v, isOld)
		}
	}
	if got := s.HeldBytes(); got != 0 {
		t.Errorf("%d bytes are held before any week is asked for", got)
	}
	for _, w := range []data.Week{old, recent, s.Current.Week} {
		want := mustView(t, s, w)
		if v := s.Held(w); v != want {
			t.Errorf("week %s after it was asked for: %p, want %p", w, v, want)
		}
	}
	if got, want := s.HeldBytes(), 53*s.ViewBytes(); got > want || got < 2*s.ViewBytes() { // a block of at most a year, and one week
		t.Errorf("%d bytes are held, want at most %d", got, want)
	}
}

// However many weeks are asked for, the views that are kept stay within their memory, or are one of each kind.
func TestViewMemory(t *testing.T) {
	src := newYearly(t, 300)
	size := load(t, src, nil).ViewBytes()
	for _, test := range []struct{ memory, want int64 }{{1, 1 + 2}, {16 * size, 8 + 8}, {80 * size, 32 + 40}} {
		s := load(t, src, &snapshot.Options{Weeks: 100, ViewMemory: test.memory})
		for _, w := range s.Weeks {
			mustView(t, s, w.Week)
			if got := s.HeldBytes() / size; got > test.want {
				t.Fatalf("with memory for %d views, %d are held, want at most %d", test.memory/size, got, test.want)
			}
		}
		for _, w := range s.Weeks[160:] { // no block that is cut off at the first week in memory
			mustView(t, s, w.Week)
		}
		if got := s.HeldBytes() / size; got < test.want/2 {
			t.Errorf("with memory for %d views, %d are held, want about %d", test.memory/size, got, test.want)
		}
	}
}
