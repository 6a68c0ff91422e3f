package store

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"limnomap/data"
)

// A scan keeps seeing the state with which it began, while an import is committed.
func testScanSeesOneState(t *testing.T, open opener) {
	s := open(t, time.Now)
	lakes := []data.Lake{testLake("a"), testLake("b")}
	put(t, s, lakes, []data.Observation{testObservation("a", 1, data.Satellite, 100), testObservation("b", 1, data.Satellite, 100)})
	before := revisionOf(t, s)

	imported := false
	var seen []data.Observation
	rev, err := s.Scan(t.Context(),
		func(data.Lake) error {
			if !imported {
				imported = true
				put(t, s, []data.Lake{testLake("0"), testLake("aa")}, []data.Observation{
					testObservation("a", 1, data.Satellite, 999), testObservation("aa", 1, data.Satellite, 999)})
			}
			return nil
		},
		func(o data.Observation) error { seen = append(seen, o); return nil })
	if err != nil || rev != before || len(seen) != 2 || seen[0].Chlorophyll != 100 {
		t.Errorf("Scan across an import = %v, %v, %v, want revision %v and two values of 1 µg/l", rev, seen, err, before)
	}
	if rev, lakes, observations := scan(t, s); rev.Number != before.Number+1 || len(lakes) != 4 || observations[0].Chlorophyll != 999 {
		t.Errorf("the next Scan = %v, %d lakes, %v, want the import", rev, len(lakes), observations)
	}
}

// Each import sets all lakes and observations to its own number, in two batches. A reader must never see two numbers in one
// scan or history, nor a revision that does not match.
func testNoHalfImport(t *testing.T, open opener) {
	const lakes, imports = 20, 10
	s := open(t, time.Now)
	generation := func(n int) (ls []data.Lake, os []data.Observation) {
		for i := range lakes {
			l := testLake(fmt.Sprintf("lake%02d", i))
			l.AreaKM2 = float64(n)
			ls = append(ls, l)
			for d := range data.Date(3) {
				os = append(os, testObservation(l.ID, d, data.Satellite, data.Chlorophyll(n)))
			}
		}
		return ls, os
	}
	ls, os := generation(1)
	put(t, s, ls, os)

	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for _, read := range []func() error{
		func() error { return oneGeneration(ctx, s) },
		func() error { return oneHistory(ctx, s, ls[lakes/2].ID) },
	} {
		readers.Go(func() { // ends when the imports are done
			for ctx.Err() == nil {
				if err := read(); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := 2; n <= imports; n++ {
		ls, os := generation(n)
		err := s.Import(t.Context(), func(tx Tx) error {
			for _, half := range [][2]int{{0, lakes / 2}, {lakes / 2, lakes}} {
				if _, err := tx.PutLakes(t.Context(), ls[half[0]:half[1]], LakeColumns{}); err != nil {
					return err
				}
				if _, err := tx.PutObservations(t.Context(), os[3*half[0]:3*half[1]], ObservationColumns{}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	cancel()
	readers.Wait()
	if err := oneGeneration(t.Context(), s); err != nil {
		t.Error(err)
	}
}

func oneGeneration(ctx context.Context, s *Store) error {
	numbers := map[int64]int{}
	rev, err := s.Scan(ctx,
		func(l data.Lake) error { numbers[int64(l.AreaKM2)]++; return nil },
		func(o data.Observation) error { numbers[int64(o.Chlorophyll)]++; return nil })
	if err == nil && (len(numbers) != 1 || numbers[rev.Number] == 0) {
		err = fmt.Errorf("one Scan at revision %d saw rows of imports %v (number: rows)", rev.Number, numbers)
	}
	return err
}

func oneHistory(ctx context.Context, s *Store, id data.LakeID) error {
	lake, history, err := s.History(ctx, id, data.Newest(10))
	for _, o := range history {
		if float64(o.Chlorophyll) != lake.AreaKM2 {
			return fmt.Errorf("one History saw the lake of import %v and a value of import %d", lake.AreaKM2, o.Chlorophyll)
		}
	}
	return err
}
