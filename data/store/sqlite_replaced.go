package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"limnomap/data"
)

// An operator may restore a backup over the database file of a running server, or remove the file. SQLite would then go on
// reading the file that it has open, without an error, until the next restart. So each use of the store compares the open
// files with those on disk, which takes three calls of stat, and reopens the database if they differ.

var (
	errReplaced   = errors.New("the file was replaced under the running program")
	errRemoved    = fmt.Errorf("the file was removed under the running program: %w", fs.ErrNotExist)
	errInUse      = errors.New("another process still uses it")
	errNothingYet = errors.New("nothing has been imported into the new file yet")
	errClosed     = errors.New("it is closed")
)

// fileEnds are appended to the path of a database for its files: the database itself, its write-ahead log, and the
// index of the log that processes share.
var fileEnds = [...]string{"", "-wal", "-shm"}

// dbFiles are the files of a database; nil for one that does not exist.
type dbFiles [len(fileEnds)]os.FileInfo

func statFiles(path string) (files dbFiles, err error) {
	for i, end := range fileEnds {
		if files[i], err = os.Stat(path + end); err != nil && (i == 0 || !errors.Is(err, fs.ErrNotExist)) {
			return files, err
		}
	}
	return files, nil
}

// hold locks s.mu for reading once the open files are those on disk, which it reopens if necessary. If it returns no
// error, the caller must call s.mu.RUnlock.
func (s *sqlite) hold(ctx context.Context) error {
	s.mu.RLock()
	err := s.checkOpenFiles()
	if err == nil {
		return nil
	}
	s.mu.RUnlock()
	if errors.Is(err, errReplaced) || errors.Is(err, errRemoved) { // after other errors the open file may be the right one
		if err = s.reopen(ctx, err); err == nil {
			s.mu.RLock()
			if err = s.checkOpenFiles(); err == nil {
				return nil
			}
			s.mu.RUnlock() // replaced once more
		}
	}
	return &Error{err: fmt.Errorf("database %s: %w", s.loc.path, err)}
}

// checkOpenFiles returns an error unless the open files are those on disk. A removed file keeps its identity while it is open.
func (s *sqlite) checkOpenFiles() error {
	if s.closed {
		return errClosed
	}
	now, err := statFiles(s.loc.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errRemoved
	case err != nil:
		return err
	case s.readers == nil:
		return errReplaced
	}
	for i, opened := range s.files {
		if opened != nil && !os.SameFile(now[i], opened) {
			return errReplaced
		}
	}
	if old := s.files[0]; s.frozen != "" && (isLogged(s.loc.path) || now[0].Size() != old.Size() || !now[0].ModTime().Equal(old.ModTime())) {
		return errReplaced // the file system is no longer read-only, or not for everybody; or the disk is no longer full
	}
	// A file that became shorter was truncated, or another one is being written over it. After VACUUM the data are loaded once more than necessary.
	if size := now[0].Size(); s.size.Swap(size) > size {
		s.generation.Add(1)
	}
	return nil
}

// reopen closes the open files, which are not those on disk for the given reason, and opens those on disk.
func (s *sqlite) reopen(ctx context.Context, reason error) error {
	// It must not wait: a waiting writer would block new readers, also those inside the callback of another one.
	if !s.mu.TryLock() {
		return fmt.Errorf("%w; it is reopened when the reads of the old file have ended", reason)
	}
	defer s.mu.Unlock()
	if s.checkOpenFiles() == nil {
		return nil // another goroutine has reopened it
	}
	wasOpen, opened := s.readers != nil, s.files[0]
	if err := s.closeReplaced(ctx); err != nil {
		return fmt.Errorf("%w; the old file's write-ahead log cannot be emptied: %w", reason, err)
	}
	if errors.Is(reason, errRemoved) {
		return reason
	}
	if err := s.open(ctx, false, 0); err != nil {
		return fmt.Errorf("%w, and the new file cannot be used: %w", reason, err)
	}
	s.generation.Add(1)
	// A new, still empty database is being filled by an import. Until then an error is better than serving no lakes. If only
	// the log was removed, the database is not new.
	isNew := !wasOpen || !os.SameFile(opened, s.files[0])
	var r data.Revision
	err := s.read(ctx, func(q querier) (err error) {
		r, err = readRevision(ctx, q)
		return err
	})
	if err == nil && r.Number == 0 && isNew {
		err = errNothingYet
	}
	if err != nil {
		s.closePools() // the next use reopens it
		return fmt.Errorf("%w: %w", reason, explainSQLite(s.loc.path, err))
	}
	return nil
}

// closeReplaced closes the old file with an empty log. SQLite would leave the log of a file that was moved away, and then
// apply it to the new file of that name, which damages that (sqlite.org/howtocorrupt.html, section 1.4). If the log cannot
// be emptied because it or its file is damaged, closeReplaced removes it.
func (s *sqlite) closeReplaced(ctx context.Context) error {
	if s.readers == nil {
		return nil
	}
	damage := s.emptyLog(ctx)
	if errors.Is(damage, errInUse) {
		return damage
	}
	opened := s.files
	s.closePools() // errors of the old file do not matter
	if damage == nil {
		return nil
	}
	for i, end := range fileEnds {
		name := s.loc.path + end
		if info, err := os.Stat(name); err == nil && end != "" && os.SameFile(info, opened[i]) {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// emptyLog copies the log into the file that it belongs to and truncates it.
func (s *sqlite) emptyLog(ctx context.Context) error {
	if _, err := s.writer.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil { // on its only connection
		return err
	}
	var busy, frames, copied int64
	err := s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &copied)
	var e *sqlitedriver.Error
	if busy != 0 || errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		return errInUse
	}
	return err
}
