package snapshot_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"

	"pgregory.net/rapid"
)

func TestState(t *testing.T) {
	scum := obs(t, "a", "2026-07-01", 3)
	scum.Level, scum.CellDensity = 3, 250_000
	scum.MeasuredAt = time.Date(2026, 7, 1, 10, 15, 0, 0, time.UTC)
	noon := obs(t, "a", "2026-07-01", 12)
	noon.MeasuredAt = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name    string
		asOf    string // the date of a gap of lake z
		obs     []data.Observation
		want    snapshot.State
		density float64
	}{
		{"never observed", "2026-07-01", nil, unknown, data.NoCellDensity},
		{"gaps only", "2026-07-08", []data.Observation{obs(t, "a", "2026-07-01", -1), obs(t, "a", "2026-07-08", -1)}, unknown, data.NoCellDensity},
		{"value", "2026-07-01", []data.Observation{noon},
			measured(t, "2026-07-01T12:00:00Z", snapshot.State{Chlorophyll: 12_00, Level: 1, Risk: data.RiskMedium, CountedCells: data.NoCellDensity}), 24_000},
		{"value below detection", "2026-07-01", []data.Observation{obs(t, "a", "2026-07-01", 0)},
			measured(t, "2026-07-01T00:00:00Z", snapshot.State{Chlorophyll: 0, Level: 0, Risk: data.RiskLow, CountedCells: data.NoCellDensity}), 0},
		{"the newest value", "2026-07-08", []data.Observation{noon, obs(t, "a", "2026-07-08", 50)},
			measured(t, "2026-07-08T00:00:00Z", snapshot.State{Chlorophyll: 50_00, Level: 2, Risk: data.RiskHigh, CountedCells: data.NoCellDensity}), 100_000},
		{"a gap since", "2026-07-08", []data.Observation{noon, obs(t, "a", "2026-07-08", -1)},
			measured(t, "2026-07-01T12:00:00Z", snapshot.State{Chlorophyll: 12_00, Level: 1, Risk: data.RiskMedium, CountedCells: data.NoCellDensity}), 24_000},
		{"the source's own class", "2026-07-01", []data.Observation{scum},
			measured(t, "2026-07-01T10:15:00Z", snapshot.State{Chlorophyll: 3_00, Level: 3, Risk: data.RiskHigh, CountedCells: 250_000}), 250_000},
		{"counted cells are worse", "2026-07-01", []data.Observation{counted(obs(t, "a", "2026-07-01", 5), 150_000)},
			measured(t, "2026-07-01T00:00:00Z", snapshot.State{Chlorophyll: 5_00, Level: 2, Risk: data.RiskHigh, CountedCells: 150_000}), 150_000},
		{"few counted cells do not make it better", "2026-07-01", []data.Observation{counted(obs(t, "a", "2026-07-01", 60), 100)},
			measured(t, "2026-07-01T00:00:00Z", snapshot.State{Chlorophyll: 60_00, Level: 2, Risk: data.RiskHigh, CountedCells: 100}), 100},
		{"a poor value is none", "2026-07-08", []data.Observation{noon, ofQuality(obs(t, "a", "2026-07-08", 60), data.Poor)},
			measured(t, "2026-07-01T12:00:00Z", snapshot.State{Chlorophyll: 12_00, Level: 1, Risk: data.RiskMedium, CountedCells: data.NoCellDensity}), 24_000},
		{"a sample", "2026-07-08", []data.Observation{sampled(noon)},
			measured(t, "2026-07-01T12:00:00Z", snapshot.State{Chlorophyll: 12_00, Level: 1, Risk: data.RiskMedium, CountedCells: data.NoCellDensity, MeasuredBy: data.InSitu}), 24_000},
		{"28 days old", "2026-07-29", []data.Observation{noon},
			measured(t, "2026-07-01T12:00:00Z", snapshot.State{Chlorophyll: 12_00, Level: 1, Risk: data.RiskMedium, CountedCells: data.NoCellDensity}), 24_000},
		{"29 days old", "2026-07-30", []data.Observation{noon},
			measured(t, "2026-07-01T12:00:00Z", snapshot.State{Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, Risk: data.RiskMedium, CountedCells: data.NoCellDensity}), data.NoCellDensity},
		{"years old, scum then", "2036-07-30", []data.Observation{scum},
			measured(t, "2026-07-01T10:15:00Z", snapshot.State{Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, Risk: data.RiskHigh, CountedCells: data.NoCellDensity}), data.NoCellDensity},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := &memory{lakes: lakes("a", "z"), observations: append(slices.Clone(tt.obs), obs(t, "z", tt.asOf, -1))}
			s := load(t, src, nil)
			if s.Current.AsOf != day(t, tt.asOf) {
				t.Errorf("AsOf = %s, want %s: a gap is an observation", s.Current.AsOf, tt.asOf)
			}
			got := state(t, s, s.Current, "a")
			if got != tt.want {
				t.Errorf("state = %+v, want %+v", got, tt.want)
			}
			if got := got.CellDensity(); got != tt.density {
				t.Errorf("cell density = %v, want %v", got, tt.density)
			}
			if got := state(t, s, s.Current, "z"); got != unknown {
				t.Errorf("state of a lake with gaps only = %+v, want unknown", got)
			}
		})
	}
}

