package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"

	sqlitedriver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// An open file is not the one of its name for ever: an operator may move another over it, write over it, or remove it.
// What was opened would then be read, unchanged, until the next restart. So each use of the store compares the two,
// which costs three calls of stat, and opens what it finds anew.

var (
	errReplaced   = errors.New("the file was replaced under the running program")
	errRemoved    = fmt.Errorf("the file was removed under the running program: %w", fs.ErrNotExist)
	errLogRemoved = errors.New("the log beside the file was removed under the running program")
	errInUse      = errors.New("another process still uses it")
	errNothingYet = errors.New("nothing has been imported into the new one yet")
	errClosed     = errors.New("it is closed")
)

// companions are the ends of the names of what SQLite keeps beside a file: the log, and the index of the log that the
// processes share.
var companions = [...]string{"-wal", "-shm"}

// A place is which files bore the names of a database and its companions; of one that there was not it holds nil.
type place struct {
	file   os.FileInfo
	beside [len(companions)]os.FileInfo
}

func placeOf(path string) (p place, err error) {
	if p.file, err = os.Stat(path); err != nil {
		return place{}, err
	}
	for i, end := range companions {
		p.beside[i], err = os.Stat(path + end)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return place{}, err
		}
	}
	return p, nil
}

// hold takes s.mu for reading if the open file is the one of its name, which it makes sure of by opening that one if
// need be. Without an error the caller must call s.mu.RUnlock.
func (s *sqlite) hold(ctx context.Context) error {
	s.mu.RLock()
	err := s.inPlace()
	if err == nil {
		return nil
	}
	s.mu.RUnlock()
	if errors.Is(err, errReplaced) || errors.Is(err, errRemoved) || errors.Is(err, errLogRemoved) { // otherwise the old file may still be the right one
		if err = s.reopen(ctx, err); err == nil {
			s.mu.RLock()
			if err = s.inPlace(); err == nil {
				return nil
			}
			s.mu.RUnlock() // replaced once more
		}
	}
	return fmt.Errorf("database %s: %w", s.loc.path, err)
}

// inPlace returns an error unless the files that are open are still those of their names. While one is open its number
// is not given to another file.
func (s *sqlite) inPlace() error {
	if s.closed {
		return errClosed
	}
	now, err := placeOf(s.loc.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errRemoved
	case err != nil:
		return err
	case s.readers == nil || !os.SameFile(now.file, s.opened.file):
		return errReplaced
	}
	for i, opened := range s.opened.beside {
		if opened != nil && (now.beside[i] == nil || !os.SameFile(now.beside[i], opened)) {
			return errLogRemoved
		}
	}
	// Whoever writes over a file leaves no other trace than its time. So does SQLite when it folds a log back, after
	// which a snapshot is loaded once more than need be.
	if modified := now.file.ModTime().UnixNano(); s.modified.Swap(modified) != modified {
		s.generation.Add(1)
	}
	return nil
}

// reopen lets go of files that are no longer in place, for the given reason, and opens those that are.
func (s *sqlite) reopen(ctx context.Context, reason error) error {
	// Never by waiting: a waiting writer would stop new readers, also those that run inside of another's callback.
	if !s.mu.TryLock() {
		return fmt.Errorf("%w; it is opened anew once the reads of the old one have ended", reason)
	}
	defer s.mu.Unlock()
	if s.inPlace() == nil {
		return nil // somebody else was quicker
	}
	if err := s.letGo(ctx); err != nil {
		return fmt.Errorf("%w; the old file's write-ahead log cannot be emptied: %w", reason, err)
	}
	if errors.Is(reason, errRemoved) {
		return reason
	}
	if err := s.open(ctx, false); err != nil {
		return fmt.Errorf("%w, and the new one cannot be used: %w", reason, err)
	}
	s.generation.Add(1)
	if errors.Is(reason, errLogRemoved) {
		return nil
	}
	// Whoever makes a file anew has not filled it yet. Until then the data of before are worth more than none.
	var r int64
	err := s.read(ctx, func(tx *sql.Tx) error {
		revision, err := s.revision(ctx, tx)
		r = revision.Number
		return err
	})
	if err == nil && r == 0 {
		err = errNothingYet
	}
	if err != nil {
		s.closePools() // to be opened anew
		return fmt.Errorf("%w: %w", reason, explainSQLite(err))
	}
	return nil
}

// letGo closes the old file, with its log folded back: SQLite leaves the log of a file that has moved where it is, and
// would take it for that of the new file, whose pages it would then overlay with those of the old one
// (sqlite.org/howtocorrupt.html, section 1.4). A log that cannot be folded, because it or its file is damaged, has
// nothing to give to either.
func (s *sqlite) letGo(ctx context.Context) error {
	if s.readers == nil {
		return nil
	}
	damage := s.fold(ctx)
	if errors.Is(damage, errInUse) {
		return damage
	}
	opened := s.opened
	s.closePools() // nobody needs the old file, and what it says of it
	if damage == nil {
		return nil
	}
	for i, end := range companions {
		name := s.loc.path + end
		if info, err := os.Stat(name); err == nil && opened.beside[i] != nil && os.SameFile(info, opened.beside[i]) {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// fold writes the log back into the file that it belongs to and empties it.
func (s *sqlite) fold(ctx context.Context) error {
	if _, err := s.writer.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil { // on its only connection
		return err
	}
	var busy, frames, folded int64
	err := s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &folded)
	var e *sqlitedriver.Error
	if busy != 0 || errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		return errInUse
	}
	return err
}

// makeFile makes an empty file where there is none. Beside it there may still be the log of one that was removed under
// a running server, which keeps it open: SQLite would share it with that server, as if both were of the same file, and
// what is imported then would be lost. Without their names the server's files are its own.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	errs := []error{f.Close()}
	for _, end := range companions {
		if err := os.Remove(path + end); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
