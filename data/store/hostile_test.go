package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/internal/testsize"
)

// A hostileChange is made without limnomap, by someone who may write to its tables.
type hostileChange struct {
	name   string
	do     []string
	undo   []string
	want   string // in the error of Load
	reader func(*Store) error
	most   uint64 // how many bytes may be allocated; 0: 4 MiB
}

// load reads all data.
func load(t *testing.T) func(*Store) error {
	return func(s *Store) error {
		_, err := snapshot.Load(t.Context(), s, nil)
		return err
	}
}

// keysOf reads all API keys.
func keysOf(t *testing.T) func(*Store) error {
	return func(s *Store) error {
		_, err := s.Keys(t.Context())
		return err
	}
}

// testHostile makes each change, and wants an error that says what is wrong and little memory, and all well again afterwards.
//
// Each state is read by a store that open returns, and closed by its second result: connections that were used before may have
// prepared their queries for the tables as they were.
func testHostile(t *testing.T, open func() (*Store, func()), exec func(...string), changes []hostileChange) {
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			read := c.reader
			if read == nil {
				read = load(t)
			}
			s, done := open()
			defer done()
			exec(c.do...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := read(s)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			} else if n := len(err.Error()); n > 3*maxErrorText {
				t.Errorf("an error of %d bytes: %.200s", n, err)
			}
			most := cmp.Or(c.most, 4<<20) // a lake and its observation take some kilobytes; a refused value has 10 MB and more
			if testsize.Race {
				most *= 2 // pools keep nothing
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > most {
				t.Errorf("%d bytes were allocated, want at most %d", took, most)
			}
			exec(c.undo...)
			again, done := open()
			defer done()
			if err := read(again); err != nil {
				t.Errorf("after the change was undone: %v", err)
			}
		})
	}
}

// hostilePostgres returns what testHostile needs, for a new database with what fill stores.
func hostilePostgres(t *testing.T, fill func(*testing.T, *Store)) (open func() (*Store, func()), exec func(...string)) {
	t.Helper()
	dsn := newDatabase(t)
	open = func() (*Store, func()) {
		s, err := openPostgres(t.Context(), dsn, true)
		if err != nil {
			t.Fatal(err)
		}
		return &s.Store, func() { s.Close() }
	}
	s, done := open()
	fill(t, s)
	done()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) }) // the test's own context is done by then
	return open, func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := conn.Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
}