// measured returns the state with a time of measurement.
func measured(t *testing.T, at string, s snapshot.State) snapshot.State {
	t.Helper()
	seconds := seconds(t, at)
	s.Date = data.DateOf(time.Unix(seconds, 0))
	s.TakenOffset = int32(seconds - s.Date.Time().Unix())
	return s
}

func counted(o data.Observation, cells float64) data.Observation { o.CellDensity = cells; return o }

func ofQuality(o data.Observation, q data.Quality) data.Observation { o.Quality = q; return o }

func sampled(o data.Observation) data.Observation { o.Type = data.InSitu; return o }

func from(source string, o data.Observation) data.Observation { o.Source = source; return o }

func TestWhichValueIsCurrent(t *testing.T) {
	pass := func(date string, chl float64) data.Observation { return obs(t, "a", date, chl) }
	sample := func(date string, chl float64) data.Observation { return sampled(obs(t, "a", date, chl)) }
	zero := 0
	for _, c := range []struct {
		name string
		rows []data.Observation
		opts *snapshot.Options
		want data.Chlorophyll // as of 2026-07-29
	}{
		{"a sample of the same day", []data.Observation{pass("2026-07-29", 3), sample("2026-07-29", 20)}, nil, 20_00},
		{"a sample 14 days older", []data.Observation{sample("2026-07-15", 20), pass("2026-07-29", 3)}, nil, 20_00},
		{"a sample 15 days older", []data.Observation{sample("2026-07-14", 20), pass("2026-07-29", 3)}, nil, 3_00},
		{"a newer sample", []data.Observation{pass("2026-07-22", 3), sample("2026-07-23", 20)}, nil, 20_00},
		{"only samples", []data.Observation{sample("2026-07-01", 20)}, nil, 20_00},
		{"a stale sample and a pass that is not", []data.Observation{sample("2026-06-30", 20), pass("2026-07-01", 3)}, nil, 3_00},
		{"both stale", []data.Observation{sample("2026-06-29", 20), pass("2026-06-30", 3)}, nil, data.NoChlorophyll},
		{"samples are not preferred", []data.Observation{sample("2026-07-28", 20), pass("2026-07-29", 3)}, &snapshot.Options{SamplePrefer: &zero}, 3_00},
		{"a poor sample", []data.Observation{pass("2026-07-28", 3), ofQuality(sample("2026-07-29", 20), data.Poor)}, nil, 3_00},
		{"only poor", []data.Observation{ofQuality(pass("2026-07-29", 20), data.Poor)}, nil, data.NoChlorophyll},
		{"two laboratories: the worse", []data.Observation{from("A", sample("2026-07-29", 20)), from("B", sample("2026-07-29", 30))}, nil, 30_00},
		{"two laboratories: the worse level", []data.Observation{counted(from("A", sample("2026-07-29", 5)), 150_000), from("B", sample("2026-07-29", 30))}, nil, 5_00},
		{"two products: not the suspect", []data.Observation{from("A", pass("2026-07-29", 3)), ofQuality(from("B", pass("2026-07-29", 60)), data.Suspect)}, nil, 3_00},
		{"a suspect value is better than none", []data.Observation{ofQuality(pass("2026-07-29", 60), data.Suspect)}, nil, 60_00},
	} {
		src := &memory{lakes: lakes("a", "z"), observations: append(c.rows, obs(t, "z", "2026-07-29", 1))}
		s := load(t, src, c.opts)
		if got := state(t, s, s.Current, "a").Chlorophyll; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestStateTrophic(t *testing.T) {
	dates := []string{"2026-05-01", "2026-06-01", "2026-07-01", "2026-07-08", "2026-07-15"}
	src := &memory{lakes: lakes("a", "z")}
	for _, date := range dates {
		src.observations = append(src.observations, obs(t, "a", date, 2.5))
	}
	bloom := obs(t, "a", "2026-07-22", 200)
	src.observations = append(src.observations, bloom, obs(t, "z", "2026-07-22", -1), obs(t, "z", "2026-09-01", -1))
	s := load(t, src, nil)

	at := func(date string) snapshot.State {
		v, err := s.View(t.Context(), day(t, date).Week())
		if err != nil {
			t.Fatal(err)
		}
		return state(t, s, v, "a")
	}
	if got := at("2026-07-15"); got.Trophic != data.Oligotrophic {
		t.Errorf("before the bloom: %+v, want oligotrophic", got)
	}
	if got := at("2026-07-22"); got.Trophic != data.Hypertrophic || got.Risk != data.RiskHigh {
		t.Errorf("in the bloom: %+v, want the mean of 35.42 µg/l to be hypertrophic", got)
	}
	if got := at("2026-07-08"); got.Trophic != data.TrophicUnknown {
		t.Errorf("after four values: %+v, want unknown", got)
	}
	if got := at("2026-09-01"); got.Trophic != data.Hypertrophic || got.TrophicBy != data.Satellite || got.Risk != data.RiskHigh || got.Chlorophyll.Valid() {
		t.Errorf("41 days after the last value: %+v, want no value, the trophic status of the year, and the last risk", got)
	}
}

func TestViewOfAnyWeek(t *testing.T) {
	src := &memory{lakes: lakes("a"), observations: []data.Observation{obs(t, "a", "2026-07-01", 3), obs(t, "a", "2026-07-15", 60)}}
	s := load(t, src, nil)
	first, last := day(t, "2026-07-01"), day(t, "2026-07-15")
	tests := []struct {
		name string
		week data.Week
		asOf data.Date
		want data.Chlorophyll
	}{
		{"before all", first.Week() - 1, first.Week().Monday() - 1, data.NoChlorophyll},
		{"the first", first.Week(), first.Week().Sunday(), 3_00},
		{"one without an observation", first.Week() + 1, first.Week().Sunday() + 7, 3_00},
		{"the newest", last.Week(), last, 60_00},
		{"years later", last.Week() + 1000, last, 60_00},
		{"the least week", -1 << 31, data.MinDate.Week().Sunday(), data.NoChlorophyll},
		{"the greatest week", 1<<31 - 1, last, 60_00},
	}
	for _, tt := range tests {
		v, err := s.View(t.Context(), tt.week)
		if err != nil {
			t.Fatal(err)
		}
		got := state(t, s, v, "a").Chlorophyll
		if v.Week != min(tt.week, last.Week()) || v.AsOf != tt.asOf || got != tt.want || (v.WithData == 1) != tt.want.Valid() {
			t.Errorf("%s: week %d as of %s: %s, with data %d; want week %d as of %s: %s",
				tt.name, v.Week, v.AsOf, got, v.WithData, tt.week, tt.asOf, tt.want)
		}
	}
	if v, err := s.View(t.Context(), last.Week()); err != nil || v != s.Current {
		t.Errorf("the view of the newest week is not Current itself (%v)", err)
	}
}

func TestViewIsShared(t *testing.T) {
	src := &memory{lakes: lakes("a")}
	for i := range 60 {
		o := obs(t, "a", "2026-01-05", float64(i))
		o.Date += data.Date(7 * i)
		src.observations = append(src.observations, o)
	}
	s := load(t, src, nil)
	const callers = 8
	var views [callers][8]*snapshot.View
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for i := range views[caller] {
				v, err := s.View(context.Background(), s.Weeks[i].Week)
				if err != nil {
					t.Error(err)
				}
				views[caller][i] = v
			}
		})
	}
	group.Wait()
	for caller := range callers {
		for i, v := range views[caller] {
			if v != views[0][i] || v.Week != s.Weeks[i].Week {
				t.Errorf("caller %d got another view of week %d than caller 0", caller, i)
			}
		}
	}
	// Older views are evicted, and are equal when they are built again.
	for _, w := range s.Weeks {
		if _, err := s.View(t.Context(), w.Week); err != nil {
			t.Fatal(err)
		}
	}
	again, err := s.View(t.Context(), s.Weeks[0].Week)
	if err != nil {
		t.Fatal(err)
	}
	if again == views[0][0] || !reflect.DeepEqual(again, views[0][0]) {
		t.Error("after 60 other weeks the first one's view is the same pointer, or another view")
	}
}

