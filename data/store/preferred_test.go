package store

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

func prefer(tb testing.TB, s *Store, names ...string) {
	tb.Helper()
	if err := s.Import(tb.Context(), func(tx Tx) error { return tx.PreferSources(tb.Context(), names) }); err != nil {
		tb.Fatal(err)
	}
}

// The order of sources is a part of the data: it is stored, it ranks old and new observations, and another one is another revision.
func testPreferredSources(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	sample, lwq, cyan := testObservation("a", 2, data.InSitu, 5_00), testObservation("a", 4, data.Satellite, 3_00), testObservation("a", 6, data.Satellite, 60_00)
	lwq.Source, cyan.Source, sample.Source = "Copernicus LWQ300", "EPA CyAN V5", "EPA CyANO"
	put(t, s, []data.Lake{testLake("a")}, []data.Observation{lwq, sample})
	wantOrder := func(order ...string) {
		t.Helper()
		if got, err := s.PreferredSources(ctx); err != nil || !slices.Equal(got, order) {
			t.Errorf("PreferredSources = %q, %v, want %q", got, err, order)
		}
	}
	wantOrder()
	for _, step := range []struct {
		order      []string
		lwq, cyan  uint8
		value      data.Chlorophyll
		sameBefore bool // whether it was the order before
	}{
		{[]string{"Copernicus LWQ", "EPA CyAN"}, 1, 2, 3_00, false},
		{[]string{"Copernicus LWQ", "EPA CyAN"}, 1, 2, 3_00, true},
		{[]string{"EPA CyAN", "Copernicus LWQ"}, 2, 1, 60_00, false},
		{[]string{"x", "Copernicus LWQ"}, 2, 0, 3_00, false},
		{nil, 0, 0, 60_00, false},
		{nil, 0, 0, 60_00, true},
	} {
		before := revisionOf(t, s)
		prefer(t, s, step.order...)
		if same := revisionOf(t, s) == before; same != step.sameBefore {
			t.Errorf("%q: the revision is the same: %v, want %v", step.order, same, step.sameBefore)
		}
		wantOrder(step.order...)
		put(t, s, nil, []data.Observation{cyan}) // added when the order is there
		lwq.Rank, cyan.Rank = step.lwq, step.cyan
		all := []data.Observation{sample, lwq, cyan}
		if _, _, got := scan(t, s); !slices.Equal(got, all) {
			t.Errorf("%q: stored %+v, want %+v", step.order, got, all)
		}
		if _, got := past(t, s, data.Period{First: 11, Last: 12}); !slices.Equal(got, all) {
			t.Errorf("%q: the past is %+v, want %+v", step.order, got, all)
		}
		if _, got, err := s.History(ctx, "a", data.Newest(1)); err != nil || !slices.Equal(got, []data.Observation{cyan}) {
			t.Errorf("%q: the history begins with %+v, %v, want %+v", step.order, got, err, cyan)
		}
		prefer := 0
		snap, err := snapshot.Load(context.Background(), s, &snapshot.Options{AsOf: snapshot.Newest, SamplePrefer: &prefer})
		if err != nil {
			t.Fatal(err)
		}
		if got := snap.Current.States[0].Chlorophyll; got != step.value {
			t.Errorf("%q: the current value is %v, want %v", step.order, got, step.value)
		}
	}
}

// An order that is invalid, or whose import is rolled back, changes nothing. The ranks of rows that are imported do not matter.
func testRejectedPreference(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	prefer(t, s, "a")
	errStop := errors.New("stop")
	err := s.Import(ctx, func(tx Tx) error {
		if err := tx.PreferSources(ctx, data.SourceOrder{"b", "b"}); err == nil {
			t.Error("a source may come twice")
		}
		if err := tx.PreferSources(ctx, data.SourceOrder{"b"}); err != nil {
			t.Error(err)
		}
		return errStop
	})
	if err != errStop {
		t.Fatal(err)
	}
	if got, err := s.PreferredSources(ctx); err != nil || !slices.Equal(got, data.SourceOrder{"a"}) {
		t.Errorf("PreferredSources = %q, %v, want a", got, err)
	}
	o := testObservation("a", 9, data.Satellite, 1)
	o.Source, o.Rank = "z", 7
	put(t, s, []data.Lake{testLake("a")}, []data.Observation{o})
	o.Rank = 0
	if _, changes := put(t, s, nil, []data.Observation{o}); changes[0] != Unchanged {
		t.Errorf("the same with another rank is %v, want unchanged", changes[0])
	}
	if _, _, got := scan(t, s); !slices.Equal(got, []data.Observation{o}) {
		t.Errorf("stored %+v, want %+v", got, o)
	}
}
