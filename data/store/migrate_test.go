package store

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"limnomap/data"
)

// migrationFiles returns the first n migrations of SQLite, as in an older limnomap, or all of them if n is 0.
func migrationFiles(t *testing.T, n int) fstest.MapFS {
	t.Helper()
	return migrationsOf(t, migrations, "sqlite", n)
}

func migrationsOf(t *testing.T, all fs.FS, database string, n int) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(all, "migrations/"+database+"/*.sql") // in ascending order
	if err != nil || len(names) < 3 || n > len(names) {
		t.Fatalf("the migrations are %q, %v", names, err)
	}
	if n == 0 {
		n = len(names)
	}
	files := make(fstest.MapFS)
	for _, name := range names[:n] {
		text, err := fs.ReadFile(all, name)
		if err != nil {
			t.Fatal(err)
		}
		files[path.Base(name)] = &fstest.MapFile{Data: text}
	}
	return files
}

// withDB opens a database file without limnomap.
func withDB(t *testing.T, path string, fn func(*sql.DB) error) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := fn(db); err != nil {
		t.Fatal(err)
	}
}

// oldDatabase creates and fills a file like a limnomap that knows only the first migrations.
func oldDatabase(t *testing.T, version int, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.db")
	withDB(t, path, func(db *sql.DB) error {
		if err := migrateOnce(t.Context(), db, migrationFiles(t, version)); err != nil {
			return err
		}
		for _, s := range statements {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
	return path
}

func schemaVersion(t *testing.T, path string) (version int) {
	t.Helper()
	withDB(t, path, func(db *sql.DB) error {
		return db.QueryRow("SELECT max(version_id) FROM goose_db_version").Scan(&version)
	})
	return version
}

// schemaOf describes the tables of a database by their columns, since the SQL text of a table depends on whether a migration
// created or changed it.
func schemaOf(t *testing.T, path string) (schema []string) {
	t.Helper()
	withDB(t, path, func(db *sql.DB) error {
		schema = queryTexts(t, db, `SELECT m.type || ' ' || m.name || ': ' || coalesce(group_concat(format('%s %s %d %d %s', c.name, c.type, c."notnull", c.pk, c.dflt_value), ', '), '')
			FROM sqlite_schema AS m LEFT JOIN pragma_table_info(m.name) AS c GROUP BY m.type, m.name ORDER BY 1`)
		return nil
	})
	return schema
}

// The database of each version, filled by that version, keeps its content, ends with the schema of a new database, and can
// be written to.
func TestEveryVersionIsMigrated(t *testing.T) {
	outline := testOutline(t)
	// What each version can hold beyond the versions before. A new migration adds its rows.
	holds := []struct {
		statement string
		args      []any
	}{
		{`INSERT INTO lakes (key, id, external_id, name, lon, lat, region, area_km2) VALUES (7, 'a', 'x-a', 'See a', 11.3, 47.9, 'Bayern', 56.36);
			INSERT INTO observations (lake, date, type, chl, level, density, measured_at) VALUES (7, 9, 0, 500, 3, 0.5, 777601), (7, 9, 1, NULL, NULL, NULL, NULL);
			INSERT INTO api_keys (name, hash, created_at, revoked_at) VALUES ('one', zeroblob(32), 1, 2);
			UPDATE revision SET number = 41, changed_at = 5`, nil},
		{`UPDATE lakes SET outline = ?`, []any{[]byte(outline)}},
		{`UPDATE refresh SET turn = 3, failures = 2, error = 'no answer'`, nil},
		{`UPDATE api_keys SET scopes = 'metrics', used_at = 9`, nil},
		{`INSERT INTO advisories (id, lake, kind, cause, issuer, text_en, text_de, url, issued, valid_from) VALUES ('s', 7, 4, 1, 'Amt', '', '', '', 1, 2)`, nil},
		{`INSERT INTO sources (key, name) VALUES (1, 'Labor'); INSERT INTO observations (lake, date, type, source, chl) VALUES (7, 10, 2, 1, 700)`, nil},
		{`INSERT INTO preferred_sources (rank, name) VALUES (2, 'Lab'), (1, 'Labor')`, nil},
		{`INSERT INTO rasters (key, name, stamp, error, failures, tried_at, product, version, date, lakes, gaps, written, bytes)
			VALUES ('k', 'x.nc', '1', '', 0, 9, 'P', 'V', 8, 7, 6, 5, 4)`, nil},
		{`INSERT INTO forecast_issues (issued, model, weeks, input, lakes, rows, few_values, old_value, out_of_season) VALUES (9, 'm', 4, 41, 1, 1, 0, 0, 0);
			INSERT INTO forecasts (issued, lake, based_on, input, withheld, chl1, sigma1) VALUES (9, 7, 9, 5, 0, 50000, 7000)`, nil},
		{`INSERT INTO event_moments (number, revision, changed_at, forecasts, settings, snapshot, at, last_seq, measured, blocks, changes_since)
			VALUES (3, 41, 5, 0, 'all', 'v', 6, 1, 1, 2, 1);
			INSERT INTO events (seq, id, moment, lake, kind, chl_before, level_before, measured_before) VALUES (1, zeroblob(16), 3, 'a', 4, 500, 0, 5)`, nil},
		{`INSERT INTO hooks (id, url, filter, secret, former, created_at, state, after_seq, failures, error, holder)
			VALUES ('h', 'https://example.org/', '{"lakes":["a"]}', 's', '', 4, 'paused', 1, 2, 'no', '')`, nil},
		{`INSERT INTO push_subscriptions (id, endpoint, p256dh, auth, threshold, daily, zone, renewed_at) VALUES ('p', 'https://example.org/', 'k', 'a', 'high', 1, 'UTC', 9);
			INSERT INTO push_lakes (lake, subscription) VALUES ('a', 'p'); INSERT INTO push_queue (subscription, seq, due_at) VALUES ('p', 1, 5)`, nil},
		{`UPDATE forecast_issues SET last_value_better = 2`, nil},
		{`UPDATE push_subscriptions SET client = 'c', lakes = 1, told = 1, ready_at = 5; UPDATE push_state SET after_seq = 1, urgent_seq = 1`, nil},
		{`UPDATE clock SET believed_at = 7`, nil},
		{`UPDATE hooks SET statement_seq = 1, statement_failures = 2, statement_error = 'no'`, nil},
		{`UPDATE revision SET statements = 3, others_at = 4`, nil},
		{`UPDATE event_moments SET statements_of = 42`, nil},
		{`INSERT INTO imports (number, at, author, files, about, added, changed, unchanged, refused) VALUES (1, 2, 'me', '[]', '["lakes"]', 3, 4, 5, 6);
			INSERT INTO import_parts (import, part, content) VALUES (1, 0, x'01')`, nil},
		{`INSERT INTO pixel_masks (lake, digest, grid, mask) VALUES (7, zeroblob(16), 'g', x'01');
			INSERT INTO pixels (lake, date, source, mask, codes) VALUES (7, 10, 0, zeroblob(16), x'02')`, nil},
		{`UPDATE pixels SET digest = 3`, nil},
		{`UPDATE pixels SET spread = x'0A'`, nil},
		{`UPDATE lakes SET water_id = 'w'`, nil},
		{`UPDATE pixels SET codes = x'03'`, nil}, // only other indexes
	}
	newest := filepath.Join(t.TempDir(), "new.db")
	openFile(t, newest, true)
	versions := len(migrationFiles(t, 0))
	if versions != len(holds) {
		t.Fatalf("there are %d migrations, and %d of them are tested", versions, len(holds))
	}
	for version := 1; version <= versions; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := oldDatabase(t, version)
			var queries, before []string
			withDB(t, path, func(db *sql.DB) error {
				fill := strings.NewReplacer()
				if version >= 6 { // then a row of the first version has a source too, which has no name
					fill = strings.NewReplacer("type, chl, level", "type, source, chl, level", "(7, 9, 0,", "(7, 9, 0, 0,", "(7, 9, 1,", "(7, 9, 1, 0,")
				}
				for _, h := range holds[:version] {
					if _, err := db.Exec(fill.Replace(h.statement), h.args...); err != nil {
						return fmt.Errorf("%s: %w", h.statement, err)
					}
				}
				queries = queryTexts(t, db, allColumns)
				for _, query := range queries {
					before = append(before, queryTexts(t, db, query)...)
				}
				return nil
			})
			s := openFile(t, path, false)
			withDB(t, path, func(db *sql.DB) error {
				var after []string
				for _, query := range queries {
					after = append(after, queryTexts(t, db, query)...)
				}
				if !slices.Equal(after, before) {
					t.Errorf("the database holds\n%s\nwant as before\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
				}
				return nil
			})
			if got := schemaVersion(t, path); got != versions {
				t.Errorf("the schema is of version %d, want %d", got, versions)
			}
			if got, want := schemaOf(t, path), schemaOf(t, newest); !slices.Equal(got, want) {
				t.Errorf("the schema is\n%s\nwant that of a new database\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			lake, seen := testLake("a"), testObservation("a", 9, data.Satellite, 600)
			lake.Name = "Neuer See"
			if ofLakes, ofObservations := put(t, &s.Store, []data.Lake{lake}, []data.Observation{seen}); ofLakes[0] != Changed || ofObservations[0] != Changed {
				t.Errorf("an import made %v and %v of them, want changed", ofLakes, ofObservations)
			}
			if rev := revisionOf(t, &openFile(t, path, false).Store); rev.Number != 42 {
				t.Errorf("opened again it is at revision %v, want 42", rev)
			}
		})
	}
}

// allColumns selects a query for each table, but for those of goose, that returns its rows as texts.
const allColumns = `SELECT format('SELECT ''%s: '' || concat_ws('', '', %s) FROM %s ORDER BY 1', m.name, group_concat(format('quote(%s)', c.name), ', '), m.name)
	FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%' GROUP BY m.name`

// queryTexts returns the rows of a query of texts.
func queryTexts(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// A limnomap with fewer migrations rejects the database, names the versions, and changes nothing.
func TestNewerSchemaIsRefused(t *testing.T) {
	versions := len(migrationFiles(t, 0))
	path := filepath.Join(t.TempDir(), "lakes.db")
	newFile(t, path, "a")
	execSQL(t, path, fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, 1)", versions+1))
	before := readFile(t, path)
	for _, create := range []bool{false, true} {
		s, err := Open(t.Context(), path, create)
		if err == nil {
			s.Close()
		}
		want := fmt.Sprintf("database %s: its schema is version %d and this limnomap knows only up to %d: use a newer limnomap", path, versions+1, versions)
		if err == nil || err.Error() != want {
			t.Errorf("Open = %v, want %s", err, want)
		}
	}
	if !bytes.Equal(readFile(t, path), before) {
		t.Error("a refused database was changed")
	}
}