func TestViewOfEndedContext(t *testing.T) {
	s := load(t, &memory{lakes: lakes("a"), observations: []data.Observation{obs(t, "a", "2026-07-01", 3)}}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.View(ctx, s.Current.Week); err != nil {
		t.Errorf("View of a cached week = %v, want nil", err)
	}
	if v, err := s.View(ctx, s.Current.Week-1); !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("View = %v, %v, want %v", v, err, context.Canceled)
	}
}

// drawSource draws a few lakes with up to two years of observations: gaps, samples of several laboratories, the sources' own levels and
// cell counts, and poor values.
func drawSource(t *rapid.T) *memory {
	m := &memory{}
	order := rapid.SampledFrom([]data.SourceOrder{nil, {"B"}, {"B", "A"}}).Draw(t, "order")
	for i := range rapid.IntRange(0, 4).Draw(t, "lakes") {
		m.lakes = append(m.lakes, lakes(data.LakeID(fmt.Sprint("lake", i)))...)
	}
	for _, l := range m.lakes {
		date := data.Date(rapid.Int32Range(-100, 100).Draw(t, "first"))
		var rows []data.Observation
		for range rapid.IntRange(0, 12).Draw(t, "observations") {
			date += data.Date(rapid.Int32Range(0, 60).Draw(t, "days"))
			o := data.Observation{LakeID: l.ID, Date: date, Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity}
			o.Type = rapid.SampledFrom([]data.DataType{data.Satellite, data.Satellite, data.InSitu}).Draw(t, "type")
			o.Source = rapid.SampledFrom([]string{"", "", "A", "B"}).Draw(t, "source")
			o.Rank = order.Rank(o.Source)
			o.Quality = rapid.SampledFrom([]data.Quality{data.QualityUnknown, data.Good, data.Suspect, data.Poor}).Draw(t, "quality")
			if rapid.IntRange(0, 2).Draw(t, "clear") > 0 {
				o.Chlorophyll = data.Chlorophyll(rapid.Int32Range(0, 80_00).Draw(t, "chl"))
				o.Level = data.Level(rapid.IntRange(-1, 3).Draw(t, "level"))
				o.MeasuredAt = o.Date.Time().Add(time.Duration(rapid.IntRange(0, 86_399).Draw(t, "second")) * time.Second)
				if rapid.IntRange(0, 3).Draw(t, "counted") == 0 {
					o.CellDensity = rapid.Float64Range(0, 200_000).Draw(t, "cells")
				}
			}
			rows = append(rows, o)
		}
		m.observations = append(m.observations, inOrder(rows)...)
	}
	return m
}

