//go:build long

package faulttest

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"

	"github.com/jackc/pgx/v5"
)

// TestPostgresDiskFull fills the disk of a database in PostgreSQL. An import fails and says why, and writes nothing; the server keeps
// answering, from memory and from the database. When there is space again, the next import succeeds.
func TestPostgresDiskFull(t *testing.T) {
	t.Parallel()
	disk, dsn := newFullableDatabase(t)
	dir := t.TempDir()
	lakes, before, after := writeLakes(t, dir, uniformLakes), writeValues(t, dir, uniformLakes, 5), writeValues(t, t.TempDir(), uniformLakes, 50)
	importFile(t, "lakes", lakes, dsn)
	importFile(t, "observations", before, dsn)
	s := start(t, "--db", dsn, "--api-rate", "0")
	wantValue(t, s, 5)
	fill(t, disk)
	output, err := runCommand(t, "import", "observations", after, "--db", dsn, "--force")
	if err == nil || !strings.Contains(output, "the server's disk is full") {
		t.Errorf("the import on a full disk = %v, want an error that says so:\n%s", err, output)
	}
	wantValue(t, s, 5)
	wantHistory(t, s, 5)
	wantAnswers(t, s)
	must(t, os.Remove(filepath.Join(disk, filler)))
	importFile(t, "observations", after, dsn)
	awaitValue(t, s, 50)
	wantHistory(t, s, 50)
	stopCleanly(t, s)
	wantValue(t, start(t, "--db", dsn), 50)
}

// newFullableDatabase returns the URL of a new database whose tables are on a small file system of their own, and its folder.
func newFullableDatabase(t *testing.T) (disk, dsn string) {
	t.Helper()
	p := startPostgres(t)
	disk = filepath.Join(sharedFolder(t), "small")
	must(t, os.Mkdir(disk, 0o755))
	mountSmallDisk(t, disk, "32m")
	space := filepath.Join(disk, "tables")
	must(t, os.Mkdir(space, 0o700))
	owner, err := user.Lookup("postgres") // as whom .ci/postgres runs it for root
	must(t, err)
	uid, err := strconv.Atoi(owner.Uid)
	must(t, err)
	must(t, os.Chown(space, uid, -1))
	conn, err := pgx.Connect(t.Context(), p.url)
	must(t, err)
	defer conn.Close(t.Context())
	for _, statement := range []string{"CREATE TABLESPACE small LOCATION '" + space + "'", "CREATE DATABASE small TABLESPACE small"} {
		_, err := conn.Exec(t.Context(), statement)
		must(t, err)
	}
	u, err := url.Parse(p.url)
	must(t, err)
	u.Path = "/small"
	return disk, u.String()
}

// TestDatabaseConnectionsUsedUp takes all connections of a PostgreSQL, and restarts it in the middle of an import. The server goes on with the data in memory, and recovers.
func TestDatabaseConnectionsUsedUp(t *testing.T) {
	t.Parallel()
	p := startPostgres(t)
	execPostgres(t, p.url, "ALTER SYSTEM SET max_connections = 30")
	p.do(t, "stop")
	p.start(t)
	dir := t.TempDir()
	importFile(t, "lakes", writeLakes(t, dir, uniformLakes), p.url)
	importFile(t, "observations", writeValues(t, dir, uniformLakes, 5), p.url)
	importOldValues(t, uniformDB{path: p.url})
	s := start(t, "--db", p.url, "--weeks", "1", "--api-rate", "0")
	wantValue(t, s, 5)
	wantOldHistory(t, s, http.StatusOK)

	var held []*pgx.Conn
	release := func() {
		for _, conn := range held {
			_ = conn.Close(context.WithoutCancel(t.Context()))
		}
		held = nil
	}
	defer release()
	hold := func() {
		for len(held) < 100 {
			conn, err := pgx.Connect(t.Context(), p.url)
			if err != nil {
				return
			}
			held = append(held, conn)
		}
	}
	hold()
	limnomaptest.Within(t, patience, "the log says that there is no connection left", func() bool {
		// Each time: the server may be quicker than this test to connect again.
		_, err := held[0].Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'limnomap'")
		must(t, err)
		hold()
		return strings.Contains(eventLog(s), "raise its max_connections")
	})
	limnomaptest.Within(t, patience, "/readyz says that the data may be old", func() bool { return readyField(t, s, staleSince) != nil })
	wantAnswers(t, s)
	wantValue(t, s, 5)
	wantOldHistory(t, s, http.StatusServiceUnavailable)
	release()
	importValue(t, p.url, 50)
	awaitValue(t, s, 50)
	wantOldHistory(t, s, http.StatusOK)

	// A restart in the middle of an import and of the load that the server does all the time.
	importing, output := startCommand(t, "import", "observations", writeValues(t, dir, uniformLakes, 60), "--db", p.url, "--force")
	for range 5 {
		execPostgres(t, p.url, nextNumber)
		time.Sleep(20 * time.Millisecond)
	}
	p.kill(t)
	err := importing.Wait() // it may have been quicker
	t.Logf("the import during the restart: %v\n%s", err, output)
	wantAnswers(t, s)
	p.start(t)
	importValue(t, p.url, 70)
	awaitValue(t, s, 70)
	wantOldHistory(t, s, http.StatusOK)
	stopCleanly(t, s)
}
