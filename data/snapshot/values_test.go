package snapshot_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"

	"pgregory.net/rapid"
)

// The values that are drawn are those of the view, and so are the marks.
func TestValuesEqualView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, opts := drawSource(t), drawOptions(t)
		opts.Weeks = rapid.IntRange(1, 30).Draw(t, "weeks")
		s := mustLoad(t, src, opts)
		for _, w := range weeksAround(s) {
			v, err := s.View(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			shown, err := s.Values(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			if shown.Week != v.Week || len(shown.Lakes) != len(v.Lakes) {
				t.Fatalf("week %s: shown is week %s with %d lakes, want %d", w, shown.Week, len(shown.Lakes), len(v.Lakes))
			}
			for i, state := range v.States {
				age, _ := state.Age(v.AsOf)
				wantOld := state.Chlorophyll.Valid() && age > 14
				for _, values := range []*snapshot.Values{shown, v.Values()} {
					if got, old := values.Of(i); got != state.Chlorophyll || old != wantOld {
						t.Fatalf("week %s: lake %d is shown with %s, old: %t; want %s, %t", w, i, got, old, state.Chlorophyll, wantOld)
					}
				}
				worse := state.Level > s.Profile.Level(state.Chlorophyll)
				got := shown.Mark(i)
				if got.Worse() != worse || worse && (got == snapshot.WorseHigh) != (state.Risk == data.RiskHigh) || got != v.Values().Mark(i) {
					t.Fatalf("week %s: lake %d at level %d with %s has mark %d, and in its view %d", w, i, state.Level, state.Chlorophyll, got, v.Values().Mark(i))
				}
			}
			if again, err := s.Values(context.Background(), w); err != nil || again != shown {
				t.Fatalf("week %s asked for twice is not the same (%v)", w, err)
			}
		}
	})
}

func TestValuesOfEndedContext(t *testing.T) {
	s := load(t, newYearly(t, 20), nil)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if v, err := s.Values(ctx, s.Weeks[3].Week); !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("Values = %v, %v, want %v", v, err, context.Canceled)
	}
	if v, err := s.Values(ctx, s.Current.Week); err != nil || v != s.Current.Values() {
		t.Errorf("Values of the current week = %v, %v, want those of the current view", v, err)
	}
}

// The key of values is that of the states: it stays the same when another official statement is active, and not in another snapshot.
func TestValuesKey(t *testing.T) {
	src := &memory{lakes: lakes("a"), advisories: []data.Advisory{closure()},
		observations: []data.Observation{obs(t, "a", "2026-07-01", 3), obs(t, "a", "2026-07-08", 3)}}
	opts := &snapshot.Options{Present: data.ByClock(func() time.Time { return closure().Issued.Add(-time.Hour) })}
	s := load(t, src, opts)
	during := s.At(data.At(closure().ValidFrom))
	key := s.Current.Values().Key()
	if during.Current == s.Current || key.Value() == nil || during.Current.Values().Key() != key {
		t.Errorf("the key of the current values is %v, and during a closure %v", key, during.Current.Values().Key())
	}
	if again := load(t, src, opts); again.Current.Values().Key() == key {
		t.Error("the values of another snapshot have the same key")
	}
	v, err := s.Values(t.Context(), s.Weeks[0].Week)
	if err != nil {
		t.Fatal(err)
	}
	if v.Key().Value() != nil {
		t.Error("values that are computed when they are read have a key")
	}
}
