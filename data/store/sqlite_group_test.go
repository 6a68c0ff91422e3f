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

	"limnomap/data"
)

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
