package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"limnomap/data"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openFile(tb testing.TB, path string, create bool) *sqlite {
	tb.Helper()
	s, err := Open(tb.Context(), path, create)
	if err != nil {
		tb.Fatalf("Open(%q): %v", path, err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return s.db.(*sqlite)
}

func TestSQLite(t *testing.T) {
	testStore(t, func(t *testing.T, now func() time.Time) *Store {
		s := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
		s.now = now
		return &s.Store
	})
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := filepath.Join(dir, "foreign.db")
	execSQL(t, foreign, "CREATE TABLE birds (name TEXT)")
	foreignID := filepath.Join(dir, "geopackage.db")
	execSQL(t, foreignID, "PRAGMA application_id = 0x47504b47")
	missing := filepath.Join(dir, "missing.db")
	cut := filepath.Join(dir, "cut.db")
	if s, err := Open(t.Context(), cut, true); err != nil || s.Close() != nil {
		t.Fatalf("no database to cut: %v", err)
	}
	if err := os.Truncate(cut, 4096); err != nil {
		t.Fatal(err)
	}

	for _, test := range []struct {
		name, dsn string
		create    bool
		is        error
		want      string
	}{
		{"no name", "", true, nil, "the name of the database is empty"},
		{"missing", missing, false, fs.ErrNotExist, "`limnomap import lakes FILE --db " + missing + "` makes one"},
		{"missing by URL", "file:" + missing, false, fs.ErrNotExist, missing},
		{"missing folder", filepath.Join(dir, "no", "lakes.db"), true, fs.ErrNotExist, "its folder"},
		{"folder", dir, true, nil, "this is a folder"},
		{"keywords", "host=localhost password=secret user=me", true, errors.ErrUnsupported, "PostgreSQL's keywords"},
		{"a keyword", "password = secret", false, errors.ErrUnsupported, "PostgreSQL's keywords"},
		{"mysql", "mysql://me:secret@db/lakes", true, errors.ErrUnsupported, "databases of type mysql:// are not supported"},
		{"memory", ":memory:", true, nil, "is not a file"},
		{"memory URL", "file::memory:", true, nil, "is not a file"},
		{"host", "file://elsewhere/lakes.db", true, nil, `host "elsewhere"`},
		{"parameter", "file:" + missing + "?_pragma=journal_mode(OFF)", true, nil, `parameter "_pragma"`},
		{"bad URL", "file:%zz", true, nil, "is invalid"},
		{"not SQLite", file("lakes.csv", strings.Repeat("id,name,lat,lon\n", 100)), true, nil, "not an SQLite database"},
		{"a few bytes", file("note.txt", "hello"), true, nil, "not an SQLite database"},
		{"cut short", cut, true, nil, "is damaged"},
		{"another program's tables", foreign, true, nil, "another program"},
		{"another program's mark", foreignID, true, nil, "another program"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := Open(t.Context(), test.dsn, test.create)
			if err == nil {
				s.Close()
				t.Fatal("Open succeeded")
			}
			if !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("Open = %v, want %q, %v", err, test.want, test.is)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("Open = %q, want one line", err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("Open repeats a password: %v", err)
			}
		})
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused Open left a file: %v", err)
	}
}

// execSQL runs statements on a database file without limnomap.
func execSQL(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range statements {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

func TestPathsWithSpecialCharacters(t *testing.T) {
	for _, name := range []string{"a b.db", "what?.db", "50%.db", "%41.db", "#1.db", "Müggelsee.db", "a&mode=ro.db"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			put(t, &openFile(t, path, true).Store, []data.Lake{testLake("a")}, nil)
			if _, err := os.Stat(path); err != nil {
				t.Error(err)
			}
			if _, lakes, _ := scan(t, &openFile(t, path, false).Store); len(lakes) != 1 {
				t.Errorf("opened again it has %d lakes, want 1", len(lakes))
			}
		})
	}
}

func TestRelativePathAndURL(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, &openFile(t, "lakes.db", true).Store, []data.Lake{testLake("a")}, nil)
	for _, dsn := range []string{"./lakes.db", "file:lakes.db", "file:lakes.db?nolock=0"} {
		if rev := revisionOf(t, &openFile(t, dsn, false).Store); rev.Number != 1 {
			t.Errorf("%s has revision %d, want 1", dsn, rev.Number)
		}
	}
}

func TestImportByAnotherHandleShows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	server := openFile(t, path, true)
	if rev := revisionOf(t, &server.Store); rev.Number != 0 {
		t.Fatalf("new revision = %d, want 0", rev.Number)
	}
	put(t, &openFile(t, path, false).Store, []data.Lake{testLake("a")}, nil)
	if rev, lakes, _ := scan(t, &server.Store); rev.Number != 1 || len(lakes) != 1 {
		t.Errorf("the first handle sees revision %d and %d lakes, want 1 and 1", rev.Number, len(lakes))
	}
}