// inOrder returns the rows of a lake in the order of a source, the first of each date, type and source.
func inOrder(rows []data.Observation) []data.Observation {
	compare := func(a, b data.Observation) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Source, b.Source))
	}
	slices.SortStableFunc(rows, compare)
	return slices.CompactFunc(rows, func(a, b data.Observation) bool { return compare(a, b) == 0 })
}

func drawOptions(t *rapid.T) *snapshot.Options {
	p := rapid.SampledFrom(data.Profiles()).Draw(t, "profile")
	prefer := rapid.IntRange(0, 60).Draw(t, "prefer")
	return &snapshot.Options{Profile: &p, StaleAfter: rapid.IntRange(1, 90).Draw(t, "stale"), SamplePrefer: &prefer}
}

// The view of a week depends only on observations up to its Sunday.
func TestViewIgnoresLaterObservations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, opts := drawSource(t), drawOptions(t)
		s := mustLoad(t, src, opts)
		for _, w := range weeksAround(s) {
			v, err := s.View(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			then := *opts
			then.AsOf = snapshot.Day(w.Sunday())
			if w >= s.Current.Week {
				then.AsOf = snapshot.Day(s.Current.AsOf)
			}
			want := mustLoad(t, src, &then).Current
			if !reflect.DeepEqual(v, want) {
				t.Fatalf("week %s: %+v, want %+v", w, v, want)
			}
		}
	})
}

