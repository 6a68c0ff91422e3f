package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"limnomap/data"
)

// A stored is all that an import may change.
type stored struct {
	lakes        []data.Lake
	observations []data.Observation
	statements   []data.Advisory
}

func storedOf(t *testing.T, s *Store) (all stored) {
	t.Helper()
	_, all.lakes, all.observations = scan(t, s)
	all.statements = statementsOf(t, s)
	return all
}

// Each import is undone to exactly what was stored before it, from the last one to the first.
func testUndo(t *testing.T, open opener) {
	now := time.Unix(1_800_000_000, 0).UTC()
	s := open(t, func() time.Time { return now })
	sample := func(chl data.Chlorophyll) data.Observation {
		o := detailed("a", 20_000, "Labor")
		o.Chlorophyll = chl
		return o
	}
	outlined := testLake("a")
	outlined.Name, outlined.Outline = "Neuer Name", testOutline(t)
	withdrawn := testAdvisory("s", "a")
	withdrawn.TextDE, withdrawn.Withdrawn = "Vorbei.", withdrawn.Issued.Add(time.Hour)
	versioned := func(version string, chl data.Chlorophyll) data.Observation {
		o := testObservation("b", 20_100, data.Satellite, chl)
		o.Source, o.Details.Version = "P", version
		return o
	}
	imports := []func(Tx) error{
		func(tx Tx) error {
			tx.Describe(ImportInfo{By: "me@here", Files: []ImportFile{{Name: "lakes.csv", SHA256: "00ff"}}})
			_, err := tx.PutLakes(t.Context(), []data.Lake{testLake("a"), testLake("b")}, LakeColumns{})
			return err
		},
		func(tx Tx) error {
			_, err := tx.PutObservations(t.Context(), []data.Observation{sample(500), testObservation("a", 20_000, data.Satellite, 600), testObservation("b", 20_000, data.Satellite, data.NoChlorophyll)}, ObservationColumns{})
			return err
		},
		func(tx Tx) error {
			_, err := tx.PutAdvisories(t.Context(), []data.Advisory{testAdvisory("s", "a")}, AdvisoryColumns{})
			return err
		},
		func(tx Tx) error { // changes one of each, adds one of each, and repeats a row of a new and of an old key with newer versions
			if _, err := tx.PutLakes(t.Context(), []data.Lake{outlined, testLake("c")}, LakeColumns{}); err != nil {
				return err
			}
			if _, err := tx.PutAdvisories(t.Context(), []data.Advisory{withdrawn, testAdvisory("t", "c")}, AdvisoryColumns{}); err != nil {
				return err
			}
			rows := []data.Observation{sample(700), testObservation("c", 10, data.Satellite, 5), versioned("1", 5), versioned("2", 6), versioned("3", 7), testObservation("nowhere", 1, data.Satellite, 1)}
			_, err := tx.PutObservations(t.Context(), rows, ObservationColumns{})
			return err
		},
		func(tx Tx) error {
			_, err := tx.PutObservations(t.Context(), []data.Observation{versioned("4", 8), versioned("5", 9)}, ObservationColumns{})
			return err
		},
	}
	states := []stored{storedOf(t, s)}
	for _, fn := range imports {
		if err := s.Import(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
		states = append(states, storedOf(t, s))
	}
	records, err := s.Imports(t.Context())
	if err != nil || len(records) != len(imports) {
		t.Fatalf("there are %d imports, %v, want %d", len(records), err, len(imports))
	}
	first := ImportRecord{Number: 1, At: now, ImportInfo: ImportInfo{By: "me@here", Files: []ImportFile{{Name: "lakes.csv", SHA256: "00ff"}}}, About: []string{"lakes"}, Added: 2, Undo: true}
	if got := records[len(records)-1]; !reflect.DeepEqual(got, first) {
		t.Errorf("the first import is %+v, want %+v", got, first)
	}
	if got := records[1]; !slices.Equal(got.About, []string{"lakes", "statements", "observations of ", "observations of Labor", "observations of P"}) || got.Refused != 1 {
		t.Errorf("the fourth import is %+v", got)
	}
	// An import that changes nothing, and one that fails, have no record.
	if err := s.Import(t.Context(), imports[4]); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("failed")
	if err := s.Import(t.Context(), func(tx Tx) error { return errors.Join(imports[1](tx), failed) }); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	if _, err := s.Undo(t.Context(), 4, false); !errors.Is(err, ErrNoUndo) {
		t.Errorf("Undo of an import before another one of its source = %v", err)
	}
	if _, err := s.Undo(t.Context(), 99, false); !errors.Is(err, ErrNoImport) {
		t.Errorf("Undo of no import = %v", err)
	}
	for i := len(imports); i > 0; i-- {
		before := revisionOf(t, s)
		if r, err := s.Undo(t.Context(), 0, true); err != nil || r.Number != int64(i) || !reflect.DeepEqual(storedOf(t, s), states[i]) {
			t.Errorf("a dry run of undo = %+v, %v, want %d and no change", r, err, i)
		}
		r, err := s.Undo(t.Context(), 0, false)
		if err != nil || r.Number != int64(i) {
			t.Fatalf("Undo = %+v, %v, want %d", r, err, i)
		}
		if got, want := storedOf(t, s), states[i-1]; !reflect.DeepEqual(got, want) {
			t.Errorf("after the undo of %d there is\n%+v\nwant\n%+v", i, got, want)
		}
		if after := revisionOf(t, s); after.Number <= before.Number {
			t.Errorf("the undo of %d left the revision at %d", i, after.Number)
		}
	}
	if _, err := s.Undo(t.Context(), 0, false); !errors.Is(err, ErrNoImport) {
		t.Errorf("Undo of nothing = %v", err)
	}
	if _, err := s.Undo(t.Context(), 2, false); !errors.Is(err, ErrNoUndo) {
		t.Errorf("Undo of an undone import = %v", err)
	}
	// Imports go on, and a deletion forgets what they replaced.
	for _, fn := range imports[:3] {
		if err := s.Import(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	if got := storedOf(t, s); !reflect.DeepEqual(got, states[3]) {
		t.Errorf("imported again there is\n%+v\nwant\n%+v", got, states[3])
	}
	if _, err := s.Undo(t.Context(), 6, false); !errors.Is(err, ErrNoUndo) {
		t.Errorf("Undo of lakes with observations = %v", err)
	}
	if _, err := s.Delete(t.Context(), Selection{WholeLake: true, Lake: "b"}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Undo(t.Context(), 0, false); !errors.Is(err, ErrNoUndo) {
		t.Errorf("Undo after a deletion = %v", err)
	}
}

// What imports replaced is bounded: the oldest is dropped first.
func TestUndoIsBounded(t *testing.T) {
	s := &openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true).Store
	put(t, s, []data.Lake{testLake("a")}, nil)
	half := make([]byte, maxUndoBytes/2)
	for i := range 3 {
		put(t, s, nil, []data.Observation{testObservation("a", data.Date(i), data.Satellite, 5)})
		if err := s.db.update(t.Context(), "test", func(q querier) error {
			_, err := q.exec(t.Context(), "INSERT INTO limnomap.import_parts (import, part, content) VALUES ($1, 1, $2)", i+2, half)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, nil, []data.Observation{testObservation("a", 99, data.Satellite, 5)})
	records, err := s.Imports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var undo string
	for _, r := range records {
		undo += fmt.Sprint(r.Number, r.Undo, " ")
	}
	if want := "5 true 4 true 3 false 2 false 1 false "; undo != want {
		t.Errorf("the imports that can be undone are %s, want %s", undo, want)
	}
}

// Forecasts that were made since an import are of its values, and go with it. Those of former days stay.
func testUndoneForecasts(t *testing.T, open opener) {
	day := data.Date(20_000)
	s := open(t, func() time.Time { return day.Time().Add(time.Hour) })
	put(t, s, []data.Lake{testLake("a")}, []data.Observation{testObservation("a", day-7, data.Satellite, 100)})
	putForecast := func(issued data.Date) {
		t.Helper()
		issue := data.ForecastIssue{Issued: issued, Model: "m", Weeks: data.ForecastWeeks, Counts: data.ForecastCounts{Lakes: 1, Rows: 1}}
		of := data.NumberedForecast{Number: numbersOf(t, s)["a"], LakeForecast: data.LakeForecast{LakeID: "a", BasedOn: issued - 1,
			Weeks: [data.ForecastWeeks]data.StoredForecast{{Chl: 12_3456, Sigma: 7001}}}}
		if _, err := s.PutForecasts(t.Context(), issue, slices.Values([]data.NumberedForecast{of}), nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	putForecast(day - 1)
	put(t, s, nil, []data.Observation{testObservation("a", day, data.Satellite, 90_00)})
	putForecast(day)
	before := revisionOf(t, s)
	if _, err := s.Undo(t.Context(), 0, false); err != nil {
		t.Fatal(err)
	}
	for issued, want := range map[data.Date]int{day - 1: 1, day: 0} {
		if _, got := forecastsOf(t, s, data.Known(issued)); len(got) != want {
			t.Errorf("%d forecasts of %s are left, want %d", len(got), issued, want)
		}
	}
	if after := revisionOf(t, s); after.Forecasts == before.Forecasts {
		t.Error("servers do not notice that forecasts are gone")
	}
}