// Several processes may start on a database that does not exist yet.
func TestConcurrentOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	var opened sync.WaitGroup
	for range 4 {
		opened.Go(func() {
			s, err := Open(t.Context(), path, true)
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	opened.Wait()
	if rev := revisionOf(t, &openFile(t, path, false).Store); rev.Number != 0 {
		t.Errorf("revision = %d, want 0", rev.Number)
	}
}

func TestReadersCannotWrite(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
	_, err := s.readers.Exec("DELETE FROM revision")
	if err == nil || !strings.Contains(s.wrap(err, "write").Error(), "no permission to write to") {
		t.Errorf("writing through a reader's connection = %v, want an error", err)
	}
}

func TestTwoImportersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	first, second := openFile(t, path, true), openFile(t, path, false)
	if _, err := second.writer.Exec("PRAGMA busy_timeout = 0"); err != nil { // on its only connection
		t.Fatal(err)
	}
	err := first.Import(t.Context(), func(tx Tx) error {
		return second.Import(t.Context(), func(Tx) error { return nil })
	})
	if err == nil || !strings.Contains(err.Error(), "another process is writing") || !strings.Contains(err.Error(), path) {
		t.Errorf("an import during another one = %v, want a word on that", err)
	}
	if _, err := first.Keys(t.Context()); err != nil {
		t.Errorf("Keys = %v", err)
	}
}

func TestCancelledReads(t *testing.T) {
	s := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
	put(t, &s.Store, []data.Lake{testLake("a")}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Scan(ctx, func(data.Lake) error { cancel(); return nil }, func(data.Observation) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Scan whose context ended = %v, want %v", err, context.Canceled)
	}
	if _, _, err := s.History(ctx, "a", data.Newest(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("History whose context ended = %v, want %v", err, context.Canceled)
	}
}

// The queries of many rows read ranges of the primary key, in which the rows are stored: they need neither sorting nor
// another index.
func TestQueryPlans(t *testing.T) {
	statements, _ := eventsQuery(data.EventQuery{Statements: true})
	s := openFile(t, filepath.Join(t.TempDir(), "lakes.db"), true)
	const lakes = "SCAN l USING COVERING INDEX sqlite_autoindex_lakes_1"
	for _, test := range []struct {
		name, query string
		parameters  int
		plan        []string
	}{
		{"history", historyQuery, 3, []string{"SEARCH o USING PRIMARY KEY (lake=? AND date>? AND date<?)"}},
		{"statements", forSQLite.Replace(statements), 3, []string{"SEARCH e USING INDEX events_statements (seq>? AND seq<?)", "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)"}},
		{"scan", scanQuery, 0, []string{lakes, "SEARCH o USING PRIMARY KEY (lake=?)"}},
		{"past", pastQuery, 2, []string{lakes, "SEARCH o USING PRIMARY KEY (lake=? AND date>? AND date<?)",
			"CORRELATED SCALAR SUBQUERY 1", "SEARCH b USING PRIMARY KEY (lake=? AND date<?)",
			"CORRELATED SCALAR SUBQUERY 2", "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)",
			"CORRELATED SCALAR SUBQUERY 3", "SEARCH b USING PRIMARY KEY (lake=? AND date<?)",
			"CORRELATED SCALAR SUBQUERY 4", "SEARCH b USING PRIMARY KEY (lake=? AND date<?)",
			"CORRELATED SCALAR SUBQUERY 5", "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)",
			"CORRELATED SCALAR SUBQUERY 6", "SEARCH b USING PRIMARY KEY (lake=? AND date<?)"}},
		{"spreads", forSQLite.Replace(spreadsQuery), 3, []string{"SEARCH p USING INDEX pixels_date (source=? AND date>? AND date<?)", "SEARCH l USING INTEGER PRIMARY KEY (rowid=?)",
			"SEARCH o USING PRIMARY KEY (lake=? AND date=? AND type=? AND source=?)"}},
		{"near samples", sqliteNearSamples, 1, []string{"SCAN s", "SEARCH o USING PRIMARY KEY (lake=?)",
			"CORRELATED SCALAR SUBQUERY 1", "SEARCH b USING PRIMARY KEY (lake=? AND date>? AND date<?)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows, err := s.readers.Query("EXPLAIN QUERY PLAN "+test.query, []any{1, 1, 1}[:test.parameters]...)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var plan []string
			for rows.Next() {
				var id, parent, unused int
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					t.Fatal(err)
				}
				plan = append(plan, detail)
			}
			if err := rows.Err(); err != nil || !slices.Equal(plan, test.plan) {
				t.Errorf("%s\nis planned as %q, %v, want %q", test.query, plan, err, test.plan)
			}
		})
	}
}

// A closed database is one file: its log has been copied into it.
func TestCloseLeavesOneFile(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), filepath.Join(dir, "lakes.db"), true)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, []data.Lake{testLake("a")}, nil)
	scan(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("Close left %v, %v, want only lakes.db", entries, err)
	}
}
