package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
	"limnomap/data/apikey"
	"limnomap/data/snapshot"
	"limnomap/data/testsize"
)

// A hostileChange is made without limnomap, by someone who may write to its tables: table.column = value of the one row that hostileRows names, or
// some statements.
type hostileChange struct {
	name, column, value string
	want                string // in the error
	do, undo            []string
	most                uint64 // how many bytes may be allocated; 0: 4 MiB
}

// hostileRows are the tables of which one row is changed, and which one.
var hostileRows = map[string]string{"lakes": "key = 1", "observations": "lake = 1", "advisories": "1 = 1", "api_keys": "1 = 1", "revision": "1 = 1",
	"events": "1 = 1", "event_moments": "1 = 1"}

// fillHostile stores the rows that are changed.
func fillHostile(t *testing.T, s *Store) {
	t.Helper()
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, []data.Observation{
		testObservation("a", 20000, data.Satellite, 500), testObservation("b", 20000, data.Satellite, 500)})
	putStatements(t, s, AdvisoryColumns{}, testAdvisory("s", "a"))
	putMoment(t, s, noon, testEvent(1, "a", data.AdvisoryIssued))
	if err := s.CreateKey(t.Context(), apikey.Key{Name: "one", Scopes: apikey.ScopeMonitor, CreatedAt: noon}); err != nil {
		t.Fatal(err)
	}
}

// readAll reads all data, as a server does.
func readAll(t *testing.T, s *Store) error {
	if _, err := s.Keys(t.Context()); err != nil {
		return err
	}
	if _, err := s.Events(t.Context(), data.EventQuery{}); err != nil {
		return err
	}
	_, err := snapshot.Load(t.Context(), s, nil)
	return err
}

// testHostile makes each change, and wants an error that says what is wrong and little memory, and all well again afterwards. reopen returns a
// store whose connections have not prepared their queries for the tables as they were.
func testHostile(t *testing.T, s *Store, reopen func() *Store, exec func(...string), changes []hostileChange) {
	for table, row := range hostileRows {
		exec(fmt.Sprintf("CREATE TABLE limnomap.kept_%s AS SELECT * FROM limnomap.%[1]s WHERE %s", table, row))
	}
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			s := s
			if c.do != nil {
				s = reopen()
			}
			if table, column, ok := strings.Cut(c.column, "."); ok {
				set := "UPDATE limnomap." + table + " SET " + column + " = %s WHERE " + hostileRows[table]
				c.do, c.undo = []string{fmt.Sprintf(set, c.value)}, []string{fmt.Sprintf(set, "(SELECT "+column+" FROM limnomap.kept_"+table+")")}
			}
			exec(c.do...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := readAll(t, s)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			} else if n := len(err.Error()); n > 3*maxErrorText {
				t.Errorf("an error of %d bytes: %.200s", n, err)
			}
			most := cmp.Or(c.most, 4<<20) // the rows take some kilobytes; a refused value has 10 MB and more
			if testsize.Race {
				most *= 2 // pools keep nothing
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > most {
				t.Errorf("%d bytes were allocated, want at most %d", took, most)
			}
			exec(c.undo...)
		})
	}
	if err := readAll(t, reopen()); err != nil {
		t.Errorf("after the changes were undone: %v", err)
	}
}

