package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"limnomap/data/diskspace"

	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// How long a second importer waits for the first before it gives up: long enough for two million rows, and short enough
	// for a person who wants to interrupt it, since SQLite cannot be interrupted while it waits.
	busyTimeoutMS = "10000"
	// Without this limit the write-ahead log keeps the size of the largest import, and if there is always a reader, it
	// grows with each import.
	maxIdleLogBytes = 64 << 20
)

// sqlite is a Store in an SQLite file.
type sqlite struct {
	Store
	loc         location
	upgrade     Upgrade
	maxLogBytes int64 // size of the log above which an import first copies it into the file
	// maxKnownKeys is how many lake numbers an import caches before it reads those of all lakes.
	maxKnownKeys int
	// groupRows is how many observations of an import one statement inserts.
	groupRows int
	// parallelLakes is from how many lakes on observations are read on several processors.
	parallelLakes int
	scanned       atomic.Bool // whether a scan has read them so, to its end

	mu sync.RWMutex // guards the fields up to closed; locked for reading while a pool is in use
	// writer has one connection; its transactions take the write lock when they begin. Both pools are nil if the file
	// was replaced and the new file could not be opened.
	writer  *sql.DB
	readers *sql.DB // connections that cannot write
	files   dbFiles // when they were opened
	closed  bool
	frozen  string // why the readers take the file for one that nobody changes, see openReaders; empty if they do not

	generation atomic.Int64 // counts how often the file was reopened or had become shorter
	size       atomic.Int64 // of the file when it was last looked at
}

func openSQLite(ctx context.Context, loc location, create bool, upgrade Upgrade) (*sqlite, error) {
	s := &sqlite{loc: loc, upgrade: upgrade, maxLogBytes: maxIdleLogBytes, maxKnownKeys: maxKnownKeys, groupRows: groupRows, parallelLakes: parallelLakes}
	s.Store = Store{s, dialect{scan: scanQuery, past: pastQuery, sampled: sqliteSampled, nearSamples: sqliteNearSamples,
		newestReading: sqliteNewestReading, readings: sqliteReadings, forecasts: sqliteForecasts, forgetSampled: forgetSampled, now: "0.0", lag: "NULL"}, time.Now, usualReaders(), loc.path}
	if err := s.open(ctx, create, creationPatience); err != nil {
		return nil, fmt.Errorf("database %s: %w", loc.path, err)
	}
	return s, nil
}

// open opens both pools, or leaves both nil. It waits no longer than patience for the first page of a new file.
func (s *sqlite) open(ctx context.Context, create bool, patience time.Duration) error {
	loc := s.loc
	if err := checkFile(loc.path, create); err != nil {
		return err
	}
	if create {
		if err := makeFile(loc.path); err != nil {
			return explainSQLite(loc.path, err)
		}
	}
	if err := refuseEmpty(ctx, loc.path, patience); err != nil {
		return err
	}
	var err error
	s.writer, err = openPool(loc.url(sqliteParameters("_txlock", "immediate", "_journal_mode", "WAL",
		"_synchronous", "NORMAL", "_pragma", "secure_delete(on)", "_pragma", fmt.Sprintf("journal_size_limit(%d)", maxIdleLogBytes))), 1)
	if err == nil {
		s.readers, s.frozen, err = openReaders(ctx, loc, usualReaders())
	}
	if err == nil {
		err = s.migrate(ctx)
	}
	if err == nil {
		s.files, err = statFiles(loc.path)
	}
	if s.frozen != "" { // the readers use only the file; a writer that fails leaves the others, empty
		s.files[1], s.files[2] = nil, nil
	}
	if err != nil {
		s.closePools() // its errors would repeat err
		return explainSQLite(loc.path, err)
	}
	s.size.Store(s.files[0].Size())
	return nil
}

// sqliteParameters are the parameters of each connection, and more of them as names and values in turn.
func sqliteParameters(more ...string) url.Values {
	v := url.Values{
		"_busy_timeout": {busyTimeoutMS},
		"_foreign_keys": {"on"},
		"_dqs":          {"false"},
		"_error_rc":     {"true"}, // otherwise SQLite reports a file that cannot be opened as "out of memory"
		"mode":          {"rw"},
	}
	for i := 0; i < len(more); i += 2 {
		if more[i] != "_pragma" {
			v.Del(more[i])
		}
		v.Add(more[i], more[i+1])
	}
	return v
}

// checkFile checks that the file can be opened. Its errors are clearer than SQLite's.
func checkFile(path string, create bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("this is a folder; " + wantFile)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case !create:
		return fmt.Errorf("%w; `limnomap import lakes FILE --db %s` makes one", fs.ErrNotExist, path)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("its folder: %w", err)
	}
	return nil
}

