package store

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
	"limnomap/data/apikey"
	"limnomap/data/snapshot"
)

// The databases in testdata were made by `limnomap import` and `limnomap keys create` of version 0.1.0: the file of SQLite, and the dump
// of PostgreSQL (pg_dump --inserts).

func TestSQLiteOfVersion010(t *testing.T) {
	compressed, err := os.Open("testdata/v0.1.0.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer compressed.Close()
	z, err := gzip.NewReader(compressed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lakes.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	testReleased(t, &openFile(t, path, false).Store)
	if got, want := schemaOf(t, path), schemaOf(t, newFilePath(t)); !slices.Equal(got, want) {
		t.Errorf("the schema is\n%s\nwant that of a new database\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// newFilePath returns the path of a new database.
func newFilePath(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "new.db")
	openFile(t, path, true)
	return path
}

func TestPostgresOfVersion010(t *testing.T) {
	dsn := newDatabase(t)
	dump, err := os.ReadFile("testdata/v0.1.0.sql")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), string(dump))
	if closeErr := conn.Close(t.Context()); err != nil || closeErr != nil {
		t.Fatal(err, closeErr)
	}
	s, err := Open(t.Context(), dsn, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	testReleased(t, s)
}

// testReleased checks that the database has lost no data, and that it accepts a sample with details.
func testReleased(t *testing.T, s *Store) {
	rev, lakes, observations := scan(t, s)
	if rev.Number != 2 {
		t.Errorf("the revision is %d, want 2", rev.Number)
	}
	var names []string
	for _, l := range lakes {
		names = append(names, string(l.ID)+" "+l.ExternalID+" "+l.Name+" "+l.Region)
	}
	if want := []string{"Lake_B Lake_B Lake B ", "lake_a lake_a Lake A ", "pond DEBB_PR_0001 Mühlenteich Brandenburg"}; !slices.Equal(names, want) {
		t.Errorf("the lakes are %q, want %q", names, want)
	}
	if len(lakes) != 3 || lakes[2].Outline == "" || lakes[1].AreaKM2 != 1.5 {
		t.Errorf("the lakes are %+v, want an outline of the third and the area of the second", lakes)
	}
	at := func(text string) time.Time {
		taken, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return taken
	}
	day := func(text string) data.Date { return data.DateOf(at(text + "T00:00:00Z")) }
	want := []data.Observation{
		testObservation("lake_a", day("1999-12-31"), data.Satellite, 0),
		testObservation("lake_a", day("2026-07-13"), data.Satellite, 7_50),
		testObservation("pond", day("2025-12-29"), data.Satellite, 10_00),
		testObservation("pond", day("2026-01-05"), data.Satellite, data.NoChlorophyll),
		testObservation("pond", day("2026-07-06"), data.Satellite, 3_50),
		testObservation("pond", day("2026-07-13"), data.Satellite, 12_00),
		testObservation("pond", day("2026-07-13"), data.Forecast, 14_00),
		testObservation("pond", day("2026-07-20"), data.Forecast, 15_50),
	}
	want[2].MeasuredAt, want[4].CellDensity, want[5].Level, want[5].MeasuredAt = at("2025-12-29T10:30:05Z"), 150000.5, 3, at("2026-07-14T01:00:00Z")
	if !slices.Equal(observations, want) {
		t.Errorf("the observations are\n%+v\nwant\n%+v", observations, want)
	}
	keys, err := s.Keys(t.Context())
	if err != nil || len(keys) != 1 || keys[0].Name != "one" || keys[0].Scopes != apikey.ScopeMonitor {
		t.Errorf("the keys are %+v, %v, want one", keys, err)
	}
	if statements, _, err := s.Advisories(t.Context()); err != nil || len(statements) != 0 {
		t.Errorf("the official statements are %v, %v, want none", statements, err)
	}
	sample := detailed("pond", day("2026-07-13"), "LfU")
	if _, changes := put(t, s, nil, append(slices.Clone(want), sample)); !slices.Equal(changes[:len(want)], make([]Change, len(want))) || changes[len(want)] != Added {
		t.Errorf("an import of the same with a sample is %v, want all unchanged and the sample added", changes)
	}
	if _, got, err := s.History(t.Context(), "pond", data.Newest(2)); err != nil || !slices.Equal(got, []data.Observation{want[7], sample}) {
		t.Errorf("the history begins with %+v, %v, want the forecast and the sample", got, err)
	}
	if _, err := snapshot.Load(t.Context(), s, nil); err != nil {
		t.Errorf("Load = %v", err)
	}
}