// hostileChanges are changes in both databases, with a text of 10 MB, an infinite number, and the text of bytes given in hexadecimal digits.
func hostileChanges(long, infinite string, bytes func(digits string) string) []hostileChange {
	return []hostileChange{
		{name: "name of 10 MB", column: "lakes.name", value: long, want: "name is missing, or longer than 1024 bytes"},
		{name: "name of 300 characters", column: "lakes.name", value: "substr(" + long + ", 1, 300)", want: "has 300 characters"},
		{name: "id of 10 MB", column: "lakes.id", value: long, want: "number 1: "},
		{name: "id with slashes", column: "lakes.id", value: "'../../a'", want: "want a letter or digit"},
		{name: "infinite longitude", column: "lakes.lon", value: infinite, want: "lon +Inf"},
		{name: "latitude of 1e300", column: "lakes.lat", value: "1e300", want: "lat 1e+300"},
		{name: "area of -1", column: "lakes.area_km2", value: "-1", want: "area_km2 -1"},
		{name: "outline of garbage", column: "lakes.outline", value: bytes("deadbeef"), want: "outline of format 222"},
		{name: "infinite cells", column: "observations.density", value: infinite, want: "cell_density_cells_ml +Inf"},
		{name: "level of 257", column: "observations.level", value: "257", want: "out of range: day 20000, type 0, chl 500, level 257"},
		{name: "type of 256", column: "observations.type", value: "256", want: "out of range"},
		{name: "chl of -7", column: "observations.chl", value: "-7", want: "chl"},
		{name: "chl of 2^31-1", column: "observations.chl", value: "2147483647", want: "chl"},
		{name: "a source that does not exist", column: "observations.source", value: "7", want: "its source, number 7, is not in the table sources"},
		{name: "details of garbage", column: "observations.details", value: "'[1, 2]'", want: "its details"},
		{name: "an unknown detail", column: "observations.details", value: `'{"colour": "green"}'`, want: "its details"},
		{name: "an unknown quality", column: "observations.details", value: `'{"quality": "best"}'`, want: "quality"},
		{name: "an unknown flag", column: "observations.details", value: `'{"flags": ["x"]}'`, want: "flag"},
		{name: "a depth of 1e300", column: "observations.details", value: `'{"secchi_m": 1e300}'`, want: "secchi_m"},
		{name: "measured in the year 292277026596", column: "observations.measured_at", value: "9223372036854775807", want: "measured_at"},
		{name: "revision in the year 292277026596", column: "revision.changed_at", value: "9223372036854775807", want: "years 0 to 9999"},
		{name: "key with a name of 10 MB", column: "api_keys.name", value: long, want: "name is missing, or longer than 1024 bytes"},
		{name: "preferred source of 100 kB", do: []string{"INSERT INTO limnomap.preferred_sources (rank, name) VALUES (1, substr(" + long + ", 1, 100000))"},
			undo: []string{"DELETE FROM limnomap.preferred_sources"}, want: "name is missing, or longer than 1024 bytes"},

		{name: "statement with an id of 10 MB", column: "advisories.id", value: long, want: "id is missing, or longer than 256 bytes"},
		{name: "statement about a lake that does not exist", column: "advisories.lake", value: "99", want: `statement "s": `},
		{name: "kind of 257", column: "advisories.kind", value: "257", want: "out of range: kind 257"},
		{name: "kind of 9", column: "advisories.kind", value: "9", want: "kind 9: want closure"},
		{name: "cause of 256", column: "advisories.cause", value: "256", want: "cause 256"},
		{name: "no issuer", column: "advisories.issuer", value: "''", want: "issuer is empty"},
		{name: "English of 10 MB", column: "advisories.text_en", value: long, want: "text_en is missing, or longer than 16384 bytes"},
		{name: "English of 16,000 characters", column: "advisories.text_en", value: "substr(" + long + ", 1, 16000)", want: "has 16000 characters"},
		{name: "address of a script", column: "advisories.url", value: "'javascript:alert(1)'", want: "want an address"},
		{name: "withdrawn in the year -292277026596", column: "advisories.withdrawn", value: "-9223372036854775807", want: "want one of the years 0 to 9999"},
		{name: "end before the beginning", column: "advisories.valid_until", value: "-5", want: "valid_until is not after valid_from"},

		{name: "event with a short id", column: "events.id", value: bytes("00"), want: "out of range"},
		{name: "event of no kind", column: "events.kind", value: "77", want: "out of range"},
		{name: "event of level 9", column: "events.level_after", value: "9", want: data.ErrImplausible.Error()},
		{name: "event with a chl of -1", column: "events.chl_after", value: "-1", want: data.ErrImplausible.Error()},
		{name: "event in the year 36533877880", column: "events.measured_after", value: "1152921504606846976", want: data.ErrImplausible.Error()},
		{name: "event with a wrong detail", column: "events.detail", value: `'{"kind":"closed"}'`, want: "kind"},
		{name: "event without a detail", column: "events.detail", value: "NULL", want: "detail of event 1"},
		{name: "event of a lake of 10 MB", column: "events.lake", value: long, want: "lake is missing, or longer"},
		{name: "moment in the year 36533877880", column: "event_moments.at", value: "1152921504606846976", want: "out of range"},
	}
}