// hostileSQLite does the same for a new file, which has one store throughout. The statements may break its constraints.
func hostileSQLite(t *testing.T, fill func(*testing.T, *Store)) (open func() (*Store, func()), exec func(...string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lakes.db")
	s := openFile(t, path, true)
	fill(t, &s.Store)
	db, err := sql.Open("sqlite", path+"?_pragma=ignore_check_constraints(on)&_pragma=foreign_keys(off)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	open = func() (*Store, func()) { return &s.Store, func() {} }
	return open, func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := db.ExecContext(t.Context(), forSQLite.Replace(statement)); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
}

// putTwoLakes stores the lakes that the changes are made to.
func putTwoLakes(t *testing.T, s *Store) {
	t.Helper()
	put(t, s, []data.Lake{testLake("a"), testLake("b")}, []data.Observation{
		testObservation("a", 20000, data.Satellite, 500), testObservation("b", 20000, data.Satellite, 500)})
}

// ofLake returns a change of one value of lake a.
func ofLake(name, column, value, back, want string) hostileChange {
	set := func(value string) []string {
		return []string{fmt.Sprintf("UPDATE limnomap.lakes SET %s = %s WHERE key = 1", column, value)}
	}
	return hostileChange{name: name, do: set(value), undo: set(back), want: want}
}

// ofPreference returns the insertion of preferred sources.
func ofPreference(name, rows, want string) hostileChange {
	return hostileChange{name: name, want: want,
		do:   []string{"INSERT INTO limnomap.preferred_sources (rank, name) " + rows},
		undo: []string{"DELETE FROM limnomap.preferred_sources"}}
}

// ofObservation returns a change of one value of lake a's observation.
func ofObservation(name, column, value, back, want string) hostileChange {
	set := func(value string) []string {
		return []string{fmt.Sprintf("UPDATE limnomap.observations SET %s = %s WHERE lake = 1", column, value)}
	}
	return hostileChange{name: name, do: set(value), undo: set(back), want: want}
}

func TestPostgresHostileRows(t *testing.T) {
	open, exec := hostilePostgres(t, putTwoLakes)
	// First of all an owner takes away what guards the tables. Three of the constraints belong to the partitions too.
	exec(`ALTER TABLE limnomap.lakes DROP CONSTRAINT lakes_lon_check, DROP CONSTRAINT lakes_lat_check, DROP CONSTRAINT lakes_area_km2_check,
		ALTER name DROP NOT NULL, ALTER lon DROP NOT NULL, ALTER outline DROP NOT NULL, DROP CONSTRAINT lakes_id_key`,
		`ALTER TABLE limnomap.observations DROP CONSTRAINT observations_chl_check, DROP CONSTRAINT observations_type_check,
		DROP CONSTRAINT observations_level_check, DROP CONSTRAINT observations_density_check`,
		"ALTER TABLE limnomap.api_keys DROP CONSTRAINT api_keys_hash_check, DROP CONSTRAINT api_keys_pkey")
	instead := func(columns string) ([]string, []string) {
		return []string{"ALTER TABLE limnomap.observations RENAME TO real", "CREATE VIEW limnomap.observations AS SELECT " + columns + " FROM limnomap.real"},
			[]string{"DROP VIEW limnomap.observations", "ALTER TABLE limnomap.real RENAME TO observations"}
	}
	view := func(name, columns, want string) hostileChange {
		do, undo := instead(columns)
		return hostileChange{name: "view with " + name, do: do, undo: undo, want: want}
	}
	raising := view("an endless error", "lake, date, limnomap.shout() AS chl, type, level, density, measured_at, source, details", "…")
	raising.do = append([]string{"CREATE FUNCTION limnomap.shout() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%', repeat('loud ', 100000); END $$"}, raising.do...)
	raising.undo = append(raising.undo, "DROP FUNCTION limnomap.shout")
	testHostile(t, open, exec, []hostileChange{
		ofLake("name of 10 MB", "name", "repeat('x', 10000000)", "'See a'", `lake "a", number 1`),
		ofLake("name of 10 MB, again", "name", "repeat('x', 10000000)", "'See a'", "name is missing, or longer than 1024 bytes"),
		ofLake("name of 300 characters", "name", "repeat('ü', 300)", "'See a'", "has 300 characters"),
		ofLake("no name", "name", "NULL", "'See a'", "name is missing"),
		ofLake("name of two lines", "name", "E'a\\nb'", "'See a'", "control character"),
		ofLake("region of 10 MB", "region", "repeat('x', 10000000)", "'Bayern'", "region is missing, or longer"),
		ofLake("external id of 10 MB", "external_id", "repeat('x', 10000000)", "'x-a'", "external_id is missing, or longer"),
		ofLake("id with slashes", "id", "'../../a'", "'a'", "want a letter or digit"),
		ofLake("id with a line break", "id", "E'a\\nb'", "'a'", "want a letter or digit"),
		ofLake("id of 10 MB", "id", "repeat('x', 10000000)", "'a'", "number 1: "),
		ofLake("id of another lake", "id", "'b'", "'a'", "want each once"),
		ofLake("longitude that is no number", "lon", "'NaN'", "11.3", "lon NaN"),
		ofLake("infinite longitude", "lon", "'Infinity'", "11.3", "lon +Inf"),
		ofLake("no longitude", "lon", "NULL", "11.3", "lon"),
		ofLake("latitude of 1e300", "lat", "1e300", "47.9", "lat 1e+300"),
		ofLake("area of -1", "area_km2", "-1", "56.36", "area_km2 -1"),
		ofLake("area that is no number", "area_km2", "'NaN'", "56.36", "area_km2 NaN"),
		ofLake("outline of garbage", "outline", `'\xdeadbeef'`, "''", "outline of format 222"),
		ofLake("outline of garbage after a bound", "outline", `'\x0100000000ffffffffffffffffffffffffffff'`, "''", "outline"),
		ofLake("outline of 20 MB", "outline", "convert_to(repeat('x', 20000000), 'UTF8')", "''", "outline is missing, or longer than 9437184 bytes"),
		ofLake("no outline", "outline", "NULL", "''", "outline is missing"),
		ofObservation("cells that are no number", "density", "'NaN'", "NULL", "cell_density_cells_ml NaN"),
		ofObservation("infinite cells", "density", "'Infinity'", "NULL", "cell_density_cells_ml +Inf"),
		ofObservation("cells of -1", "density", "-1", "NULL", "cell_density_cells_ml -1"),
		ofObservation("chl of -1", "chl", "-1", "500", "chl -1"),
		ofObservation("level of 257", "level", "257", "NULL", "out of range: day 20000, type 0, chl 500, level 257"),
		ofObservation("level of -1", "level", "-1", "NULL", "who_level -1"),
		ofObservation("type of 256", "type", "256", "0", "out of range"),
		ofObservation("chl of -7", "chl", "-7", "500", "chl"),
		ofObservation("chl of 2^31-1", "chl", "2147483647", "500", "chl"),
		ofObservation("measured in the year 292277026596", "measured_at", "9223372036854775807", "NULL", "measured_at"),
		{name: "day in the year 5881580", do: []string{"CREATE TABLE limnomap.far PARTITION OF limnomap.observations FOR VALUES FROM (2000000000) TO (MAXVALUE)",
			"INSERT INTO limnomap.observations (lake, date, chl, type) VALUES (1, 2147483647, 500, 0)"},
			undo: []string{"DROP TABLE limnomap.far"}, want: "want a day from 0000-01-01 to 9999-12-31"},
		view("texts as numbers", "lake, date, '12'::text AS chl, type, level, density, measured_at, source, details", "chl"),
		view("decimal numbers", "lake, date, 0.52::numeric AS chl, type, level, density, measured_at, source, details", "chl"),
		view("bigger numbers", "lake, date, 4294967396::bigint AS chl, type, level, density, measured_at, source, details", "out of range"),
		view("a day that another one has when it is cut", "lake, 4294987296::bigint AS date, chl, type, level, density, measured_at, source, details", "out of range"),
		view("an unknown type", "lake, date, chl, NULL::smallint AS type, level, density, measured_at, source, details", "lacks its lake, date, type or source"),
		view("a thousand rows for each", "lake, date, chl, type, level, density, measured_at, source, details FROM limnomap.real CROSS JOIN generate_series(1, 1000) UNION ALL SELECT *", "out of order"),
		view("an unknown source", "lake, date, chl, type, level, density, measured_at, NULL::smallint AS source, details", "lacks its lake, date, type or source"),
		view("details as text", "lake, date, chl, type, level, density, measured_at, source, '{}'::text AS details", "text and jsonb"),
		ofObservation("a source that does not exist", "source", "7", "0", "its source, number 7, is not in the table sources"),
		ofObservation("details of garbage", "details", "'[1, 2]'", "NULL", "its details"),
		ofObservation("details of 6 kB", "details", "jsonb_build_object('method', repeat(md5('x'), 200))", "NULL", "its details"),
		ofObservation("an unknown detail", "details", `'{"colour": "green"}'`, "NULL", "its details"),
		ofObservation("an unknown quality", "details", `'{"quality": "best"}'`, "NULL", "quality"),
		ofObservation("an unknown flag", "details", `'{"flags": ["x"]}'`, "NULL", "flag"),
		ofObservation("a depth of 1e300", "details", `'{"secchi_m": 1e300}'`, "NULL", "secchi_m"),
		ofObservation("a depth of 1e5", "details", `'{"secchi_m": 1e5}'`, "NULL", "secchi_m"),
		ofObservation("pixels of 2^40", "details", `'{"n_valid": 1099511627776}'`, "NULL", "its details"),
		ofPreference("preferred source of 100 kB", "VALUES (1, repeat('x', 100000))", "name is missing, or longer than 1024 bytes"),
		ofPreference("preferred source of two lines", "VALUES (1, E'a\\nb')", "control character"),
		ofPreference("a thousand preferred sources", "SELECT n, 'x' || n FROM generate_series(1, 1000) AS n", "65 preferred sources: want at most 64"),
		raising,
		{name: "revision in the year 292277026596", do: []string{"UPDATE limnomap.revision SET changed_at = 9223372036854775807"},
			undo: []string{"UPDATE limnomap.revision SET changed_at = 1700000000"}, want: "years 0 to 9999"},
		{name: "no revision", do: []string{"CREATE TABLE limnomap.kept AS TABLE limnomap.revision", "DELETE FROM limnomap.revision"},
			undo: []string{"INSERT INTO limnomap.revision TABLE limnomap.kept", "DROP TABLE limnomap.kept"}, want: "no rows"},
		{name: "key with a name of 10 MB", reader: keysOf(t), want: "name is missing, or longer than 1024 bytes",
			do:   []string{"INSERT INTO limnomap.api_keys (name, hash, created_at) VALUES (repeat('x', 10000000), '', 0)"},
			undo: []string{"DELETE FROM limnomap.api_keys"}},
		{name: "key with a hash of 10 MB", reader: keysOf(t), want: "hash is missing, or longer than 32 bytes",
			do:   []string{"INSERT INTO limnomap.api_keys (name, hash, created_at) VALUES ('x', convert_to(repeat('x', 10000000), 'UTF8'), 0)"},
			undo: []string{"DELETE FROM limnomap.api_keys"}},
	})
}

func TestSQLiteHostileRows(t *testing.T) {
	open, exec := hostileSQLite(t, putTwoLakes)
	long := "substr(hex(zeroblob(5000000)), 1)"
	testHostile(t, open, exec, []hostileChange{
		ofLake("name of 10 MB", "name", long, "'See a'", "name is missing, or longer than 1024 bytes"),
		ofLake("name that is not UTF-8", "name", "CAST(x'ff' AS TEXT)", "'See a'", "want UTF-8"),
		ofLake("name with a zero byte", "name", "CAST(x'610062' AS TEXT)", "'See a'", "control character"),
		ofLake("id of 10 MB", "id", long, "'a'", "id is missing, or longer than 256 bytes"),
		ofLake("id with slashes", "id", "'../../a'", "'a'", "want a letter or digit"),
		ofLake("infinite longitude", "lon", "9e999", "11.3", "lon +Inf"),
		ofLake("latitude of 1e300", "lat", "1e300", "47.9", "lat 1e+300"),
		ofLake("area of -1", "area_km2", "-1", "56.36", "area_km2 -1"),
		ofLake("outline of garbage", "outline", "x'deadbeef'", "x''", "outline of format 222"),
		ofLake("outline of 10 MB", "outline", "zeroblob(10000000)", "x''", "outline is missing, or longer"),
		ofPreference("preferred source of 10 MB", "VALUES (1, "+long+")", "name is missing, or longer than 1024 bytes"),
		ofPreference("preferred source without a name", "VALUES (1, '')", "preferred source 1 is empty"),
		ofObservation("infinite cells", "density", "9e999", "NULL", "cell_density_cells_ml +Inf"),
		ofObservation("level of 257", "level", "257", "NULL", "out of range"),
		ofObservation("a source that does not exist", "source", "7", "0", "its source, number 7, is not in the table sources"),
		ofObservation("details of garbage", "details", "'[1, 2]'", "NULL", "its details"),
		ofObservation("details of 10 MB", "details", "json_object('method', "+long+")", "NULL", "its details"),
		ofObservation("an unknown detail", "details", `'{"colour": "green"}'`, "NULL", "its details"),
		ofObservation("an unknown quality", "details", `'{"quality": "best"}'`, "NULL", "quality"),
		ofObservation("type of 256", "type", "256", "0", "out of range"),
		ofObservation("chl of 2^32+100", "chl", "4294967396", "500", "out of range"),
		ofObservation("day of 2^32+20000", "date", "4294987296", "20000", "out of range"),
		ofObservation("chl of -7", "chl", "-7", "500", "chl"),
		{name: "revision in the year 292277026596", do: []string{"UPDATE revision SET changed_at = 9223372036854775807"},
			undo: []string{"UPDATE revision SET changed_at = 1700000000"}, want: "years 0 to 9999"},
		{name: "key with a name of 10 MB", reader: keysOf(t), want: "name is missing, or longer than 1024 bytes",
			do:   []string{"INSERT INTO api_keys (name, hash, created_at) VALUES (" + long + ", x'', 0)"},
			undo: []string{"DELETE FROM api_keys"}},
	})
}

// More keys than a server holds are an error, before all are read.
func TestKeysAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.db")
	s := openFile(t, path, true)
	execSQL(t, path, fmt.Sprintf(`INSERT INTO api_keys (name, hash, created_at) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <= %d)
		SELECT 'k' || i, randomblob(32), 0 FROM n`, maxKeys))
	if _, err := s.Keys(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 100000 API keys") {
		t.Errorf("Keys of %d = %v, want an error", maxKeys+1, err)
	}
}

// A hangingProxy forwards connections to a PostgreSQL until it is told to hang: then it holds back all bytes that the server
// sends, and keeps the connections open.
type hangingProxy struct {
	address string
	mu      sync.Mutex
	hung    bool
	passed  int // bytes that the server sent
	hangAt  int // it hangs after that many; 0: never
	free    *sync.Cond
}

func newHangingProxy(t *testing.T, dsn string) (*hangingProxy, string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &hangingProxy{address: listener.Addr().String()}
	p.free = sync.NewCond(&p.mu)
	var group sync.WaitGroup
	to := u.Host
	group.Go(func() { // ends when the listener is closed
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			group.Go(func() { _, _ = io.Copy(out, in); out.Close() }) // both end with either connection
			group.Go(func() { _, _ = io.Copy(p.gate(in), out); in.Close() })
		}
	})
	t.Cleanup(func() {
		p.hang(false)
		listener.Close()
		group.Wait()
	})
	u.Host = p.address
	return p, u.String()
}

