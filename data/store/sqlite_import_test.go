package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"limnomap/data"
)

// TestManyLakes imports more lakes than an import looks up one by one: of stored, new and unknown ones.
func TestManyLakes(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
	s.maxKnownKeys = 3
	var lakes []data.Lake
	var observations []data.Observation
	for i := range 20 {
		id := fmt.Sprintf("lake%02d", (7*i)%20)
		lakes = append(lakes, testLake(id))
		observations = append(observations, testObservation(data.LakeID(id), 20000, data.Satellite, 100))
	}
	put(t, &s.Store, lakes[:10], nil)
	err := s.Import(t.Context(), func(tx Tx) error {
		for i := range lakes {
			want := []Change{Unchanged, Added}[i/10]
			if got, err := tx.PutLakes(t.Context(), lakes[i:i+1], LakeColumns{}); err != nil || got[0] != want {
				t.Errorf("PutLakes of lake %s = %v, %v, want %v", lakes[i].ID, got, err, want)
			}
			unknown := testObservation(data.LakeID(fmt.Sprint("other", i)), 20000, data.Satellite, 100)
			got, err := tx.PutObservations(t.Context(), []data.Observation{observations[i], unknown, observations[i]}, ObservationColumns{})
			if err != nil || got[0] != Added || got[1] != UnknownLake || got[2] != Unchanged {
				t.Errorf("PutObservations of lake %s = %v, %v, want added, unknown, unchanged", lakes[i].ID, got, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lakes {
		if _, history, err := s.History(t.Context(), l.ID, data.Newest(2)); err != nil || len(history) != 1 {
			t.Errorf("History of lake %s = %v, %v, want one row", l.ID, history, err)
		}
	}
}

// TestReferencesAfterAnImport makes sure that the connection of an import checks references again when it has ended, however it ended.
func TestReferencesAfterAnImport(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
	for name, end := range map[string]func(cancel func()) error{
		"committed":   func(func()) error { return nil },
		"rolled back": func(func()) error { return errors.New("fake error") },
		"cancelled":   func(cancel func()) error { cancel(); return context.Canceled },
		"panicked":    func(func()) error { panic("fake panic") },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			func() {
				defer func() { _ = recover() }()
				_ = s.Import(ctx, func(tx Tx) error {
					if _, err := tx.PutLakes(t.Context(), []data.Lake{testLake("a")}, LakeColumns{}); err != nil {
						return err
					}
					return end(cancel)
				})
			}()
			var checked bool
			if err := s.writer.QueryRow("PRAGMA foreign_keys").Scan(&checked); err != nil || !checked {
				t.Errorf("foreign_keys = %v, %v, want true", checked, err)
			}
		})
	}
}
