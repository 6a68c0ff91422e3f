//go:build unix

package main

import (
	"database/sql"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// TestFaultDatabaseLockedByAWriter holds the database as an import does that hangs. Readers need no lock of a writer.
func TestFaultDatabaseLockedByAWriter(t *testing.T) {
	t.Parallel()
	db := newUniformDB(t, uniformLakes, 5)
	p := startReady(t, "--db", db.path, "--api-rate", "0")
	writer, err := sql.Open("sqlite", db.path)
	mustDo(t, err)
	defer writer.Close()
	conn, err := writer.Conn(t.Context())
	mustDo(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
	mustDo(t, err)

	wantHistory(t, p, 5)
	wantShown(t, startReady(t, "--db", db.path), 5) // another server can start meanwhile
	wantAnswers(t, p)
	if since := refreshFailedSince(t, p); since != "" {
		t.Errorf("a writer that takes its time is no failure, but /readyz tells of one since %s", since)
	}
	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	mustDo(t, err)
	mustExec(t, "import", "observations", writeValues(t, t.TempDir(), uniformLakes, 50), "--db", db.path)
	awaitShown(t, p, reloadTime, 50)
	wantQuietEnd(t, p)
}

// TestFaultDatabaseLocked takes all locks that readers need, as a file system without working locks may seem to. It
// takes long and does little: SQLite waits ten seconds for such a lock, and the server asks more than once.
func TestFaultDatabaseLocked(t *testing.T) {
	t.Parallel()
	db := newUniformDB(t, uniformLakes, 5)
	addOldValues(t, db)
	p := startReady(t, "--db", db.path, "--api-rate", "0", "--weeks", "1")
	index, err := os.OpenFile(db.path+"-shm", os.O_RDWR, 0)
	mustDo(t, err)
	defer index.Close()
	// The eight bytes that SQLite locks in the log's index: sqlite.org/walformat.html, section 2.3.
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: 120, Len: 8}
	mustDo(t, syscall.FcntlFlock(index.Fd(), syscall.F_SETLKW, &lock))

	limnomaptest.Within(t, reloadTime, "the metric tells of the failed refresh", func() bool { return p.metric(t, refreshFailures) > 0 })
	if log := events(p); !strings.Contains(log, "has locked it") && !strings.Contains(log, "deadline exceeded") {
		t.Errorf("the log does not say that the database is locked:\n%s", log)
	}
	if refreshFailedSince(t, p) == "" {
		t.Error("/readyz does not tell of the failed refresh")
	}
	wantAnswers(t, p)
	wantShown(t, p, 5)
	wantHistory(t, p, 5)
	wantNoOldHistory(t, p, db.path)

	lock.Type = syscall.F_UNLCK
	mustDo(t, syscall.FcntlFlock(index.Fd(), syscall.F_SETLK, &lock))
	limnomaptest.Within(t, reloadTime, "/readyz tells that refreshing works again", func() bool { return refreshFailedSince(t, p) == "" })
	wantHistory(t, p, 5)
	wantQuietEnd(t, p)
}