// gate returns a writer to w that hangs while p does.
func (p *hangingProxy) gate(w io.Writer) io.Writer { return gate{p, w} }

type gate struct {
	p *hangingProxy
	w io.Writer
}

func (g gate) Write(b []byte) (int, error) {
	g.p.mu.Lock()
	g.p.passed += len(b)
	if g.p.hangAt > 0 && g.p.passed >= g.p.hangAt {
		g.p.hung, g.p.hangAt = true, 0
	}
	for g.p.hung {
		g.p.free.Wait()
	}
	g.p.mu.Unlock()
	return g.w.Write(b)
}

func (p *hangingProxy) hang(hung bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hung = hung
	p.free.Broadcast()
}

// hangAfter makes it hang in the middle of the answers that follow.
func (p *hangingProxy) hangAfter(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hangAt = p.passed + bytes
}

// A scan whose server stops in the middle of its answer ends with an error, and the next one succeeds.
func TestPostgresHangsDuringAScan(t *testing.T) {
	t.Parallel()
	dsn := newDatabase(t)
	var lakes []data.Lake
	for i := range 5000 {
		lakes = append(lakes, testLake(fmt.Sprintf("lake_%04d", i)))
	}
	put(t, &openURL(t, dsn, true).Store, lakes, nil)
	proxy, through := newHangingProxy(t, dsn)
	s := openURL(t, through, false)
	s.stallTimeout = 300 * time.Millisecond
	if _, err := s.Revision(t.Context()); err != nil {
		t.Fatal(err)
	}
	proxy.hangAfter(100_000)
	_, err := snapshot.Load(t.Context(), s, nil)
	if err == nil || !strings.Contains(err.Error(), "the server does not send the rest") {
		t.Errorf("Load = %v, want that the server does not send the rest", err)
	}
	proxy.hang(false)
	snap, err := snapshot.Load(t.Context(), s, nil)
	if err != nil || len(snap.Lakes) != len(lakes) {
		t.Errorf("after that Load = %v, want all lakes", err)
	}
}

