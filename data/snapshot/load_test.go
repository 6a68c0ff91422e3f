package snapshot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/outline"
	"limnomap/data/snapshot"

	"github.com/paulmach/orb"
)

func TestLoad(t *testing.T) {
	src := &memory{
		revision: data.Revision{Number: 7, ChangedAt: time.Date(2026, 7, 20, 12, 0, 0, 0, time.UTC)},
		lakes:    lakes("a", "b", "c", "d"),
		observations: []data.Observation{
			obs(t, "b", "2026-07-01", 9.996),
			obs(t, "b", "2026-07-08", -1),
			obs(t, "c", "2026-07-15", 60),
		},
	}
	src.lakes[0].ExternalID = "z"
	src.lakes[1].ExternalID = "" // means the id
	src.lakes[3].ExternalID = "b"
	s := load(t, src, nil)

	if s.Revision != src.revision || s.Profile.ID != "who2003" {
		t.Errorf("revision %v, profile %s, want %v, who2003", s.Revision, s.Profile.ID, src.revision)
	}
	if got, want := s.ByExternalID(), []int32{1, 3, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("ByExternalID() = %v, want %v", got, want)
	}
	if got := s.Lakes[1].ExternalID; got != "b" {
		t.Errorf("an absent external id became %q, want the id", got)
	}
	for i, l := range s.Lakes {
		if got, ok := s.Index(l.ID); !ok || got != i {
			t.Errorf("Index(%s) = %d, %v, want %d", l.ID, got, ok, i)
		}
	}
	for _, id := range []data.LakeID{"", "aa", "e"} {
		if got, ok := s.Index(id); ok {
			t.Errorf("Index(%q) = %d, want none", id, got)
		}
	}
	want := []snapshot.WeekCount{
		{Week: day(t, "2026-07-01").Week(), LakesWithData: 1, Risks: [data.RiskHigh + 1]int{data.RiskMedium: 1}},
		{Week: day(t, "2026-07-08").Week(), LakesWithData: 1, Risks: [data.RiskHigh + 1]int{data.RiskMedium: 1}},
		{Week: day(t, "2026-07-15").Week(), LakesWithData: 2, Risks: [data.RiskHigh + 1]int{data.RiskMedium: 1, data.RiskHigh: 1}},
	}
	if !slices.Equal(s.Weeks, want) {
		t.Errorf("Weeks = %v, want %v", s.Weeks, want)
	}
	if v := s.Current; v.Week != want[2].Week || v.AsOf != day(t, "2026-07-15") || v.WithData != 2 || len(v.States) != 4 {
		t.Errorf("Current is %s as of %s with %d of %d, want 2026-W29 as of 2026-07-15 with 2 of 4", v.Week, v.AsOf, v.WithData, len(v.States))
	}
}

func TestLoadKeepsNoProfileOfTheCaller(t *testing.T) {
	p, err := data.ProfileByID("uba2015")
	if err != nil {
		t.Fatal(err)
	}
	s := load(t, &memory{}, &snapshot.Options{Profile: p})
	p.Limits[0] = 0
	if s.Profile.ID != "uba2015" || s.Profile.Limits[0] != 15_00 {
		t.Errorf("the snapshot's profile is %v after the caller changed its own", s.Profile)
	}
}

func TestLoadWithoutObservations(t *testing.T) {
	for _, src := range []*memory{{}, {lakes: lakes("a", "b")}} {
		s := load(t, src, nil)
		v := s.Current
		if len(s.Weeks) != 0 || v.WithData != 0 || len(v.States) != len(src.lakes) {
			t.Errorf("%d lakes: weeks %v, current %+v", len(src.lakes), s.Weeks, v)
		}
		other, err := s.View(t.Context(), day(t, "2026-07-01").Week())
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range slices.Concat(v.States, other.States) {
			if st != unknown {
				t.Errorf("a lake that was never observed is %+v", st)
			}
		}
	}
}

