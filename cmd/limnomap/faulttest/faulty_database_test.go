//go:build linux

package faulttest

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/store/wiretest"
	"limnomap/data/testsize"
)

const (
	// faultMemory bounds what a fault of a database may add to the peak of a server's memory, with a crowd and the race detector.
	faultMemory = 256 << 20
	// leftOver is how many goroutines and descriptors more than before may be left: connections to the database, which stay open.
	leftOver = 24
)

// A faultyDatabase is a PostgreSQL database behind a wire, with a server that uses it.
type faultyDatabase struct {
	direct  string // URL without the wire
	through string // URL with the wire
	wire    *wiretest.Wire
	server  *limnomaptest.Server
}

// exec runs statements on the database itself.
func (d *faultyDatabase) exec(t testing.TB, statements ...string) {
	t.Helper()
	execPostgres(t, d.direct, statements...)
}

func execPostgres(t testing.TB, dsn string, statements ...string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, dsn)
	must(t, err)
	defer conn.Close(ctx)
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// withDatabase returns the URL with another database.
func withDatabase(t testing.TB, dsn, name string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	must(t, err)
	u.Path = "/" + name
	return u.String()
}

// newFaultyDatabase copies the database base, and starts a server on the copy.
func newFaultyDatabase(t testing.TB, base, name string) *faultyDatabase {
	t.Helper()
	execPostgres(t, withDatabase(t, base, "postgres"), "CREATE DATABASE "+name+" TEMPLATE base")
	d := &faultyDatabase{direct: withDatabase(t, base, name)}
	u, err := url.Parse(d.direct)
	must(t, err)
	d.wire = wiretest.New(t, u.Host)
	u.Host = d.wire.Address
	d.through = u.String()
	d.server = limnomaptest.LaunchWithEnv(t, []string{"LIMNOMAP_DB=" + d.through}, "--cache-disk", "0", "--weeks", "1", "--api-rate", "0", "--tile-rate", "0")
	t.Cleanup(d.server.Kill)
	d.server.AwaitReady(t)
	return d
}

// A databaseFault is something that goes wrong with a database while a server uses it.
type databaseFault struct {
	name     string
	begin    func(*testing.T, *faultyDatabase)
	end      func(*testing.T, *faultyDatabase)
	reported string // the field of /readyz that reports it; "" if the server copes with it
	log      string // must be in the log
	once     bool   // no other line of the log tells it
}

const (
	// lateLake is the name of a lake that only a load reads, after most others.
	lateLake    = "See 150"
	staleSince  = "stale_since"
	failedSince = "refresh_failed_since"
	nextNumber  = "UPDATE limnomap.revision SET number = number + 1" // as an import does
)

// hostile returns a fault that someone with the right to write to the tables makes.
func hostile(name, do, undo, log string) databaseFault {
	return databaseFault{
		name:     name,
		begin:    func(t *testing.T, d *faultyDatabase) { d.exec(t, do, nextNumber) },
		end:      func(t *testing.T, d *faultyDatabase) { d.exec(t, undo, nextNumber) },
		reported: failedSince,
		log:      log,
	}
}

