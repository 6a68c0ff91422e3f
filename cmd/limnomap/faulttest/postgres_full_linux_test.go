package faulttest

import (
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

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
	output, err := runCommand(t, "import", "observations", after, "--db", dsn)
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