func TestLoadRejects(t *testing.T) {
	ok := obs(t, "b", "2026-07-08", 3)
	forecast := ok
	forecast.Type = data.Forecast
	forecastOfA := forecast
	forecastOfA.LakeID = "a"
	bad := ok
	bad.Level = 9
	shoreless := lakes("a")
	whole := squareOutline(t, 10, 50)
	shoreless[0].Outline = whole[:len(whole)-1]
	pole := lakes("a")
	pole[0].Point[1] = 91
	tests := []struct {
		name string
		src  *memory
		opts *snapshot.Options
		want []string
	}{
		{"lake twice", &memory{lakes: lakes("a", "a")}, nil, []string{`lake "a" comes after "a"`}},
		{"lakes out of order", &memory{lakes: lakes("b", "a")}, nil, []string{`lake "a" comes after "b"`, "ascending"}},
		{"bad lake", &memory{lakes: pole}, nil, []string{`lake "a"`, "lat 91"}},
		{"bad outline", &memory{lakes: shoreless}, nil, []string{`lake "a"`, "outline", "cut short"}},
		{"unknown lake", &memory{lakes: lakes("a", "c"), observations: []data.Observation{ok}}, nil,
			[]string{`lake "b" on 2026-07-08`, "no such lake"}},
		{"lake after the last", &memory{lakes: lakes("a"), observations: []data.Observation{ok}}, nil, []string{"no such lake"}},
		{"observation and no lake", &memory{observations: []data.Observation{ok}}, nil, []string{"no such lake"}},
		{"observations out of order", &memory{lakes: lakes("a", "b"), observations: []data.Observation{ok, obs(t, "a", "2026-07-08", 3)}}, nil,
			[]string{`lake "a"`, "out of order"}},
		{"dates out of order", &memory{lakes: lakes("b"), observations: []data.Observation{ok, obs(t, "b", "2026-07-07", 3)}}, nil,
			[]string{`lake "b" on 2026-07-07`, "after 2026-07-08"}},
		{"date twice", &memory{lakes: lakes("b"), observations: []data.Observation{ok, ok}}, nil, []string{"each date once"}},
		{"forecast twice", &memory{lakes: lakes("b"), observations: []data.Observation{ok, forecast, forecast}}, nil,
			[]string{`lake "b" on 2026-07-08`, "ai_forecast", "each date once"}},
		{"forecast before its date's satellite", &memory{lakes: lakes("b"), observations: []data.Observation{forecast, ok}}, nil, []string{"satellite's first"}},
		{"forecast of an unknown lake", &memory{lakes: lakes("a"), observations: []data.Observation{forecast}}, nil, []string{"no such lake"}},
		{"forecast out of order", &memory{lakes: lakes("a", "b"), observations: []data.Observation{ok, forecastOfA}}, nil, []string{`lake "a"`, "out of order"}},
		{"bad observation", &memory{lakes: lakes("b"), observations: []data.Observation{bad}}, nil, []string{`lake "b"`, "who_level 9"}},
		{"stale after", &memory{}, &snapshot.Options{StaleAfter: -1}, []string{"-1 days", "1 or more"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := snapshot.Load(t.Context(), tt.src, tt.opts)
			if err == nil || s != nil {
				t.Fatalf("Load = %v, %v, want an error", s, err)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Load: %v, want it to name %q", err, part)
				}
			}
		})
	}
}

// A lakesLast is a source that passes a lake after the observations.
type lakesLast struct{ memory }

func (s *lakesLast) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	if r, err := s.memory.Scan(ctx, lake, observation); err != nil {
		return r, err
	}
	return s.revision, lake(data.Lake{ID: "z", Name: "late"})
}

func TestLoadRejectsLateLake(t *testing.T) {
	src := &lakesLast{memory{lakes: lakes("a"), observations: []data.Observation{obs(t, "a", "2026-07-08", 3)}}}
	if _, err := snapshot.Load(t.Context(), src, nil); err == nil || !strings.Contains(err.Error(), `"z" comes after the first observation`) {
		t.Errorf("Load = %v, want an error that names the late lake", err)
	}
}

func TestLoadPassesOnTheSourcesError(t *testing.T) {
	broken := errors.New("disk gone")
	if _, err := snapshot.Load(t.Context(), &failing{err: broken}, nil); !errors.Is(err, broken) {
		t.Errorf("Load = %v, want %v", err, broken)
	}
}

// A failing is a source that always returns an error.
type failing struct {
	memory
	err error
}

func (s *failing) Scan(context.Context, func(data.Lake) error, func(data.Observation) error) (data.Revision, error) {
	return data.Revision{}, s.err
}

// squareOutline returns the outline of a square of 0.2 degrees around a point.
func squareOutline(t testing.TB, lon, lat float64) outline.Outline {
	t.Helper()
	const half = 0.1
	o, err := outline.New(orb.MultiPolygon{{orb.Ring{
		{lon - half, lat - half}, {lon + half, lat - half}, {lon + half, lat + half}, {lon - half, lat + half}, {lon - half, lat - half},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return o
}