// databaseFaults returns all faults. make test has only the first.
func databaseFaults() []databaseFault {
	slow := func(name string, delay time.Duration, piece int) databaseFault {
		return databaseFault{
			name:  name,
			begin: func(_ *testing.T, d *faultyDatabase) { d.wire.Slow(delay, piece) },
			end:   func(_ *testing.T, d *faultyDatabase) { d.wire.Slow(0, 0) },
		}
	}
	terminate := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
	return []databaseFault{
		{
			name:     "hangs",
			begin:    func(_ *testing.T, d *faultyDatabase) { d.wire.Hang(true) },
			end:      func(_ *testing.T, d *faultyDatabase) { d.wire.Hang(false) },
			reported: staleSince,
			log:      "loading newer data failed",
			once:     true,
		},
		slow("200 ms", 200*time.Millisecond, 0),
		slow("2 s", 2*time.Second, 0),
		slow("bytes one by one", time.Millisecond, 1),
		{
			name: "hangs in the middle of a load",
			begin: func(t *testing.T, d *faultyDatabase) {
				d.wire.HangBefore(lateLake)
				d.exec(t, nextNumber)
			},
			end:      func(_ *testing.T, d *faultyDatabase) { d.wire.Hang(false) },
			reported: staleSince,
		},
		{
			name: "hangs in the middle of a load, and then answers new connections only",
			begin: func(t *testing.T, d *faultyDatabase) {
				d.wire.HangBefore(lateLake)
				d.exec(t, nextNumber)
				limnomaptest.Within(t, 3*patience, "the load ends", func() bool { return strings.Contains(eventLog(d.server), "the server does not send the rest") })
			},
			end: func(_ *testing.T, d *faultyDatabase) {
				d.wire.Cut()
				d.wire.Hang(false)
			},
			reported: failedSince,
		},
		{
			name:     "accepts no connection",
			begin:    func(t *testing.T, d *faultyDatabase) { d.wire.Hang(true); d.wire.Cut() },
			end:      func(_ *testing.T, d *faultyDatabase) { d.wire.Hang(false) },
			reported: staleSince,
		},
		{
			name: "read-only",
			begin: func(t *testing.T, d *faultyDatabase) {
				d.exec(t, "ALTER DATABASE "+databaseOf(t, d.direct)+" SET default_transaction_read_only = on", terminate)
				values := writeValues(t, t.TempDir(), uniformLakes, 7)
				if out, err := runCommand(t, "import", "observations", values, "--db", d.direct); err == nil || !strings.Contains(out, "only lets read") {
					t.Errorf("import = %v, want that the server only lets read\n%s", err, out)
				}
			},
			end: func(t *testing.T, d *faultyDatabase) {
				d.exec(t, "SET default_transaction_read_only = off", "ALTER DATABASE "+databaseOf(t, d.direct)+" RESET default_transaction_read_only", terminate)
			},
		},
		hostile("name of 10 MB", "UPDATE limnomap.lakes SET name = repeat('x', 10000000) WHERE id = 'lake_3'",
			"UPDATE limnomap.lakes SET name = 'See 3' WHERE id = 'lake_3'", "name is missing, or longer"),
		hostile("outline of 100 MB", "UPDATE limnomap.lakes SET outline = convert_to(repeat('x', 100000000), 'UTF8') WHERE id = 'lake_3'",
			"UPDATE limnomap.lakes SET outline = '' WHERE id = 'lake_3'", "outline is missing, or longer"),
		hostile("an error of 20 MB", `ALTER TABLE limnomap.lakes RENAME TO real;
			CREATE FUNCTION limnomap.shout() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%', repeat('loud', 5000000); END $$;
			CREATE VIEW limnomap.lakes AS SELECT key, id, external_id, limnomap.shout() AS name, lon, lat, region, area_km2, outline FROM limnomap.real`,
			"DROP VIEW limnomap.lakes; ALTER TABLE limnomap.real RENAME TO lakes", "loading newer data failed"),
		hostile("cells that are no number", "UPDATE limnomap.observations SET density = 'NaN' WHERE lake = 8",
			"UPDATE limnomap.observations SET density = NULL", "cell_density_cells_ml NaN"),
		{
			name: "hundreds of thousands of rows of one lake", // one for each day of twenty centuries: the server copes
			begin: func(t *testing.T, d *faultyDatabase) {
				d.exec(t, "CREATE TABLE limnomap.others PARTITION OF limnomap.observations DEFAULT",
					"INSERT INTO limnomap.observations (lake, date, chl, type) SELECT 8, d, 500, 1 FROM generate_series(-719000, 700) AS d", nextNumber)
			},
			end: func(t *testing.T, d *faultyDatabase) {
				d.exec(t, "DELETE FROM limnomap.observations WHERE type = 1", "DROP TABLE limnomap.others", nextNumber)
			},
		},
		hostile("no tables", "ALTER SCHEMA limnomap RENAME TO away; CREATE SCHEMA limnomap; CREATE TABLE limnomap.revision AS SELECT 1 AS number",
			"DROP SCHEMA limnomap CASCADE; ALTER SCHEMA away RENAME TO limnomap", ""),
		hostile("a newer schema", "INSERT INTO limnomap.goose_db_version (version_id, is_applied) VALUES (9999, true); ALTER TABLE limnomap.lakes RENAME TO lakes_9999",
			"DELETE FROM limnomap.goose_db_version WHERE version_id = 9999; ALTER TABLE limnomap.lakes_9999 RENAME TO lakes", "tables are gone"),
	}
}

func databaseOf(t testing.TB, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	must(t, err)
	return strings.TrimPrefix(u.Path, "/")
}

// TestFaultyDatabase has a PostgreSQL be slow, hang, refuse writes or hold hostile rows, while a crowd asks for tiles, lists and
// histories. The server keeps serving the data it has, reports the fault, holds no more than before, and recovers by itself.
func TestFaultyDatabase(t *testing.T) {
	t.Parallel()
	base := startPostgres(t).url
	execPostgres(t, base, "CREATE DATABASE base")
	base = withDatabase(t, base, "base")
	dir := t.TempDir()
	importFile(t, "lakes", writeLakes(t, dir, uniformLakes), base)
	importFile(t, "observations", writeValues(t, dir, uniformLakes, 5), base)
	importOldValues(t, uniformDB{path: base})
	u, err := url.Parse(base)
	must(t, err)
	password, _ := u.User.Password()
	t.Run("faults", func(t *testing.T) {
		for i, fault := range testsize.Cases(1, databaseFaults()) {
			t.Run(fault.name, func(t *testing.T) {
				t.Parallel()
				d := newFaultyDatabase(t, base, "fault_"+string(rune('a'+i)))
				fault.test(t, d)
				if strings.Contains(d.server.Log.String(), password) {
					t.Error("the password is in the log")
				}
			})
		}
	})
}