func TestPostgresHostileRows(t *testing.T) {
	dsn := newDatabase(t)
	fillHostile(t, &openURL(t, dsn, true).Store)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) }) // the test's own context is done by then
	exec := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	// First of all an owner takes away what guards the tables. Three of the constraints belong to the partitions too.
	exec(`ALTER TABLE limnomap.lakes DROP CONSTRAINT lakes_lon_check, DROP CONSTRAINT lakes_lat_check, DROP CONSTRAINT lakes_area_km2_check,
		ALTER name DROP NOT NULL, ALTER lon DROP NOT NULL, ALTER outline DROP NOT NULL, DROP CONSTRAINT lakes_id_key`,
		`ALTER TABLE limnomap.observations DROP CONSTRAINT observations_chl_check, DROP CONSTRAINT observations_type_check,
		DROP CONSTRAINT observations_level_check, DROP CONSTRAINT observations_density_check`,
		"ALTER TABLE limnomap.api_keys DROP CONSTRAINT api_keys_hash_check, DROP CONSTRAINT api_keys_pkey",
		`ALTER TABLE limnomap.advisories DROP CONSTRAINT advisories_pkey, DROP CONSTRAINT advisories_lake_fkey, DROP CONSTRAINT advisories_kind_check,
		DROP CONSTRAINT advisories_cause_check, DROP CONSTRAINT advisories_issuer_check, DROP CONSTRAINT advisories_check, ALTER text_en DROP NOT NULL`,
		"DROP INDEX limnomap.events_lake")
	view := func(name, columns, want string) hostileChange {
		return hostileChange{name: "view with " + name, want: want,
			do:   []string{"ALTER TABLE limnomap.observations RENAME TO real", "CREATE VIEW limnomap.observations AS SELECT " + columns + " FROM limnomap.real"},
			undo: []string{"DROP VIEW limnomap.observations", "ALTER TABLE limnomap.real RENAME TO observations"}}
	}
	raising := view("an endless error", "lake, date, limnomap.shout() AS chl, type, level, density, measured_at, source, details", "…")
	raising.do = append([]string{"CREATE FUNCTION limnomap.shout() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%', repeat('loud ', 100000); END $$"}, raising.do...)
	raising.undo = append(raising.undo, "DROP FUNCTION limnomap.shout")
	testHostile(t, &openURL(t, dsn, true).Store, func() *Store { return &openURL(t, dsn, true).Store }, exec,
		append(hostileChanges("repeat('x', 10000000)", "'Infinity'", func(digits string) string { return `'\x` + digits + `'` }),
			hostileChange{name: "no name", column: "lakes.name", value: "NULL", want: "name is missing"},
			hostileChange{name: "id of another lake", column: "lakes.id", value: "'b'", want: "want each once"},
			hostileChange{name: "longitude that is no number", column: "lakes.lon", value: "'NaN'", want: "lon NaN"},
			hostileChange{name: "no longitude", column: "lakes.lon", value: "NULL", want: "lon"},
			hostileChange{name: "outline of garbage after a bound", column: "lakes.outline", value: `'\x0100000000ffffffffffffffffffffffffffff'`, want: "outline"},
			hostileChange{name: "outline of 20 MB", column: "lakes.outline", value: "convert_to(repeat('x', 20000000), 'UTF8')", want: "outline is missing, or longer than 9437184 bytes"},
			hostileChange{name: "details of 6 kB", column: "observations.details", value: "jsonb_build_object('method', repeat(md5('x'), 200))", want: "its details"},
			hostileChange{name: "day in the year 5881580", do: []string{"CREATE TABLE limnomap.far PARTITION OF limnomap.observations FOR VALUES FROM (2000000000) TO (MAXVALUE)",
				"INSERT INTO limnomap.observations (lake, date, chl, type) VALUES (1, 2147483647, 500, 0)"},
				undo: []string{"DROP TABLE limnomap.far"}, want: "want a day from 0000-01-01 to 9999-12-31"},
			view("texts as numbers", "lake, date, '12'::text AS chl, type, level, density, measured_at, source, details", "chl"),
			view("bigger numbers", "lake, date, 4294967396::bigint AS chl, type, level, density, measured_at, source, details", "out of range"),
			view("an unknown type", "lake, date, chl, NULL::smallint AS type, level, density, measured_at, source, details", "lacks its lake, date, type or source"),
			view("a thousand rows for each", "lake, date, chl, type, level, density, measured_at, source, details FROM limnomap.real CROSS JOIN generate_series(1, 1000) UNION ALL SELECT *", "out of order"),
			view("details as text", "lake, date, chl, type, level, density, measured_at, source, '{}'::text AS details", "text and jsonb"),
			raising,
			hostileChange{name: "a thousand preferred sources", do: []string{"INSERT INTO limnomap.preferred_sources (rank, name) SELECT n, 'x' || n FROM generate_series(1, 1000) AS n"},
				undo: []string{"DELETE FROM limnomap.preferred_sources"}, want: "65 preferred sources: want at most 64"},
			hostileChange{name: "no revision", do: []string{"DELETE FROM limnomap.revision"}, undo: []string{"INSERT INTO limnomap.revision TABLE limnomap.kept_revision"}, want: "no rows"},
			hostileChange{name: "more statements than a server holds", want: "of all official statements in the database have more than 67108864 bytes",
				do: []string{fmt.Sprintf(`INSERT INTO limnomap.advisories (id, lake, kind, cause, issuer, text_en, text_de, url, issued, valid_from)
					SELECT 'n' || i, 1, 4, 1, 'Amt', repeat('x', 16000), repeat('x', 16000), '', 1, 1 FROM generate_series(1, %d) AS i`, maxAdvisoryMemory/32_000+1)},
				undo: []string{"DELETE FROM limnomap.advisories WHERE id <> 's'"}, most: 2 * maxAdvisoryMemory}))
}

func TestSQLiteHostileRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	s := &openFile(t, path, true).Store
	fillHostile(t, s)
	db, err := sql.Open("sqlite", path+"?_pragma=ignore_check_constraints(on)&_pragma=foreign_keys(off)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	exec := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := db.ExecContext(t.Context(), strings.ReplaceAll(forSQLite.Replace(statement), "$", "?")); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	testHostile(t, s, func() *Store { return s }, exec,
		append(hostileChanges("substr(hex(zeroblob(5000000)), 1)", "9e999", func(digits string) string { return "x'" + digits + "'" }),
			hostileChange{name: "name that is not UTF-8", column: "lakes.name", value: "CAST(x'ff' AS TEXT)", want: "want UTF-8"},
			hostileChange{name: "name with a zero byte", column: "lakes.name", value: "CAST(x'610062' AS TEXT)", want: "control character"},
			hostileChange{name: "outline of 10 MB", column: "lakes.outline", value: "zeroblob(10000000)", want: "outline is missing, or longer"},
			hostileChange{name: "details of 10 MB", column: "observations.details", value: "json_object('method', hex(zeroblob(5000000)))", want: "its details"},
			hostileChange{name: "day of 2^32+20000", column: "observations.date", value: "4294987296", want: "out of range"},
			hostileChange{name: "event with an id of 10 MB", column: "events.id", value: "zeroblob(10000000)", want: "out of range"}))
}

// More keys or statements than a server holds are an error, and so is an import of the last statement, even if the caller ignores its error.
func TestRowsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	s := &openFile(t, path, true).Store
	put(t, s, []data.Lake{testLake("a")}, nil)
	const numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT "
	const statements = "INSERT INTO advisories (id, lake, kind, cause, issuer, text_en, text_de, url, issued, valid_from) " + numbers + "'n' || i, 1, 4, 1, 'Amt', "
	add := func(a data.Advisory) error {
		return s.Import(t.Context(), func(tx Tx) error {
			_, _ = tx.PutAdvisories(t.Context(), []data.Advisory{a}, AdvisoryColumns{})
			return nil
		})
	}
	execSQL(t, path, fmt.Sprintf("INSERT INTO api_keys (name, hash, created_at) "+numbers+"'k' || i, randomblob(32), 0 FROM n", maxKeys+1),
		fmt.Sprintf(statements+"'', '', '', 1, 1 FROM n", maxAdvisories))
	if _, err := s.Keys(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 100000 API keys") {
		t.Errorf("Keys of %d = %v, want an error", maxKeys+1, err)
	}
	if got := statementsOf(t, s); len(got) != maxAdvisories {
		t.Fatalf("Advisories = %d, want %d", len(got), maxAdvisories)
	}
	if err := add(testAdvisory("s", "a")); err != errManyAdvisories {
		t.Errorf("an import of one more = %v, want %v", err, errManyAdvisories)
	}
	changed := testAdvisory("n1", "a")
	changed.Issuer = "Amt"
	if got := putStatements(t, s, AdvisoryColumns{}, changed); got[0] != Changed {
		t.Errorf("an import of a stored one = %v, want changed", got)
	}
	execSQL(t, path, "DELETE FROM advisories", fmt.Sprintf(statements+"hex(zeroblob(8000)), '', '', 1, 1 FROM n", maxAdvisoryMemory/16_003))
	statementsOf(t, s)
	if err := add(testAdvisory("s", "a")); err != nil {
		t.Error(err)
	}
	long := testAdvisory("t", "a")
	long.TextEN, long.TextDE = strings.Repeat("🏊", 4000), strings.Repeat("🏊", 4000)
	if err := add(long); err != errLongAdvisories {
		t.Errorf("an import of a long one more = %v, want %v", err, errLongAdvisories)
	}
}
