package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"limnomap/data"
)

// Small groups keep all rules of imports.
func TestGroupsKeepRules(t *testing.T) {
	for name, test := range map[string]func(*testing.T, opener){
		"observations": testObservations, "extremes": testExtremes, "sources": testSources, "kept reports": testKeptReports,
		"kept chlorophyll": testKeptChlorophyll, "contradicting observations": testContradictingObservations, "versions": testVersions,
		"worse than stored": testWorseThanStored, "best of an import": testBestOfImport, "repeated": testRepeated, "rollback": testRollback,
	} {
		t.Run(name, func(t *testing.T) {
			test(t, func(t *testing.T, now func() time.Time) *Store {
				s := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
				s.now, s.groupRows = now, 2
				return &s.Store
			})
		})
	}
}

// Rows that are inserted in groups have the same effect as rows that are inserted one by one: new rows, stored ones, and those that repeat a key.
func TestGroupsAsRows(t *testing.T) {
	var stores [2]*sqlite
	for i := range stores {
		stores[i] = openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
		put(t, &stores[i].Store, []data.Lake{testLake("a"), testLake("b")}, nil)
	}
	rapid.Check(t, func(rt *rapid.T) {
		stores[0].groupRows, stores[1].groupRows = 1, rapid.IntRange(2, 5).Draw(rt, "rows of a group")
		for _, s := range stores {
			if _, err := s.writer.Exec("DELETE FROM observations; DELETE FROM sampled_lakes; DELETE FROM sources"); err != nil {
				rt.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 3).Draw(rt, "imports") {
			var batches [][]data.Observation
			var keeps []ObservationColumns
			for range rapid.IntRange(1, 3).Draw(rt, "batches") {
				keep := ObservationColumns{Level: rapid.Bool().Draw(rt, "keep level"), Quality: rapid.Bool().Draw(rt, "keep quality")}
				rows := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) data.Observation {
					o := drawObservation(rt, keep)
					o.Date += data.Date(rapid.IntRange(0, 9).Draw(rt, "days"))
					return o
				}), 0, 20).Draw(rt, "rows")
				batches, keeps = append(batches, rows), append(keeps, keep)
			}
			var results [len(stores)]string
			for i, s := range stores {
				err := s.Import(t.Context(), func(tx Tx) error {
					for n, rows := range batches {
						changes, err := tx.PutObservations(t.Context(), rows, keeps[n])
						if err != nil {
							return err
						}
						results[i] += fmt.Sprintln(changes, tx.Repeated())
					}
					return nil
				})
				if err != nil {
					rt.Fatal(err)
				}
				_, _, stored := scan(t, &s.Store)
				results[i] += fmt.Sprint(stored, revisionOf(t, &s.Store).Number, sampledLakes(t, s))
			}
			if results[0] != results[1] {
				rt.Fatalf("one by one:\n%s\nin groups:\n%s", results[0], results[1])
			}
		}
	})
}

func sampledLakes(t *testing.T, s *sqlite) (lakes []int64) {
	t.Helper()
	rows, err := s.writer.Query("SELECT lake FROM sampled_lakes ORDER BY lake")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var lake int64
		if err := rows.Scan(&lake); err != nil {
			t.Fatal(err)
		}
		lakes = append(lakes, lake)
	}
	return lakes
}

// observationsOn returns observations of lake a on n days.
func observationsOn(n int) (rows []data.Observation) {
	for i := range n {
		rows = append(rows, testObservation("a", data.Date(20000+i), data.Satellite, 500))
	}
	return rows
}

// An error names the row of a group that the database refuses.
func TestGroupError(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
	put(t, &s.Store, []data.Lake{testLake("a")}, nil)
	for bad := range 2 * groupRows {
		rows := observationsOn(2 * groupRows)
		rows[bad].Chlorophyll = 15_000_001
		err := s.Import(t.Context(), func(tx Tx) error {
			_, err := tx.PutObservations(t.Context(), rows, ObservationColumns{})
			return err
		})
		if want := fmt.Sprintf("write the observation of lake %q on %s", "a", rows[bad].Date); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if _, _, stored := scan(t, &s.Store); len(stored) > 0 {
			t.Fatalf("%d rows are stored after the error, want none", len(stored))
		}
	}
}

// A group is not inserted outside of the transaction, which ends with the context of the import.
func TestGroupAfterRollback(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
	put(t, &s.Store, []data.Lake{testLake("a")}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rows := observationsOn(2 * groupRows)
	err := s.Import(ctx, func(tx Tx) error {
		got, err := tx.PutObservations(t.Context(), rows[:groupRows], ObservationColumns{})
		if err != nil || !slices.Equal(got, slices.Repeat([]Change{Added}, groupRows)) {
			t.Errorf("PutObservations = %v, %v, want all added", got, err)
		}
		cancel()
		for rolledBack := false; !rolledBack; {
			_, err := tx.(*sqliteTx).tx.Exec("SELECT 1")
			rolledBack = errors.Is(err, sql.ErrTxDone)
		}
		if _, err = tx.PutObservations(t.Context(), rows[groupRows:], ObservationColumns{}); err == nil {
			t.Error("PutObservations after the end of the import: no error")
		}
		return nil
	})
	if err == nil {
		t.Error("an import whose context has ended: no error")
	}
	if _, _, stored := scan(t, &s.Store); len(stored) > 0 {
		t.Errorf("%d rows are stored, want none", len(stored))
	}
}
