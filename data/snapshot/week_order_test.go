package snapshot_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"limnomap/data"
)

// ranked is a value of a satellite from a source in an order of two.
func ranked(t testing.TB, date, source string, chl float64) data.Observation {
	o := obs(t, "a", date, chl)
	o.Source = source
	o.Rank = data.SourceOrder{"LWQ", "CyAN"}.Rank(source)
	return o
}

// 2026-07-06 is a Monday.
func TestPreferredSource(t *testing.T) {
	poor := ranked(t, "2026-07-08", "LWQ", 3)
	poor.Quality = data.Poor
	suspect := ranked(t, "2026-07-08", "LWQ", 3)
	suspect.Quality = data.Suspect
	for _, test := range []struct {
		name string
		rows []data.Observation
		want float64
	}{
		{"the better one on the same day", []data.Observation{ranked(t, "2026-07-08", "CyAN", 60), ranked(t, "2026-07-08", "LWQ", 3)}, 3},
		{"the better one earlier in the week", []data.Observation{ranked(t, "2026-07-06", "LWQ", 3), ranked(t, "2026-07-12", "CyAN", 60)}, 3},
		{"the better one later in the week", []data.Observation{ranked(t, "2026-07-06", "CyAN", 60), ranked(t, "2026-07-12", "LWQ", 3)}, 3},
		{"the better one in the week before", []data.Observation{ranked(t, "2026-07-05", "LWQ", 3), ranked(t, "2026-07-06", "CyAN", 60)}, 60},
		{"the newer of the better ones", []data.Observation{ranked(t, "2026-07-06", "LWQ", 3), ranked(t, "2026-07-07", "CyAN", 60), ranked(t, "2026-07-08", "LWQ", 4)}, 4},
		{"a source out of the order comes last", []data.Observation{ranked(t, "2026-07-06", "CyAN", 3), ranked(t, "2026-07-08", "other", 60)}, 3},
		{"a source without a name comes last", []data.Observation{ranked(t, "2026-07-06", "CyAN", 3), ranked(t, "2026-07-08", "", 60)}, 3},
		{"sources out of the order are equal", []data.Observation{ranked(t, "2026-07-06", "other", 3), ranked(t, "2026-07-08", "another", 60)}, 60},
		{"a gap keeps nothing back", []data.Observation{ranked(t, "2026-07-06", "CyAN", 60), ranked(t, "2026-07-08", "LWQ", -1)}, 60},
		{"a poor value keeps nothing back", []data.Observation{ranked(t, "2026-07-06", "CyAN", 60), poor}, 60},
		{"a suspect value does", []data.Observation{ranked(t, "2026-07-06", "CyAN", 60), suspect}, 3},
	} {
		s := load(t, &memory{lakes: lakes("a"), observations: test.rows}, nil)
		if got := s.Current.States[0].Chlorophyll.Float(); got != test.want || s.Current.WithData != 1 || s.Weeks[len(s.Weeks)-1].LakesWithData != 1 {
			t.Errorf("%s: %v with %d lakes, want %v with one", test.name, got, s.Current.WithData, test.want)
		}
		// The history is of all sources.
		if got, whole := s.History(0, data.Newest(10)); whole || len(got) > 0 {
			t.Errorf("%s: the history in memory is %v, called whole: %v; want it left to the source", test.name, got, whole)
		}
	}
}

// A forecast is not hidden by a value in memory that looks poor only because another source is preferred.
func TestForecastBesideOtherSource(t *testing.T) {
	other := obs(t, "a", "2026-07-08", 60) // without a name, so that it has no more than what is in memory
	forecast := other
	forecast.Type = data.Forecast
	s := load(t, &memory{lakes: lakes("a"), observations: []data.Observation{ranked(t, "2026-07-06", "LWQ", 3), other, forecast}}, nil)
	q := data.Newest(10)
	q.Types = data.TypesOf(data.Forecast)
	if got, whole := s.History(0, q); whole {
		t.Errorf("the forecasts in memory are %v, called whole", got)
	}
}

// The maps of all weeks are those of the same data in which the values that another source keeps back are poor.
func TestPreferenceIsAsIfOthersWerePoor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, opts := drawSource(t), drawOptions(t)
		plain := &memory{lakes: src.lakes, observations: slices.Clone(src.observations)}
		place := func(o data.Observation) uint8 { return o.Rank - 1 } // 0 becomes the last
		for i := range plain.observations {
			o := &plain.observations[i]
			o.Rank = 0
			if o.Type == data.Satellite && slices.ContainsFunc(src.observations, func(b data.Observation) bool {
				return b.LakeID == o.LakeID && b.Type == data.Satellite && b.Date.Week() == o.Date.Week() && b.Chlorophyll.Valid() && b.Quality != data.Poor &&
					place(b) < place(src.observations[i])
			}) {
				o.Quality = data.Poor
			}
		}
		got, want := mustLoad(t, src, opts), mustLoad(t, plain, opts)
		if !slices.Equal(got.Weeks, want.Weeks) {
			t.Fatalf("weeks %v, want %v", got.Weeks, want.Weeks)
		}
		for _, w := range weeksAround(got) {
			a, err := got.View(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			b, err := want.View(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(a.States, b.States) || a.AsOf != b.AsOf || a.WithData != b.WithData {
				t.Fatalf("week %s: %+v, want %+v", w, a, b)
			}
		}
	})
}

// Another order gives another version, so that no map of the one before is used.
func TestVersionDependsOnPreference(t *testing.T) {
	rows := []data.Observation{ranked(t, "2026-07-06", "CyAN", 60), ranked(t, "2026-07-08", "LWQ", 3)}
	other := slices.Clone(rows)
	other[0].Rank, other[1].Rank = 1, 2
	a := load(t, &memory{lakes: lakes("a"), observations: rows}, nil)
	b := load(t, &memory{lakes: lakes("a"), observations: other}, nil)
	if a.Version == b.Version {
		t.Errorf("both orders have the version %s", a.Version)
	}
	if x, y := a.Current.States[0].Chlorophyll, b.Current.States[0].Chlorophyll; x != 3_00 || y != 60_00 {
		t.Errorf("the values are %v and %v, want 3 and 60", x, y)
	}
}
