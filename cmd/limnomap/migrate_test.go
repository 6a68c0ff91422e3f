package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"

	"limnomap/cmd/limnomap/config"
	"limnomap/cmd/limnomap/limnomaptest"
)

const newestSchema = 24

// oldDatabase returns the path of a database of version 0.1.0, which was made by that version, in a folder of its own; brought to a later
// version of the schema, if that is not 0.
func oldDatabase(t *testing.T, schema int64) string {
	t.Helper()
	compressed, err := os.Open("../../data/store/testdata/v0.1.0.db.gz")
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
	if schema == 0 {
		return path
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectSQLite3, db, os.DirFS("../../data/store/migrations/sqlite"), goose.WithDisableGlobalRegistry(true))
	if err == nil {
		_, err = p.UpTo(t.Context(), schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func schemaOf(t *testing.T, path string) (version int64) {
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

func hashOf(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// olderSchemas are those of version 0.1.0 and of commit e9a6240.
var olderSchemas = map[int64]int64{4: 0, 12: 12}

// Commands that read, and dry runs, leave a database of an older version as it is, and so do those that write with --migrate never.
func TestReadingMigratesNothing(t *testing.T) {
	dir := t.TempDir()
	in := limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon\none,One,50,10\n")
	commands := readingCommands(in, func(name string) string { return filepath.Join(t.TempDir(), name) })
	for _, writing := range writingCommands(in, dir) {
		if writing[0] != "migrate" {
			commands = append(commands, append(slices.Clone(writing), "--migrate", "never"))
		}
	}
	for version, schema := range olderSchemas {
		db := oldDatabase(t, schema)
		before := hashOf(t, db)
		for _, args := range commands {
			stdout, _, err := runCommand(t, append(slices.Clone(args), "--db", db)...)
			switch {
			case args[0] == "migrate":
				if want := fmt.Sprintf("from version %d to %d, after a copy", version, newestSchema); err != nil || !strings.Contains(stdout, want) {
					t.Errorf("%v: %q, %v, want %q", args, stdout, err, want)
				}
			case args[0] == "backup":
				if err != nil || schemaOf(t, args[1]) != version {
					t.Errorf("%v: %v, want a copy with the schema %d", args, err, version)
				}
				if err := os.Remove(args[1]); err != nil {
					t.Fatal(err)
				}
			case err == nil || !strings.Contains(err.Error(), "limnomap migrate") || !strings.Contains(err.Error(), fmt.Sprintf("version %d, want %d", version, newestSchema)):
				t.Errorf("%v = %v, want a refusal that names both versions and limnomap migrate", args, err)
			}
			if hashOf(t, db) != before {
				t.Fatalf("%v changed a database of the schema %d", args, version)
			}
			if files := filesIn(t, filepath.Dir(db)); len(files) != 1 {
				t.Errorf("%v left %q beside the database", args, files)
			}
		}
	}
}

// readingCommands are those that only read a database, and all dry runs; out names new files.
func readingCommands(in string, out func(name string) string) [][]string {
	return [][]string{
		{"keys", "list"}, {"hooks", "list"}, {"hooks", "deliveries", "x"}, {"hooks", "test", "x"},
		{"export", "lakes", "-"}, {"export", "observations", out("o.csv")}, {"export", "advisories", "-"}, {"export", "map", out("map.pmtiles"), "--zoom", "0"}, {"export", "map", out("dry.pmtiles"), "--zoom", "0", "--dry-run"},
		{"warm", "--zoom", "0", "--cache-dir", out("cache")}, {"warm", "--zoom", "0", "--dry-run", "--cache-dir", out("cache")},
		{"forecast", "--test"}, {"forecast", "--dry-run"}, {"accuracy"}, {"plan"}, {"imports", "list"}, {"imports", "undo", "--dry-run"},
		{"import", "lakes", in, "--dry-run"}, {"import", "observations", in, "--dry-run"}, {"import", "advisories", in, "--dry-run"},
		{"import", "rasters", in, "--dry-run"}, {"import", "rasters", in, "--csv", "-"},
		{"close", "one", "--until", "unknown", "--cause", "cyanobacteria", "--issuer", "Office", "--dry-run"}, {"reopen", "one", "--dry-run"},
		{"delete", "lake", "one", "--dry-run"}, {"delete", "observations", "--lake", "one", "--dry-run"}, {"delete", "source", "x", "--dry-run"},
		{"migrate", "--dry-run"}, {"backup", out("copy.db")},
	}
}

// Each command that can have a database is tested with older ones.
func TestEachCommandMeetsOlderDatabases(t *testing.T) {
	tested := make(map[string]bool)
	for _, args := range slices.Concat(readingCommands("", func(name string) string { return name }), writingCommands("", "")) {
		tested[args[0]] = true
		tested[strings.Join(args[:min(2, len(args))], " ")] = true
	}
	dry := make(map[string]bool)
	for _, args := range readingCommands("", func(name string) string { return name }) {
		if slices.Contains(args, "--dry-run") {
			dry[args[0]], dry[args[0]+" "+args[1]] = true, true
		}
	}
	count := 0
	for _, leaf := range modelOf(t).Leaves(false) {
		name := config.CommandName(leaf)
		has := func(flag string) bool {
			return slices.ContainsFunc(leaf.Flags, func(f *kong.Flag) bool { return f.Name == flag })
		}
		if !has("db") {
			continue
		}
		if count++; !tested[name] {
			t.Errorf("limnomap %s is neither in readingCommands nor in writingCommands", name)
		}
		if has("dry-run") && !dry[name] {
			t.Errorf("limnomap %s --dry-run is not in readingCommands", name)
		}
	}
	if count < 30 {
		t.Errorf("%d commands have a database, want more", count)
	}
}

// writingCommands are those that write to a database, and so migrate it.
func writingCommands(in, source string) [][]string {
	return [][]string{
		{"migrate"}, {"keys", "create", "--name", "two"}, {"keys", "rotate", "one"}, {"keys", "revoke", "one"},
		{"hooks", "create", "--url", "https://example.org/hook"}, {"hooks", "set", "x", "--state", "paused"}, {"hooks", "rotate", "x"}, {"hooks", "delete", "x"},
		{"import", "lakes", in}, {"import", "observations", in}, {"import", "advisories", in}, {"import", "rasters", in},
		{"close", "one", "--until", "unknown", "--cause", "cyanobacteria", "--issuer", "Office"}, {"reopen", "one"}, {"imports", "undo"},
		{"delete", "lake", "one"}, {"delete", "observations", "--lake", "one"}, {"delete", "source", "x"},
		{"refresh", "--from", source}, {"forecast"}, {"serve"},
	}
}

// Commands that write migrate such a database, say so in one line, and keep a copy by which one goes back.
func TestWritingMigratesWithACopy(t *testing.T) {
	dir := t.TempDir()
	in := limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon\none,One,50,10\n")
	for version, schema := range olderSchemas {
		pristine := oldDatabase(t, schema)
		for _, args := range writingCommands(in, dir) {
			db := filepath.Join(t.TempDir(), "lakes.db")
			content, err := os.ReadFile(pristine)
			if err == nil {
				err = os.WriteFile(db, content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			log := ""
			if args[0] == "serve" {
				t.Run("serve", func(t *testing.T) {
					_, text := startServer(t, "--db", db)
					log = text.String()
				})
			} else {
				// Some fail afterwards: the files and the names are not those that they need.
				_, log, _ = runCommand(t, append(slices.Clone(args), "--db", db)...)
			}
			line := fmt.Sprintf("from_schema=%d to_schema=%d copy=%s.schema-%d.", version, newestSchema, db, version)
			if strings.Count(log, "migrating the database") != 1 || !strings.Contains(log, line) {
				t.Errorf("%v logged %s, want one line with %s", args, log, line)
			}
			if got := schemaOf(t, db); got != newestSchema {
				t.Errorf("%v: the schema is %d, want %d", args, got, newestSchema)
			}
			copies, err := filepath.Glob(db + ".schema-*")
			if err != nil || len(copies) != 1 {
				t.Fatalf("%v left the copies %q, %v, want one", args, copies, err)
			}
			for _, end := range []string{"-wal", "-shm"} {
				_ = os.Remove(db + end)
			}
			if err := os.Rename(copies[0], db); err != nil {
				t.Fatal(err)
			}
			if got := schemaOf(t, db); got != version {
				t.Errorf("%v: the copy has the schema %d, want %d", args, got, version)
			}
			const header = 100 // with counters of SQLite, which a copy raises
			if restored, err := os.ReadFile(db); err != nil || !bytes.Equal(restored[header:], content[header:]) {
				t.Errorf("%v: the copy is not the database of before, %v", args, err)
			}
		}
	}
}

// --migrate now and migrate --without-copy keep no copy. A second migration has nothing to do.
func TestMigrateWithoutCopy(t *testing.T) {
	for _, args := range [][]string{{"migrate", "--without-copy"}, {"keys", "create", "--name", "two", "--migrate", "now"}} {
		db := oldDatabase(t, 0)
		args = append(args, "--db", db)
		mustRun(t, args...)
		if files := filesIn(t, filepath.Dir(db)); len(files) != 1 || schemaOf(t, db) != newestSchema {
			t.Errorf("%v left %q", args, files)
		}
		if out := mustRun(t, "migrate", "--db", db); !strings.Contains(out, "up to date") {
			t.Errorf("migrate again says %q", out)
		}
	}
}

// Where no copy can be kept, nothing is migrated.
func TestNoMigrationWithoutItsCopy(t *testing.T) {
	db := oldDatabase(t, 0)
	before := hashOf(t, db)
	upgrade := (&migrateFlag{migrateCopy}).upgrade(filepath.Join(filepath.Dir(db), "missing.db"), slog.New(slog.DiscardHandler))
	if err := upgrade(t.Context(), 4, newestSchema); err == nil || !strings.Contains(err.Error(), "--migrate now") {
		t.Errorf("without a file to copy: %v", err)
	}
	if hashOf(t, db) != before {
		t.Error("the database was changed")
	}
}

// The tables of PostgreSQL are migrated by commands that write only, and the log says that there is no copy.
func TestPostgresIsMigratedByWritingOnly(t *testing.T) {
	dsn := newPostgres(t)
	dump, err := os.ReadFile("../../data/store/testdata/v0.1.0.sql")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), string(dump)); err != nil {
		t.Fatal(err)
	}
	version := func() (v int64) {
		if err := conn.QueryRow(t.Context(), "SELECT max(version_id) FROM limnomap.goose_db_version").Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	before := version()
	for _, args := range [][]string{{"keys", "list"}, {"export", "lakes", "-"}, {"warm", "--zoom", "0", "--dry-run"}, {"keys", "revoke", "one", "--migrate", "never"}, {"migrate", "--dry-run"}} {
		_, _, err := runCommand(t, append(args, "--db", dsn)...)
		if args[0] != "migrate" && (err == nil || !strings.Contains(err.Error(), "limnomap migrate")) || args[0] == "migrate" && err != nil {
			t.Errorf("%v = %v", args, err)
		}
		if version() != before {
			t.Fatalf("%v migrated the database", args)
		}
	}
	_, log, err := runCommand(t, "keys", "create", "--name", "two", "--db", dsn)
	if err != nil || !strings.Contains(log, "copies of PostgreSQL are made with pg_dump") || version() == before {
		t.Errorf("keys create = %v with the schema %d and the log %s", err, version(), log)
	}
}