func openPool(dsn string, connections int) (*sql.DB, error) {
	c, err := sqlitedriver.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// openReaders opens connections that cannot write. Where SQLite cannot make its files beside a database, on a read-only file system or a full disk, they take
// it for one that nobody changes, and frozen says why. It must have no log then: that is a part of the database, and only a connection that can write applies it.
func openReaders(ctx context.Context, loc location, connections int) (db *sql.DB, frozen string, err error) {
	if frozen = frozenBy(loc.path); frozen == "" {
		db, err = openPool(loc.url(sqliteParameters("_query_only", "on")), connections)
		if err != nil {
			return nil, "", err
		}
		if _, err := db.ExecContext(ctx, "SELECT 1 FROM sqlite_schema"); err == nil || !isFull(loc.path, err) { // another error comes again
			return db, "", nil
		}
		db.Close()
		frozen = "its disk is full"
	}
	if log := loc.path + fileEnds[1]; isLogged(loc.path) {
		return nil, "", fmt.Errorf("%s, and its log %s has changes that are not in it yet: "+
			"make it writable, or copy both to a folder that can be written to", frozen, log)
	}
	db, err = openPool(loc.url(sqliteParameters("_query_only", "on", "mode", "ro", "immutable", "1")), connections)
	return db, frozen, err
}

// frozenBy tells that a database is on a read-only file system, and no other process has it open, which may see that file system as a writable one.
func frozenBy(path string) string {
	info, err := os.Stat(path + fileEnds[2])
	if unused := errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < leastIndex; unused && diskspace.ReadOnly(path) {
		return "its file system is read-only"
	}
	return ""
}

// isFull reports whether SQLite's error is that a file beside the database cannot be made or written, and the disk is full.
func isFull(path string, err error) bool {
	var e *sqlitedriver.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff { // the low byte is the primary code, the rest a detail: sqlite.org/rescode.html
	case sqlite3.SQLITE_FULL:
		return true
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return diskspace.Full(filepath.Dir(path), indexBytes)
	}
	return false
}

// isLogged reports whether a database has a log with changes.
func isLogged(path string) bool {
	info, err := os.Stat(path + fileEnds[1])
	return err == nil && info.Size() > 0
}

// indexBytes is what SQLite needs for the index of a log: with less room, it reports an error of input and output.
const indexBytes = 64 << 10

// leastIndex is the size of an index in use. A process that found no room for one leaves some bytes.
const leastIndex = 32 << 10

// explainSQLite adds an explanation to errors of a database that an operator can resolve.
func explainSQLite(path string, err error) error {
	const mayNotBeOpened = "no permission to open or create the file; check the permissions of the file and its folder: %w"
	var e *sqlitedriver.Error
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf(mayNotBeOpened, err)
	case !errors.As(err, &e):
		return err
	}
	code := e.Code() & 0xff
	if (code == sqlite3.SQLITE_CANTOPEN || code == sqlite3.SQLITE_READONLY) && diskspace.ReadOnly(filepath.Dir(path)) {
		return fmt.Errorf("its file system is read-only: %w", err)
	}
	if isFull(path, err) {
		return fmt.Errorf("the disk is full: %w", err)
	}
	switch code {
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("another process is writing to it; try again when it is done: %w", err)
	case sqlite3.SQLITE_PROTOCOL: // no lock for readers was free for ten seconds
		return fmt.Errorf("another process has locked it; try again when it is done: %w", err)
	case sqlite3.SQLITE_ERROR:
		if strings.Contains(err.Error(), "no such table") {
			return fmt.Errorf("the file was emptied or overwritten; replace it with a backup, or import into a new file: %w", err)
		}
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("the file is not an SQLite database, or was emptied; replace it with a backup, or import into a new file: %w", err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("the file is damaged; replace it with a backup, or import into a new file: %w", err)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf(mayNotBeOpened, err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("no permission to write to the file or its folder: %w", err)
	}
	return err
}

// wrap adds the operation and the database to an error, except to a callerError.
func (s *sqlite) wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	if err, ok := forCaller(err); ok {
		return err
	}
	return &Error{err: fmt.Errorf("%s in %s: %w", doing, s.loc.path, explainSQLite(s.loc.path, err))}
}

func (s *sqlite) listen(ctx context.Context, _ chan<- struct{}) { <-ctx.Done() }

func (s *sqlite) readOnly() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.frozen
}

func (s *sqlite) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.closePools()
}

// closePools closes the readers first, so that the writer, as the last connection, copies the log into the file.
func (s *sqlite) closePools() error {
	var errs []error
	for _, db := range []*sql.DB{s.readers, s.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	s.readers, s.writer = nil, nil
	return errors.Join(errs...)
}