// A server that accepts connections and never answers delays the start by the connect timeout at most, and is used once it
// answers.
func TestPostgresHangsAtTheStart(t *testing.T) {
	t.Parallel()
	dsn := newDatabase(t)
	put(t, &openURL(t, dsn, true).Store, []data.Lake{testLake("a")}, nil)
	proxy, through := newHangingProxy(t, dsn)
	proxy.hang(true)
	s := openURL(t, through+"&connect_timeout=1", false)
	proxy.hang(false)
	if _, lakes, _ := scan(t, &s.Store); len(lakes) != 1 {
		t.Errorf("once the server answers it holds %v", lakes)
	}
}

// A listener whose server hangs connects again.
func TestPostgresHangsWhileListening(t *testing.T) {
	t.Parallel()
	dsn := newDatabase(t)
	importer := openURL(t, dsn, true)
	put(t, &importer.Store, []data.Lake{testLake("a")}, nil)
	proxy, through := newHangingProxy(t, dsn)
	s := openURL(t, through, false)
	s.listenPing, s.listenTimeout = 100*time.Millisecond, 200*time.Millisecond
	wake := make(chan struct{}, 1)
	var group sync.WaitGroup
	defer group.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	group.Go(func() { s.Listen(ctx, wake) })
	awaken := func(when string) {
		t.Helper()
		select {
		case <-wake:
		case <-time.After(time.Minute):
			t.Fatalf("%s: not woken in a minute", when)
		}
	}
	awaken("at the start")
	proxy.hang(true)
	time.Sleep(500 * time.Millisecond) // it notices meanwhile, or later
	proxy.hang(false)
	awaken("with a new connection")
	put(t, &importer.Store, []data.Lake{testLake("b")}, nil)
	awaken("by an import")
}
