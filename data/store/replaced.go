package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// An open file is not the one of its name for ever: an operator may move another over it, or remove it. What was
// opened would then be read, unchanged, until the next restart. So each use of the store compares the two, which
// costs one stat, and opens what it finds anew.

var (
	errReplaced = errors.New("the file was replaced under the running program")
	errRemoved  = fmt.Errorf("the file was removed under the running program: %w", fs.ErrNotExist)
	errClosed   = errors.New("it is closed")
)

// hold takes s.mu for reading if the open file is the one of its name, which it makes sure of by opening that one if
// need be. Without an error the caller must call s.mu.RUnlock.
func (s *sqlite) hold(ctx context.Context) error {
	s.mu.RLock()
	err := s.inPlace()
	if err == nil {
		return nil
	}
	s.mu.RUnlock()
	if errors.Is(err, errReplaced) || errors.Is(err, errRemoved) { // otherwise the old file may still be the right one
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

// inPlace returns an error unless the file that is open is still the one of its name. While it is open its number is
// not given to another file.
func (s *sqlite) inPlace() error {
	if s.closed {
		return errClosed
	}
	info, err := os.Stat(s.loc.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errRemoved
	case err != nil:
		return err
	case s.readers == nil || !os.SameFile(info, s.opened):
		return errReplaced
	}
	return nil
}

// reopen lets go of a file that is no longer in place, for the given reason, and opens the one that is.
func (s *sqlite) reopen(ctx context.Context, reason error) error {
	// Never by waiting: a waiting writer would stop new readers, also those that run inside of another's callback.
	if !s.mu.TryLock() {
		return fmt.Errorf("%w; it is opened anew once the reads of the old one have ended", reason)
	}
	defer s.mu.Unlock()
	if s.inPlace() == nil {
		return nil // somebody else was quicker
	}
	if s.readers != nil {
		if err := s.fold(ctx); err != nil {
			return fmt.Errorf("%w; the old file's write-ahead log cannot be emptied: %w", reason, s.explain(err))
		}
		s.closePools() // nobody needs the old file, and what it says of it
	}
	if errors.Is(reason, errRemoved) {
		return reason
	}
	if err := s.open(ctx, false); err != nil {
		return fmt.Errorf("%w, and the new one cannot be used: %w", errReplaced, err)
	}
	s.generation++
	return nil
}

// fold writes the log back into the file that it belongs to and empties it. SQLite leaves the log of a file that has
// moved where it is, and would take it for that of the new file, whose pages it would then overlay with those of the
// old one (sqlite.org/howtocorrupt.html, section 1.4).
func (s *sqlite) fold(ctx context.Context) error {
	if _, err := s.writer.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil { // on its only connection
		return err
	}
	var busy, frames, folded int64
	if err := s.writer.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &folded); err != nil {
		return err
	}
	if busy != 0 {
		return errors.New("another process still uses it")
	}
	return nil
}
