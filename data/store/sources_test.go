package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"limnomap/data"
)

// Each source has a row of its own for one lake, date and type. They are read in the order of their names.
func testSources(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	rows := []data.Observation{detailed("a", 9, "Z"), detailed("a", 9, "b"), detailed("a", 9, "B"), detailed("a", 9, ""), testObservation("a", 9, data.Satellite, 1)}
	_, changes := put(t, s, []data.Lake{testLake("a")}, append(rows, rows[1]))
	if want := []Change{Added, Added, Added, Added, Added, Unchanged}; !slices.Equal(changes, want) {
		t.Errorf("the import is %v, want %v", changes, want)
	}
	want := []data.Observation{rows[4], rows[3], rows[2], rows[0], rows[1]}
	if _, _, got := scan(t, s); !slices.Equal(got, want) {
		t.Errorf("Scan = %v, want %v", got, want)
	}
	history := append(slices.Clone(want[1:]), want[0]) // samples first
	if _, got, err := s.History(ctx, "a", data.Newest(10)); err != nil || !slices.Equal(got, history) {
		t.Errorf("History = %v, %v, want %v", got, err, history)
	}
	if _, got := past(t, s, data.Period{First: 10, Last: 20}); !slices.Equal(got, want) {
		t.Errorf("Past = %v, want %v", got, want)
	}
	// One more than a database may have, and nothing of them is stored.
	var many []data.Observation
	for i := range MaxSources - 2 {
		many = append(many, detailed("a", 10, fmt.Sprint("source ", i)))
	}
	_, changes = put(t, s, nil, many)
	if last := len(many) - 1; changes[last] != ManySources || changes[last-1] != Added {
		t.Errorf("with %d sources the import ends with %v, want only the last one refused", len(many)+3, changes[last-1:])
	}
	if _, _, got := scan(t, s); len(got) != len(want)+len(many)-1 {
		t.Errorf("Scan = %d rows, want %d", len(got), len(want)+len(many)-1)
	}
}

// The numbers of sources are not used up by imports that are rolled back.
func testSourcesOfRolledBackImports(t *testing.T, open opener) {
	s, ctx := open(t, time.Now), t.Context()
	put(t, s, []data.Lake{testLake("a")}, nil)
	errStop := errors.New("stop")
	for _, end := range []error{errStop, nil} {
		err := s.Import(ctx, func(tx Tx) error {
			if _, err := tx.PutObservations(ctx, []data.Observation{detailed("a", 9, "x")}, ObservationColumns{}); err != nil {
				return err
			}
			return end
		})
		if err != end {
			t.Fatal(err)
		}
	}
	err := s.db.query(ctx, "read sources", func(q querier) error {
		known, err := readSources(ctx, q)
		if known.byNumber[1].name != "x" {
			t.Errorf("the sources are %v, want x with number 1", known.byNumber)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
