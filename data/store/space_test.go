package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/diskspace"
)

// An import into SQLite that the disk has no room for is an error of the database.
func TestCheckSpace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	s, err := Open(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CheckSpace(1 << 10); err != nil && !strings.Contains(err.Error(), "bytes free") {
		t.Errorf("a small file: %v", err)
	}
	if !diskspace.Known {
		return
	}
	err = s.CheckSpace(1 << 60)
	if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), "nothing was imported into "+path) || !strings.Contains(err.Error(), "bytes free") {
		t.Errorf("an exbibyte: %v, want an error with the database and what is free", err)
	}
	if err := (&Store{}).CheckSpace(1 << 60); err != nil {
		t.Errorf("PostgreSQL: %v, want none: its disk is not known", err)
	}
}

// An import that fills the disk ends with an error about the full disk, and writes nothing. The next one succeeds.
func TestImportFillsTheDisk(t *testing.T) {
	s, err := openSQLite(t.Context(), location{path: filepath.Join(t.TempDir(), "lakes.db")}, true, permitUpgrade)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	limitPages := func(n int) { // SQLite treats too many pages as a full disk
		t.Helper()
		if _, err := s.writer.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
			t.Fatal(err)
		}
	}
	put := func(n int) error {
		return s.Import(t.Context(), func(tx Tx) error {
			for i := range n {
				_, err := tx.PutLakes(t.Context(), []data.Lake{{ID: data.LakeID(fmt.Sprintf("lake_%d", i)), Name: strings.Repeat("L", 200), Point: orb.Point{10, 50}}}, LakeColumns{})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	lakes := func() (n int) {
		t.Helper()
		if _, err := s.Scan(t.Context(), func(data.Lake) error { n++; return nil }, func(data.Observation) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	limitPages(100)
	if err := put(5000); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("error %v, want a full disk", err)
	}
	if n := lakes(); n != 0 {
		t.Errorf("%d lakes are stored, want none", n)
	}
	limitPages(1 << 20)
	if err := put(5000); err != nil {
		t.Errorf("with room: %v", err)
	}
	if n := lakes(); n != 5000 {
		t.Errorf("%d lakes are stored, want 5000", n)
	}
}