func (f *databaseFault) test(t *testing.T, d *faultyDatabase) {
	s := d.server
	clients, length := testsize.Of(24, 100), testsize.Of(time.Second, 10*time.Second) // the tests of several faults run at once
	wantValue(t, s, 5)
	wantAnswers(t, s)
	wantOldHistory(t, s, http.StatusOK)
	idle := latencies(t, s, length/4)
	before := usageOf(t, s)

	stop := crowd(t, s, clients)
	began, told := time.Now(), warnings(s)
	f.begin(t, d)
	busy := latencies(t, s, length)
	if f.reported != "" {
		limnomaptest.Within(t, patience, "/readyz reports it in "+f.reported, func() bool { return readyField(t, s, f.reported) != nil })
	}
	if f.reported == failedSince && s.Metric(t, reloadFailures) == 0 {
		t.Error("the metric counts no failed reload")
	}
	if f.reported == staleSince && s.Metric(t, "limnomap_snapshot_stale_seconds") <= 0 {
		t.Error("the metric does not say how old the data are")
	}
	limnomaptest.Within(t, patience, "the log says "+f.log, func() bool { return strings.Contains(eventLog(s), f.log) })
	if f.once {
		limnomaptest.Within(t, patience, "the log of events fails", func() bool { return s.Metric(t, "limnomap_event_log_failures_total") > 1 })
		if more := warnings(s)[len(told):]; len(more) != 1 {
			t.Errorf("want one line that the database does not answer:\n%s", strings.Join(more, ""))
		}
	}
	counts := stop()
	t.Logf("cached tiles: p99 %v idle, %v during the fault with %d clients, who got %v", idle, busy, clients, counts)
	wantAnswers(t, s)
	wantValue(t, s, 5)

	f.end(t, d)
	importValue(t, d.direct, 50)
	awaitValue(t, s, 50)
	for _, field := range []string{staleSince, failedSince} {
		limnomaptest.Within(t, patience, "/readyz no longer reports it", func() bool { return readyField(t, s, field) == nil })
	}
	limnomaptest.Within(t, patience, "histories are read again", func() bool { return s.StatusOf(oldHistoryPath) == http.StatusOK })
	var after usage
	limnomaptest.Within(t, patience, "goroutines and descriptors are as before", func() bool {
		after = usageOf(t, s)
		return after.goroutines <= before.goroutines+leftOver && after.sockets <= before.sockets+leftOver
	})
	t.Logf("peak %d MB, before %d MB; goroutines %v, before %v; descriptors %v, before %v", after.peak>>20, before.peak>>20,
		after.goroutines, before.goroutines, after.sockets, before.sockets)
	if after.peak > before.peak+faultMemory {
		t.Errorf("the peak of the memory grew from %d to %d MB, want at most %d more", before.peak>>20, after.peak>>20, faultMemory>>20)
	}
	log := eventLog(s)
	minutes := max(2, int(time.Since(began)/time.Minute)+1)
	if n := strings.Count(log, `msg="request failed"`); n > 2*minutes { // once a minute for histories, and for old maps
		t.Errorf("the log has %d lines about failed requests:\n%s", n, lastLines(log, 30))
	}
	if n := len(log); n > 100_000 {
		t.Errorf("the log has %d bytes:\n%.2000s", n, log)
	}
	stopCleanly(t, s)
}

// warnings returns the warnings and errors of the log that are about no request.
func warnings(s *limnomaptest.Server) (lines []string) {
	for line := range strings.Lines(eventLog(s)) {
		if (strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR")) && !strings.Contains(line, `msg="request failed"`) {
			lines = append(lines, line)
		}
	}
	return lines
}

// readyField returns a field of /readyz; nil for null. The server must be ready.
func readyField(t testing.TB, s *limnomaptest.Server, name string) any {
	t.Helper()
	var state map[string]any
	limnomaptest.GetJSON(t, s.Base+"/readyz", &state)
	if state["status"] != "ready" {
		t.Errorf("/readyz says %v, want ready", state["status"])
	}
	return state[name]
}

func wantOldHistory(t testing.TB, s *limnomaptest.Server, want int) {
	t.Helper()
	if got := s.StatusOf(oldHistoryPath); got != want {
		t.Errorf("a history that only the database has: %d, want %d", got, want)
	}
}
