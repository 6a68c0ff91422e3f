package store

import (
	"database/sql"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/paulmach/orb"
	"github.com/pressly/goose/v3"

	"limnomap/data"
)

// oldDatabase makes a file as a limnomap that knew only the first migrations did, and fills it.
func oldDatabase(t *testing.T, migrationFiles []string, statements ...string) string {
	t.Helper()
	files := make(fstest.MapFS)
	for _, name := range migrationFiles {
		text, err := fs.ReadFile(migrations, "migrations/sqlite/"+name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	path := filepath.Join(t.TempDir(), "old.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return path
}

func TestVersion1GainsOutlines(t *testing.T) {
	path := oldDatabase(t, []string{"0001_initial.sql"},
		`INSERT INTO lakes (key, id, external_id, name, lon, lat, region, area_km2) VALUES (7, 'a', 'x-a', 'See a', 11.3, 47.9, 'Bayern', 56.36)`,
		`INSERT INTO observations (lake, date, type, chl) VALUES (7, 9, 0, 500)`)
	lake := testLake("a")
	observation := testObservation("a", 9, data.Satellite, 500)

	s := openFile(t, path, false)
	for range 2 { // as it was, and then with an outline
		_, lakes, observations := scan(t, s)
		if !slices.Equal(lakes, []data.Lake{lake}) || !slices.Equal(observations, []data.Observation{observation}) {
			t.Errorf("the database holds %+v, %+v, want %+v, %+v", lakes, observations, lake, observation)
		}
		lake.Outline = testOutline(t)
		put(t, s, []data.Lake{lake}, nil)
	}
	if _, lakes, _ := scan(t, openFile(t, path, false)); !slices.Equal(lakes, []data.Lake{lake}) {
		t.Errorf("opened again it holds %+v, want %+v", lakes, lake)
	}
}

func schemaVersion(t *testing.T, path string) (version int64) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT max(version_id) FROM goose_db_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return version
}

// What is stored is an outline's bytes, which may hold any byte, zero among them.
func TestOutlineIsStoredAsBytes(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
	lake := testLake("a")
	var err error
	if lake.Outline, err = data.NewOutline(orb.MultiPolygon{{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}}); err != nil {
		t.Fatal(err)
	}
	put(t, s, []data.Lake{lake, testLake("b")}, nil)
	var kind, none string
	var size int
	err = s.readers.QueryRowContext(t.Context(), `SELECT typeof(a.outline), length(a.outline), typeof(b.outline)
		FROM lakes AS a, lakes AS b WHERE a.id = 'a' AND b.id = 'b'`).Scan(&kind, &size, &none)
	if err != nil || kind != "blob" || size != len(lake.Outline) || none != "blob" {
		t.Errorf("stored are a %s of %d bytes and a %s, %v, want blobs, the first of %d bytes", kind, size, none, err, len(lake.Outline))
	}
	got, _, err := s.History(t.Context(), "a", data.Newest(1))
	if err != nil || got != lake {
		t.Errorf("History gives %+v, %v, want %+v", got, err, lake)
	}
}
