package store

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"limnomap/data"
)

// scanned are what a scan passes on.
type scanned struct {
	lakes        []data.Lake
	observations []data.Observation
}

func scanAll(tb testing.TB, s *Store) (all scanned) {
	tb.Helper()
	if _, err := s.Scan(tb.Context(),
		func(l data.Lake) error { all.lakes = append(all.lakes, l); return nil },
		func(o data.Observation) error { all.observations = append(all.observations, o); return nil }); err != nil {
		tb.Fatal(err)
	}
	return all
}

// openArchive opens a database whose scans read on several processors, with lakes that are stored in another order than that of their
// ids, some of them without observations.
func openArchive(t *testing.T) *sqlite {
	t.Helper()
	s := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
	lakes, observations := archive(10*chunkLakes + 3)
	slices.Reverse(lakes)
	kept := observations[:0]
	for i, o := range observations {
		if i/3000%3 > 0 {
			kept = append(kept, o)
		}
	}
	for i := range kept {
		if i%7 == 0 { // as details are
			kept[i].Source, kept[i].Quality = []string{"b", "a"}[i%2], data.Good
		}
	}
	put(t, &s.Store, lakes, kept)
	return s
}

func TestScanParallel(t *testing.T) {
	s := openArchive(t)
	want := scanAll(t, &s.Store)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	s.parallelLakes = 1
	got := scanAll(t, &s.Store)
	if !s.scanned.Load() {
		t.Error("Scan read on one processor")
	}
	if !slices.Equal(got.lakes, want.lakes) {
		t.Errorf("the lakes differ: %d, want %d", len(got.lakes), len(want.lakes))
	}
	if !slices.Equal(got.observations, want.observations) {
		t.Errorf("the observations differ: %d, want %d", len(got.observations), len(want.observations))
	}
}

func TestScanParallelEnds(t *testing.T) {
	s := openArchive(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	s.parallelLakes = 1
	errStop := errors.New("fake error")
	for _, rows := range []int{1, 5000} {
		n := 0
		_, err := s.Scan(t.Context(), func(data.Lake) error { return nil }, func(data.Observation) error {
			if n++; n == rows {
				return errStop
			}
			return nil
		})
		if err != errStop || n != rows {
			t.Errorf("Scan that is stopped at row %d passed %d rows and returned %v, want %v", rows, n, err, errStop)
		}
		ctx, cancel := context.WithCancel(t.Context())
		n = 0
		_, err = s.Scan(ctx, func(data.Lake) error { return nil }, func(data.Observation) error {
			if n++; n == rows {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Scan that is cancelled at row %d = %v, want %v", rows, err, context.Canceled)
		}
	}
	// A row that no import writes ends the scan with the same error on one processor and on several.
	if _, err := s.writer.Exec("UPDATE observations SET source = 99 WHERE (lake, date) IN (SELECT lake, date FROM observations LIMIT 1 OFFSET 20000)"); err != nil {
		t.Fatal(err)
	}
	fault := func() (int, string) {
		n := 0
		_, err := s.Scan(t.Context(), func(data.Lake) error { return nil }, func(data.Observation) error { n++; return nil })
		if err == nil {
			t.Fatal("Scan of an unknown source: no error")
		}
		return n, err.Error()
	}
	n, err := fault()
	s.parallelLakes = parallelLakes
	if wantN, want := fault(); err != want || n > wantN {
		t.Errorf("Scan passed %d rows and returned %s, want at most %d and %s", n, err, wantN, want)
	}
}

// TestScanParallelAfterAnImport makes sure that a scan during which an import is committed shows one revision.
func TestScanParallelAfterAnImport(t *testing.T) {
	s := openArchive(t)
	want := scanAll(t, &s.Store)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	s.parallelLakes = 1
	imported := false
	var got []data.Observation
	if _, err := s.Scan(t.Context(), func(l data.Lake) error {
		if !imported {
			imported = true
			put(t, &s.Store, nil, []data.Observation{testObservation(l.ID, 30000, data.Satellite, 1)})
		}
		return nil
	}, func(o data.Observation) error { got = append(got, o); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want.observations) {
		t.Errorf("Scan passed %d observations, want those before the import: %d", len(got), len(want.observations))
	}
	if n := len(scanAll(t, &s.Store).observations); n != len(want.observations)+1 {
		t.Errorf("the next Scan passed %d observations, want %d", n, len(want.observations)+1)
	}
}
