//go:build unix && long

package faulttest

import (
	"database/sql"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	_ "modernc.org/sqlite"

	"limnomap/cmd/limnomap/limnomaptest"
)

// TestDatabaseLockedByAWriter holds the write lock, as a hanging import does. Readers do not need it.
func TestDatabaseLockedByAWriter(t *testing.T) {
	t.Parallel()
	db := newUniformDB(t, uniformLakes, 5)
	s := start(t, "--db", db.path, "--api-rate", "0")
	writer, err := sql.Open("sqlite", "file:"+db.path+"?_pragma=busy_timeout(10000)") // the server writes when it starts
	must(t, err)
	defer writer.Close()
	conn, err := writer.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
	must(t, err)

	wantHistory(t, s, 5)
	wantValue(t, start(t, "--db", db.path), 5) // another server can start meanwhile
	wantAnswers(t, s)
	if since := reloadFailedSince(t, s); since != "" {
		t.Errorf("/readyz reports a failed reload since %s, want none: a slow writer is not a failure", since)
	}
	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	must(t, err)
	importValue(t, db.path, 50)
	awaitValue(t, s, 50)
	stopCleanly(t, s)
}

// TestDatabaseLockedForReaders holds all locks that readers need, as a file system with broken locks may seem to do. The
// test mostly waits: SQLite waits ten seconds for such a lock, and the server asks more than once.
func TestDatabaseLockedForReaders(t *testing.T) {
	t.Parallel()
	db := newUniformDB(t, uniformLakes, 5)
	importOldValues(t, db)
	s := start(t, "--db", db.path, "--api-rate", "0", "--weeks", "1")
	index, err := os.OpenFile(db.path+"-shm", os.O_RDWR, 0)
	must(t, err)
	defer index.Close()
	// SQLite locks these eight bytes of the index of the write-ahead log: sqlite.org/walformat.html, section 2.3.
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: 120, Len: 8}
	must(t, syscall.FcntlFlock(index.Fd(), syscall.F_SETLKW, &lock))

	limnomaptest.Within(t, patience, "the metric counts the failed reload", func() bool { return s.Metric(t, reloadFailures) > 0 })
	if log := eventLog(s); !strings.Contains(log, "locked") && !strings.Contains(log, "deadline exceeded") {
		t.Errorf("the log does not say that the database is locked:\n%s", log)
	}
	if reloadFailedSince(t, s) == "" {
		t.Error("/readyz does not report the failed reload")
	}
	wantAnswers(t, s)
	wantValue(t, s, 5)
	wantHistory(t, s, 5)
	wantNoOldHistory(t, s, db.path)

	lock.Type = syscall.F_UNLCK
	must(t, syscall.FcntlFlock(index.Fd(), syscall.F_SETLK, &lock))
	limnomaptest.Within(t, patience, "/readyz reports no failed reload", func() bool { return reloadFailedSince(t, s) == "" })
	wantHistory(t, s, 5)
	stopCleanly(t, s)
}