// The dates and counts that the API lists are those of the views.
func TestWeeksMatchTheirViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawSource(t)
		s := mustLoad(t, src, drawOptions(t))
		observed := make(map[data.Week]bool)
		for _, o := range src.observations {
			observed[o.Date.Week()] = true
		}
		if len(s.Weeks) != len(observed) {
			t.Fatalf("%d weeks, want %d", len(s.Weeks), len(observed))
		}
		for i, c := range s.Weeks {
			if !observed[c.Week] || i > 0 && c.Week <= s.Weeks[i-1].Week {
				t.Fatalf("week %s is out of order or was never observed", c.Week)
			}
			v, err := s.View(context.Background(), c.Week)
			if err != nil {
				t.Fatal(err)
			}
			valid := 0
			var risks [data.RiskHigh + 1]int
			for _, st := range v.States {
				if st.Chlorophyll.Valid() {
					valid++
					risks[st.Risk]++
				}
			}
			if c.Risks != risks {
				t.Fatalf("week %s: Weeks counts %v by risk, want %v", c.Week, c.Risks, risks)
			}
			if c.LakesWithData != valid || v.WithData != valid {
				t.Fatalf("week %s: Weeks counts %d lakes with data, the view %d, its states %d", c.Week, c.LakesWithData, v.WithData, valid)
			}
		}
	})
}

// A lake without a value must never look like a clean one.
func TestMissingValueIsNeverLow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, opts := drawSource(t), drawOptions(t)
		s := mustLoad(t, src, opts)
		for i, st := range s.Current.States {
			if st.Chlorophyll.Valid() {
				if st.Level < 0 || st.CellDensity() < 0 || st.Risk != st.Level.Risk() {
					t.Fatalf("a value without its class: %+v", st)
				}
				continue
			}
			if st.Level != data.NoLevel || st.CountedCells != data.NoCellDensity || st.CellDensity() != data.NoCellDensity {
				t.Fatalf("a class without a value: %+v", st)
			}
			ever := slices.ContainsFunc(src.observations, func(o data.Observation) bool { return o.LakeID == s.Lakes[i].ID && o.Usable() })
			if (st.Risk != data.RiskUnknown) != ever {
				t.Fatalf("without a current value risk is %s, want it known: %v", st.Risk, ever)
			}
		}
	})
}

// weeksAround returns the weeks from before the first observation to after the last.
func weeksAround(s *snapshot.Snapshot) []data.Week {
	if len(s.Weeks) == 0 {
		return []data.Week{-1, 0, 1}
	}
	var weeks []data.Week
	for w := s.Weeks[0].Week - 1; w <= s.Current.Week+1; w++ {
		weeks = append(weeks, w)
	}
	return weeks
}

func mustLoad(t *rapid.T, src snapshot.Source, opts *snapshot.Options) *snapshot.Snapshot {
	t.Helper()
	s, err := snapshot.Load(context.Background(), src, archive(opts))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
