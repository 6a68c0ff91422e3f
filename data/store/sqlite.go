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
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// How long a second importer waits for the first before it gives up: long enough for two million rows, short
	// enough for a person who interrupts it, since SQLite does not look up while it waits.
	busyTimeoutMS = "10000"
	// Without a limit the write-ahead log keeps the size of the largest import for ever, and where somebody reads at
	// each moment it even grows by every import.
	maxIdleLogBytes = 64 << 20
)

// A sqlite is a Store in one SQLite file.
type sqlite struct {
	loc       location
	now       func() time.Time
	foldAbove int64 // bytes of the log that an import folds back before it adds to them

	mu sync.RWMutex // guards what follows; held for reading for as long as a pool is in use
	// writer has one connection; its transactions take the write lock when they begin. Both pools are nil once
	// their file was replaced and the one in its place could not be opened.
	writer  *sql.DB
	readers *sql.DB // connections that cannot write
	opened  place
	closed  bool

	generation atomic.Int64 // how often the file was opened anew or found written to
	modified   atomic.Int64 // its time then, in nanoseconds since 1970
}

func openSQLite(ctx context.Context, loc location, create bool) (*sqlite, error) {
	s := &sqlite{loc: loc, now: time.Now, foldAbove: maxIdleLogBytes}
	if err := s.open(ctx, create); err != nil {
		return nil, fmt.Errorf("database %s: %w", loc.path, err)
	}
	return s, nil
}

// open opens both pools, or leaves both nil.
func (s *sqlite) open(ctx context.Context, create bool) error {
	loc := s.loc
	if err := checkFile(loc.path, create); err != nil {
		return err
	}
	if create {
		if err := makeFile(loc.path); err != nil {
			return explainSQLite(err)
		}
	}
	var err error
	s.writer, err = openPool(loc.url(sqliteParameters("_txlock", "immediate", "_journal_mode", "WAL",
		"_synchronous", "NORMAL", "_pragma", fmt.Sprintf("journal_size_limit(%d)", maxIdleLogBytes))), 1)
	if err == nil {
		// A reader in the middle of a long scan must not keep a request for one lake waiting.
		s.readers, err = openPool(loc.url(sqliteParameters("_query_only", "on")), max(4, 2*runtime.GOMAXPROCS(0)))
	}
	if err == nil {
		err = migrate(ctx, s.writer)
	}
	if err == nil {
		s.opened, err = placeOf(loc.path)
	}
	if err != nil {
		s.closePools() // may only repeat what err says
		return explainSQLite(err)
	}
	s.modified.Store(s.opened.file.ModTime().UnixNano())
	return nil
}

// sqliteParameters are those of any connection, and more of them as names and values in turn.
func sqliteParameters(more ...string) url.Values {
	v := url.Values{
		"_busy_timeout": {busyTimeoutMS},
		"_foreign_keys": {"on"},
		"_dqs":          {"false"},
		"_error_rc":     {"true"}, // otherwise a file that cannot be opened is reported as "out of memory"
		"mode":          {"rw"},
	}
	for i := 0; i < len(more); i += 2 {
		v[more[i]] = []string{more[i+1]}
	}
	return v
}

// checkFile says in plain words what SQLite would only number.
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

// explainSQLite puts the errors that an operator can do something about into words.
func explainSQLite(err error) error {
	const mayNotBeOpened = "the file may not be opened or made; see who may read and write it and its folder: %w"
	var e *sqlitedriver.Error
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf(mayNotBeOpened, err)
	case !errors.As(err, &e):
		return err
	}
	switch e.Code() & 0xff { // the low byte is the primary code, the rest a detail: sqlite.org/rescode.html
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("another process is writing to it; try again when it is done: %w", err)
	case sqlite3.SQLITE_PROTOCOL: // the locks that readers need were not to be had for ten seconds
		return fmt.Errorf("another process has locked it; try again when it is done: %w", err)
	case sqlite3.SQLITE_ERROR:
		if strings.Contains(err.Error(), "no such table") {
			return fmt.Errorf("the file was emptied or overwritten; put a copy in its place, or import into a new one: %w", err)
		}
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("the file is not an SQLite database: %w", err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("the file is damaged; put a copy in its place, or import into a new one: %w", err)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf(mayNotBeOpened, err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk is full: %w", err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("the file or its folder may not be written to: %w", err)
	}
	return err
}

// wrap says what was being done, to which database.
func (s *sqlite) wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s in %s: %w", doing, s.loc.path, explainSQLite(err))
}

// Close waits for what is under way to end.
func (s *sqlite) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.closePools()
}

// closePools closes the readers first, so that the writer, as the last one out, folds the log back into the file.
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
