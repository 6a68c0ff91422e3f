package store

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
)

// someYears is more observations than one step of a backup copies.
func someYears(lake data.LakeID, c data.Chlorophyll) []data.Observation {
	var observations []data.Observation
	for day := range data.Date(30_000) {
		observations = append(observations, testObservation(lake, day, data.Satellite, c))
	}
	return observations
}

// yearsOf creates a database of one lake with some years of one value.
func yearsOf(t *testing.T, path string, c data.Chlorophyll) *sqlite {
	t.Helper()
	s := openFile(t, path, true)
	put(t, &s.Store, []data.Lake{testLake("a")}, someYears("a", c))
	return s
}

// wantYears checks that a copy holds one state only: the value that the revision's import wrote, in all rows.
func wantYears(t *testing.T, path string, revision data.Revision, value func(revision int64) data.Chlorophyll) {
	t.Helper()
	rev, lakes, observations := scan(t, &openFile(t, path, false).Store)
	if rev.Number != revision.Number || !rev.ChangedAt.Equal(revision.ChangedAt) {
		t.Errorf("the copy is of revision %v, want %v", rev, revision)
	}
	if len(lakes) != 1 || lakes[0] != testLake("a") || !slices.Equal(observations, someYears("a", value(rev.Number))) {
		t.Errorf("the copy of revision %d holds %d lakes and %d observations, want the state after import %d",
			rev.Number, len(lakes), len(observations), rev.Number)
	}
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}

// A backup during which an import is committed has the state before it. Neither waits for the other: all of it happens on
// one goroutine.
func TestBackupAcrossAnImport(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	path, copied := filepath.Join(dir, "what? 50%.db"), filepath.Join(out, "what? 50%.db")
	s := yearsOf(t, path, 1)
	before := revisionOf(t, &s.Store)
	var steps []int64
	revision, err := Backup(t.Context(), path, copied, &BackupOptions{Progress: func(done, total int64) {
		if done <= 0 || done > total || len(steps) > 0 && done <= steps[len(steps)-1] {
			t.Errorf("progress %d of %d after %v", done, total, steps)
		}
		if steps = append(steps, done); len(steps) == 1 {
			put(t, &s.Store, nil, someYears("a", 2))
			if _, _, observations := scan(t, &s.Store); observations[0].Chlorophyll != 2 {
				t.Errorf("a scan during the backup does not show the import: %v", observations[0])
			}
		}
	}})
	if err != nil || !revision.Equal(before) {
		t.Fatalf("Backup = %v, %v, want revision %v", revision, err, before)
	}
	if len(steps) < 2 {
		t.Fatalf("the copy was made in %d steps: the import did not come in the middle", len(steps))
	}
	wantFiles(t, out, "what? 50%.db")
	wantYears(t, copied, revision, func(int64) data.Chlorophyll { return 1 })
	if after := revisionOf(t, &s.Store); after.Number != before.Number+1 {
		t.Errorf("the database is at revision %d, want %d", after.Number, before.Number+1)
	}
}

// backupEnv names the database for the process that TestKilledBackup starts and kills.
const backupEnv = "LIMNOMAP_TEST_BACKUP_DB"

