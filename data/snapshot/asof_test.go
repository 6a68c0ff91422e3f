package snapshot_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

func TestParseAsOf(t *testing.T) {
	for s, want := range map[string]snapshot.AsOf{"": {}, "data": snapshot.Newest, "2026-07-15": snapshot.Day(day(t, "2026-07-15"))} {
		if got, err := snapshot.ParseAsOf(s); err != nil || got != want || got.String() != s {
			t.Errorf("ParseAsOf(%q) = %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"now", "Data", "2026-13-01", "15.07.2026"} {
		if got, err := snapshot.ParseAsOf(s); err == nil {
			t.Errorf("ParseAsOf(%q) = %v, want an error", s, got)
		}
	}
}

// What a snapshot shows of a lake with passes of 1 and 8 July and a sample of 22 July, and of one with a pass of 1 July.
func TestAsOf(t *testing.T) {
	src := &memory{lakes: lakes("a", "b"), observations: []data.Observation{
		obs(t, "a", "2026-07-01", 3), obs(t, "a", "2026-07-08", 12), sampled(obs(t, "a", "2026-07-22", 60)), obs(t, "b", "2026-07-01", 5)}}
	tests := []struct {
		name       string
		asOf, now  string
		current    string // the day from which ages count
		week       data.Week
		weeks      int // that are served with an observation
		newest     string
		a, b       data.Chlorophyll
		ageA, ageB int
		withData   int
	}{
		{"the day of the newest observation", "", "2026-07-22T08:00:00Z", "2026-07-22", 2951, 3, "2026-07-22", 60_00, 5_00, 0, 21, 2},
		{"the days after it", "", "2026-07-29T23:59:59Z", "2026-07-29", 2952, 3, "2026-07-22", 60_00, 5_00, 7, 28, 2},
		{"one lake has become stale", "", "2026-07-30T00:00:00Z", "2026-07-30", 2952, 3, "2026-07-22", 60_00, data.NoChlorophyll, 8, 29, 1},
		{"497 days later", "", "2027-12-01T00:00:00Z", "2027-12-01", 3022, 3, "2026-07-22", data.NoChlorophyll, data.NoChlorophyll, 497, 518, 0},
		{"a clock that is behind", "", "2026-07-10T00:00:00Z", "2026-07-10", 2949, 2, "2026-07-08", 12_00, 5_00, 2, 9, 2},
		{"an archive", "data", "2027-12-01T00:00:00Z", "2026-07-22", 2951, 3, "2026-07-22", 60_00, 5_00, 0, 21, 2},
		{"a day of an archive", "2026-07-12", "2027-12-01T00:00:00Z", "2026-07-12", 2949, 2, "2026-07-08", 12_00, 5_00, 4, 11, 2},
		{"a day after an archive", "2026-08-19", "2027-12-01T00:00:00Z", "2026-08-19", 2955, 3, "2026-07-22", 60_00, data.NoChlorophyll, 28, 49, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asOf, err := snapshot.ParseAsOf(tt.asOf)
			if err != nil {
				t.Fatal(err)
			}
			s, err := snapshot.Load(t.Context(), src, &snapshot.Options{AsOf: asOf, Present: data.ByClock(func() time.Time { return at(tt.now) })})
			if err != nil {
				t.Fatal(err)
			}
			v := s.Current
			newest, ok := s.Newest(v.Week)
			if v.AsOf != day(t, tt.current) || v.Week != tt.week || len(s.Weeks) != tt.weeks || !ok || newest != day(t, tt.newest) || v.WithData != tt.withData {
				t.Errorf("week %d as of %s, %d weeks, newest %s, %d with data; want %d, %s, %d, %s, %d",
					v.Week, v.AsOf, len(s.Weeks), newest, v.WithData, tt.week, tt.current, tt.weeks, tt.newest, tt.withData)
			}
			if last := s.Weeks[len(s.Weeks)-1]; last.Week == v.Week && last.LakesWithData != v.WithData {
				t.Errorf("the list of weeks has %d lakes with data in the current one, want %d", last.LakesWithData, v.WithData)
			}
			for i, want := range []struct {
				chl data.Chlorophyll
				age int
			}{{tt.a, tt.ageA}, {tt.b, tt.ageB}} {
				age, known := v.States[i].Age(v.AsOf)
				if got := v.States[i].Chlorophyll; got != want.chl || !known || age != want.age || v.States[i].Stale() == want.chl.Valid() {
					t.Errorf("lake %s: %s, %d days old, want %s, %d", s.Lakes[i].ID, got, age, want.chl, want.age)
				}
			}
			if !s.Serves(v.Week) || s.Serves(v.Week+1) {
				t.Error("the current week is not the last one that is served")
			}
		})
	}
}

// A server runs for 60 days without new data, and gets a sample on the 40th. Each day it publishes at midnight what a load at that moment
// shows, and nothing else.
func TestWatcherPublishesEachDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now() // 2000-01-01
		var src memory
		src.lakes = lakes("a", "b", "c")
		for i, id := range []data.LakeID{"a", "b"} {
			o := obs(t, id, "1999-12-20", 12)
			o.Date += data.Date(7 * i)
			src.observations = append(src.observations, o)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 60*24*time.Hour-time.Minute)
		defer cancel()
		days := 0
		var changes []string // of what is shown
		var before *snapshot.Snapshot
		w := snapshot.Watcher{Source: &src, Interval: time.Minute, Publish: func(s *snapshot.Snapshot) {
			loaded, err := snapshot.Load(ctx, &src, nil)
			if err != nil {
				t.Fatal(err)
			}
			if s.Version != loaded.Version || !slices.Equal(s.Current.States, loaded.Current.States) || !slices.Equal(s.Weeks, loaded.Weeks) ||
				s.Current.AsOf != data.DateOf(time.Now()) || s.Current.Week != loaded.Current.Week {
				t.Errorf("%s: published %s as of %s, weeks %v; a load shows %s as of %s, weeks %v", time.Since(start), s.Version, s.Current.AsOf, s.Weeks,
					loaded.Version, loaded.Current.AsOf, loaded.Weeks)
			}
			if before != nil && s.Revision == before.Revision && s.Current.AsOf != before.Current.AsOf+1 {
				t.Errorf("%s: published again on %s", time.Since(start), s.Current.AsOf)
			}
			if before != nil && s.Version == before.Version {
				t.Errorf("%s: another day has the same version", time.Since(start))
			}
			if before == nil || !slices.Equal(s.Current.States, before.Current.States) {
				changes = append(changes, fmt.Sprintf("%s: %d", s.Current.AsOf, s.Current.WithData))
			}
			if before == nil || s.Current.AsOf != before.Current.AsOf {
				days++
			}
			before = s
			if s.Current.AsOf == day(t, "2000-02-09") && src.revision.Number == 0 {
				src.revision.Number = 1
				src.observations = append(src.observations, sampled(obs(t, "c", "2000-02-09", 60)))
			}
		}}
		w.Run(ctx)
		if days != 60 {
			t.Errorf("published %d days, want 60", days)
		}
		want := []string{"2000-01-01: 2", "2000-01-18: 1", "2000-01-25: 0", "2000-02-09: 1"}
		if !slices.Equal(changes, want) {
			t.Errorf("the map changed on %q, want %q", changes, want)
		}
	})
}
