package store

import (
	"errors"
	"slices"
	"testing"

	"limnomap/data"
)

// The rows of a new year are copied without a primary key until a key is repeated; from then on rows are looked up, and more
// of the year may follow. No one sees them before the commit, and a failed import leaves no partition.
func TestPostgresNewYear(t *testing.T) {
	s := openURL(t, newDatabase(t), true)
	put(t, &s.Store, []data.Lake{testLake("a"), testLake("b")}, nil)
	day := newYear(2024)
	row := func(id data.LakeID, d data.Date, chl data.Chlorophyll) data.Observation {
		return testObservation(id, d, data.Satellite, chl)
	}
	batches := []struct {
		rows []data.Observation
		want []Change
	}{
		{[]data.Observation{row("b", day, 1), row("a", day, 2), row("c", day, 3), row("a", day-1, 4)}, []Change{Added, Added, UnknownLake, Added}},
		{[]data.Observation{row("b", day, 1), row("a", day, 5), row("b", day+1, 6), row("a", day-1, 4)}, []Change{Unchanged, Contradicts, Added, Unchanged}},
		{[]data.Observation{row("a", day+1, 7), row("b", day+1, 8), row("a", newYear(2025), 9)}, []Change{Added, Contradicts, Added}},
	}
	imported := func(end error) error {
		return s.Import(t.Context(), func(tx Tx) error {
			for i, b := range batches {
				got, err := tx.PutObservations(t.Context(), b.rows, ObservationColumns{})
				if err != nil {
					return err
				}
				if !slices.Equal(got, b.want) {
					t.Errorf("batch %d = %v, want %v", i, got, b.want)
				}
				if _, _, seen := scan(t, &s.Store); len(seen) > 0 {
					t.Errorf("after batch %d others see %v", i, seen)
				}
			}
			return end
		})
	}
	years := func() (n int) {
		t.Helper()
		err := s.pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_class WHERE relname LIKE 'observations\\_2%' AND relkind = 'r'").Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if failed := errors.New("no more"); !errors.Is(imported(failed), failed) || years() != 0 {
		t.Errorf("an import that failed left %d years", years())
	}
	if err := imported(nil); err != nil || years() != 3 {
		t.Fatalf("Import: %v, with %d years, want 3", err, years())
	}
	want := []data.Observation{row("a", day-1, 4), row("a", day, 2), row("a", day+1, 7), row("a", newYear(2025), 9), row("b", day, 1), row("b", day+1, 6)}
	if _, _, got := scan(t, &s.Store); !slices.Equal(got, want) {
		t.Errorf("stored %v, want %v", got, want)
	}
	if _, changes := put(t, &s.Store, nil, want); slices.ContainsFunc(changes, func(c Change) bool { return c != Unchanged }) {
		t.Errorf("the same again: %v", changes)
	}
}

// After a large import, or a week of many lakes, all pages of the table are marked as visible to all, which a history needs
// to read from the index only.
func TestPostgresVacuums(t *testing.T) {
	s := openURL(t, newDatabase(t), true)
	lakes := make([]data.Lake, vacuumRows)
	rows := make([]data.Observation, vacuumRows)
	for i := range lakes {
		lakes[i] = testLake("lake_" + data.Date(i).String()) // a unique id
		rows[i] = testObservation(lakes[i].ID, newYear(2024), data.Satellite, 5)
	}
	put(t, &s.Store, lakes, nil)
	for week := range data.Date(3) {
		for i := range rows {
			rows[i].Date = newYear(2024) + 7*week
		}
		put(t, &s.Store, nil, rows)
		if week == 0 { // the year exists only now, so autovacuum can be turned off
			onServer(t, s.pool.Config().ConnString(), "ALTER TABLE limnomap.observations_2024 SET (autovacuum_enabled = false)")
			continue
		}
		var pages, visible int
		err := s.pool.QueryRow(t.Context(), "SELECT relpages, relallvisible FROM pg_class WHERE oid = 'limnomap.observations_2024'::regclass").Scan(&pages, &visible)
		if err != nil || pages == 0 || visible != pages {
			t.Errorf("after week %d %d of %d pages are visible to all, %v", week, visible, pages, err)
		}
	}
}
