package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"limnomap/data"
)

// keysOf returns the lakes and the observations of a database as texts.
func keysOf(t *testing.T, s *Store) (keys []string) {
	t.Helper()
	_, lakes, observations := scan(t, s)
	for _, l := range lakes {
		keys = append(keys, string(l.ID))
	}
	for _, o := range observations {
		keys = append(keys, string(o.LakeID)+" "+o.Date.String()+" "+o.Type.String()+" "+o.Source)
	}
	return keys
}

func testDelete(t *testing.T, open opener) {
	s := open(t, time.Now)
	sample := func(lake data.LakeID, date data.Date, source string) data.Observation {
		o := testObservation(lake, date, data.InSitu, 500)
		o.Source = source
		return o
	}
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, []data.Observation{
		testObservation("a", 10, data.Satellite, 600), testObservation("a", 400, data.Satellite, 700), sample("a", 20, "Labor"), sample("a", 30, "Amt"),
		testObservation("b", 10, data.Satellite, 600), sample("b", 20, "Labor"),
	})
	putStatements(t, s, AdvisoryColumns{}, testAdvisory("s", "a"), testAdvisory("t", "b"))
	var forecasts []data.NumberedForecast
	for _, lake := range []data.LakeID{"a", "b"} {
		forecasts = append(forecasts, data.NumberedForecast{Number: numbersOf(t, s)[lake], LakeForecast: data.LakeForecast{LakeID: lake, BasedOn: 10,
			Weeks: [data.ForecastWeeks]data.StoredForecast{{Chl: 12_3456, Sigma: 7001}, {Chl: 1, Sigma: 1}}}})
	}
	issue := data.ForecastIssue{Issued: 15, Model: "limnomap-1", Weeks: 2, Input: 7, Counts: data.ForecastCounts{Lakes: 2, Rows: 4}}
	if _, err := s.PutForecasts(t.Context(), issue, slices.Values(forecasts), nil, 0); err != nil {
		t.Fatal(err)
	}
	all := keysOf(t, s)
	from, to := data.Known(data.Date(15)), data.Known(data.Date(25))
	for _, test := range []struct {
		name string
		what Selection
		want Deleted
		gone func(key string) bool
	}{
		{"nothing of it", Selection{Lake: "a", From: data.Known(data.Date(1000))}, Deleted{}, func(string) bool { return false }},
		{"days of a type", Selection{From: from, To: to, Type: data.Known(data.InSitu)}, Deleted{Observations: 2}, func(k string) bool { return len(k) > 1 && k[2:12] == "1970-01-21" }},
	} {
		before := revisionOf(t, s)
		for _, dryRun := range []bool{true, false} {
			got, err := s.Delete(t.Context(), test.what, dryRun)
			if err != nil || got != test.want {
				t.Errorf("%s: Delete = %+v, %v, want %+v", test.name, got, err, test.want)
			}
			if dryRun && !slices.Equal(keysOf(t, s), all) {
				t.Fatalf("%s: a dry run deleted something", test.name)
			}
		}
		if all = slices.DeleteFunc(all, test.gone); !slices.Equal(keysOf(t, s), all) {
			t.Errorf("%s: there are %q, want %q", test.name, keysOf(t, s), all)
		}
		if after := revisionOf(t, s); (after.Number > before.Number) != (test.want != Deleted{}) {
			t.Errorf("%s: the revision was %d and is %d", test.name, before.Number, after.Number)
		}
	}
	// The first value of a is that of its forecast; b has another one.
	got, err := s.Delete(t.Context(), Selection{Lake: "a", Type: data.Known(data.Satellite), To: from}, false)
	if err != nil || got != (Deleted{Observations: 1, Forecasts: 1}) {
		t.Errorf("Delete = %+v, %v, want an observation and the forecast of it", got, err)
	}
	if issue, left := forecastsOf(t, s, data.Optional[data.Date]{}); issue.Counts.Lakes != 1 || issue.Counts.Rows != 2 || len(left) != 1 || left[0].LakeID != "b" {
		t.Errorf("the forecasts are %+v %+v, want that of b", issue, left)
	}
	if got, err := s.Delete(t.Context(), Selection{Source: data.Known("Amt")}, false); err != nil || got != (Deleted{Observations: 1}) {
		t.Errorf("Delete of a source = %+v, %v", got, err)
	}
	if _, err := s.Delete(t.Context(), Selection{Source: data.Known("Amt")}, false); !errors.Is(err, ErrNoSource) {
		t.Errorf("Delete of a deleted source = %v", err)
	}
	if got, err := s.Delete(t.Context(), Selection{WholeLake: true, Lake: "b"}, false); err != nil || got != (Deleted{Lakes: 1, Observations: 1, Advisories: 1, Forecasts: 1}) {
		t.Errorf("Delete of a lake = %+v, %v", got, err)
	}
	if want := []string{"a", "a 1971-02-05 satellite "}; !slices.Equal(keysOf(t, s), want) {
		t.Errorf("there are %q, want %q", keysOf(t, s), want)
	}
	if statements, _, err := s.Advisories(t.Context()); err != nil || len(statements) != 1 || statements[0].LakeID != "a" {
		t.Errorf("the statements are %+v, %v", statements, err)
	}
	if _, err := s.Delete(t.Context(), Selection{WholeLake: true, Lake: "b"}, true); !errors.Is(err, data.ErrNoLake) {
		t.Errorf("Delete of a deleted lake = %v", err)
	}
	if _, err := s.Delete(t.Context(), Selection{}, false); err == nil {
		t.Error("all observations were deleted at once")
	}
	// The lake comes back as a new one.
	put(t, s, []data.Lake{testLake("b")}, []data.Observation{sample("b", 20, "Labor")})
	if want := []string{"a", "b", "a 1971-02-05 satellite ", "b 1970-01-21 in_situ Labor"}; !slices.Equal(keysOf(t, s), want) {
		t.Errorf("there are %q, want %q", keysOf(t, s), want)
	}
}

// Nothing of a deleted lake is left in the files of SQLite, also while another process has them open.
func TestDeletedIsOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	server, s := openFile(t, path, true), openFile(t, path, false)
	lake := testLake("a")
	lake.Name = "Geheimnisvoller See"
	put(t, &s.Store, []data.Lake{lake, testLake("b")}, nil)
	scan(t, &server.Store)
	inFiles := func() (found bool) {
		for _, end := range fileEnds {
			content, err := os.ReadFile(path + end)
			if err != nil {
				t.Fatal(err)
			}
			found = found || bytes.Contains(content, []byte(lake.Name))
		}
		return found
	}
	if !inFiles() {
		t.Fatal("the name of the lake is in no file: the test sees nothing")
	}
	if _, err := s.Delete(t.Context(), Selection{WholeLake: true, Lake: "a"}, false); err != nil {
		t.Fatal(err)
	}
	if inFiles() {
		t.Error("the name of the deleted lake is still in a file")
	}
}
