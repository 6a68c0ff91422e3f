package store

import (
	"slices"
	"testing"
	"time"

	"limnomap/data"
)

// A transaction says which rows of the last batch repeat a key, in the same batch or from an earlier one, with the same values or
// with others. A lake that was unknown is known as soon as it is added.
func testRepeated(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	a, b := testLake("a"), testLake("b")
	renamed := a
	renamed.Name = "Neuer See"
	value := func(id data.LakeID, chl data.Chlorophyll) data.Observation {
		return data.Observation{LakeID: id, Date: 20000, Chlorophyll: chl, Level: data.NoLevel, CellDensity: data.NoCellDensity}
	}
	err := s.Import(ctx, func(tx Tx) error {
		check := func(what string, got, want []Change, repeated ...int) {
			t.Helper()
			if !slices.Equal(got, want) || !slices.Equal(tx.Repeated(), repeated) {
				t.Errorf("%s: %v with %v repeated, want %v with %v", what, got, tx.Repeated(), want, repeated)
			}
		}
		observations := func(what string, want []Change, repeated []int, rows ...data.Observation) error {
			t.Helper()
			got, err := tx.PutObservations(ctx, rows, ObservationColumns{})
			if err == nil {
				check(what, got, want, repeated...)
			}
			return err
		}
		if err := observations("unknown lakes", []Change{UnknownLake, UnknownLake}, nil, value("a", 1), value("a", 1)); err != nil {
			return err
		}
		got, err := tx.PutLakes(ctx, []data.Lake{a, renamed, a}, LakeColumns{})
		if err != nil {
			return err
		}
		check("one lake", got, []Change{Added, Contradicts, Unchanged}, 1, 2)
		if got, err = tx.PutLakes(ctx, []data.Lake{b, a}, LakeColumns{}); err != nil {
			return err
		}
		check("the next batch", got, []Change{Added, Unchanged}, 1)
		if err := observations("known lakes", []Change{Added, Unchanged, UnknownLake, Contradicts}, []int{1, 3}, value("a", 1), value("a", 1), value("c", 1), value("a", 2)); err != nil {
			return err
		}
		return observations("new rows", []Change{Added}, nil, value("b", 1))
	})
	if err != nil {
		t.Fatal(err)
	}
}