func TestKilledBackup(t *testing.T) {
	if path := os.Getenv(backupEnv); path != "" {
		revision, err := Backup(t.Context(), path, path+".copy", &BackupOptions{Progress: func(done, total int64) {
			io.WriteString(os.Stdout, "in the middle\n")
			io.Copy(io.Discard, os.Stdin)
		}})
		t.Errorf("the backup was not killed: %v, %v", revision, err)
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "lakes.db")
	s := yearsOf(t, path, 1)
	killInTheMiddle(t, backupEnv, path, func() {
		put(t, &s.Store, nil, someYears("a", 2)) // others can still write
	})
	if _, err := os.Stat(path + ".copy"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a killed backup left its file: %v", err)
	}
	revision, err := Backup(t.Context(), path, path+".copy", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantYears(t, path+".copy", revision, func(int64) data.Chlorophyll { return 2 })
}

func TestBackupRefuses(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	newFile(t, at("lakes.db"), "a")
	newFile(t, at("damaged.db"), "a")
	damageTable(t, at("damaged.db"), "observations")
	execSQL(t, at("birds.db"), "CREATE TABLE birds (name TEXT)")
	for name, text := range map[string]string{
		"there.db": "precious", "taken.db-wal": "precious", "text.db": strings.Repeat("id,name,lat,lon\n", 100), "empty.db": "",
	} {
		writeOver(t, at(name), []byte(text))
	}
	if err := os.Symlink("lakes.db", at("link.db")); err != nil {
		t.Fatal(err)
	}
	before := listed(t, dir)
	for _, test := range []struct {
		name, db, file string
		overwrite      bool
		is             error
		want           string
	}{
		{"a file that is there", at("lakes.db"), at("there.db"), false, fs.ErrExist, "there.db: file already exists: want another name"},
		{"the database itself", at("lakes.db"), at("lakes.db"), true, nil, "it is the database itself"},
		{"by another name", at("lakes.db"), at("link.db"), true, nil, "it is the database itself"},
		{"a folder", at("lakes.db"), dir, true, nil, "not a regular file"},
		{"in no folder", at("lakes.db"), at("no/copy.db"), false, fs.ErrNotExist, "no/copy.db"},
		{"a log's name", at("lakes.db"), at("lakes.db-wal"), false, nil, "want another name"},
		{"a journal's name", at("lakes.db"), at("lakes.db-journal"), false, nil, "want another name"},
		{"a log of that name", at("lakes.db"), at("taken.db"), false, nil, "would use the file taken.db-wal as a part of the copy"},
		{"no database", at("missing.db"), at("copy.db"), false, fs.ErrNotExist, "missing.db"},
		{"a folder of databases", dir, at("copy.db"), false, nil, "this is a folder"},
		{"no name of a database", "", at("copy.db"), false, nil, "the name of the database is empty"},
		{"another program's", at("birds.db"), at("copy.db"), false, nil, "another program"},
		{"no database but text", at("text.db"), at("copy.db"), false, nil, "not an SQLite database"},
		{"an empty file", at("empty.db"), at("copy.db"), false, nil, "emptied or overwritten"},
		{"a damaged one", at("damaged.db"), at("copy.db"), false, nil, "not sound, so the database may be damaged"},
		{"PostgreSQL", "postgres://me:secret@db/lakes", at("copy.db"), false, errors.ErrUnsupported, "pg_dump"},
		{"PostgreSQL too", "postgresql://me:secret@db/lakes", at("copy.db"), false, errors.ErrUnsupported, "pg_dump"},
	} {
		t.Run(test.name, func(t *testing.T) {
			revision, err := Backup(t.Context(), test.db, test.file, &BackupOptions{Overwrite: test.overwrite})
			if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("Backup = %v, %v, want %q, %v", revision, err, test.want, test.is)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret")) {
				t.Errorf("Backup = %q, want one line without a password", err)
			}
			if after := listed(t, dir); !slices.Equal(after, before) {
				t.Errorf("there is %q, want as before %q", after, before)
			}
		})
	}
}

// damageTable writes zeros over the first page of a table, which only a query of its rows reads.
func damageTable(t *testing.T, path, table string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var page, size int
	err = errors.Join(
		db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", table).Scan(&page),
		db.QueryRow("PRAGMA page_size").Scan(&size),
		db.Close())
	if err != nil {
		t.Fatal(err)
	}
	content := readFile(t, path)
	clear(content[(page-1)*size : page*size])
	writeOver(t, path, content)
}

// listed returns the names and contents of the files in a folder.
func listed(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name(), string(readFile(t, filepath.Join(dir, e.Name()))))
	}
	return list
}

func TestBackupReplaces(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "lakes.db"), filepath.Join(dir, "copy.db")
	s := yearsOf(t, path, 1)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	writeOver(t, copied, []byte("the last one"))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Backup(ctx, path, copied, &BackupOptions{Overwrite: true, Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) || string(readFile(t, copied)) != "the last one" {
		t.Errorf("Backup whose context ended = %v, want %v and the former file", err, context.Canceled)
	}
	wantFiles(t, dir, "copy.db", "lakes.db", "lakes.db-shm", "lakes.db-wal")
	revision, err := Backup(t.Context(), path, copied, &BackupOptions{Overwrite: true})
	if err != nil || revision.Number != 1 {
		t.Errorf("Backup = %v, %v, want revision 1", revision, err)
	}
	if info, err := os.Stat(copied); err != nil || info.Mode() != 0o640 {
		t.Errorf("the copy is %v, %v, want the database's permissions", info.Mode(), err)
	}
	// The copy is a normal database: it can be written to, and renamed over one that is in use.
	second := openFile(t, copied, false)
	put(t, &second.Store, nil, someYears("a", 2))
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	rename(t, copied, path)
	if rev := revisionOf(t, &s.Store); rev.Number != 2 {
		t.Errorf("moved over the database, the copy is of revision %v, want 2", rev)
	}
}

// A backup is made before a new limnomap is tried, so it must keep the old schema.
func TestBackupMigratesNothing(t *testing.T) {
	path := oldDatabase(t, 1)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if _, err := Backup(t.Context(), path, copied, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, copied} {
		if got := schemaVersion(t, name); got != 1 {
			t.Errorf("%s has schema version %d, want 1", filepath.Base(name), got)
		}
	}
}
