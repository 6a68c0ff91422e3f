package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"limnomap/data"
)

// ErrClaimLost says that a refresh is no longer its holder's: its claim ended and another process took it.
var ErrClaimLost = errors.New("another process has taken over the refresh")

// MaxClockSkew is how far the clocks of processes that refresh one database may be apart. What seems to have been done
// later than that from now was done by a wrong clock: believed, it would put off refreshes until that time has come.
const MaxClockSkew = time.Hour

// A Refreshes remembers how a database was refreshed from its source, and lets one process at a time do it.
type Refreshes interface {
	// Refresh returns what became of the refreshes so far.
	Refresh(ctx context.Context) (data.Refresh, error)
	// RefreshFiles returns what the last refresh that took all of its source knew of its files, by key.
	RefreshFiles(ctx context.Context) ([]data.RefreshFile, error)
	// ClaimRefresh begins a refresh for holder, a name that nobody else has, for so long; it reports false if another
	// process holds one or the state is no longer that of the given turn. A claim that would end more than
	// [MaxClockSkew] after this one is nobody's. A claim that was left by a process that
	// ended counts as a failure, and ends with its time.
	ClaimRefresh(ctx context.Context, turn int64, holder string, lease time.Duration) (bool, error)
	// ExtendRefresh makes holder's claim last so long from now; ErrClaimLost if it has none.
	ExtendRefresh(ctx context.Context, holder string, lease time.Duration) error
	// EndRefresh ends holder's refresh, one that imports nothing; ErrClaimLost if it has none.
	EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error
}

func (s *sqlite) Refresh(ctx context.Context) (data.Refresh, error) {
	if err := s.hold(ctx); err != nil {
		return data.Refresh{}, err
	}
	defer s.mu.RUnlock()
	var r data.Refresh
	err := s.read(ctx, func(tx *sql.Tx) error {
		var attempted, succeeded, held sql.NullInt64
		err := tx.QueryRowContext(ctx, `SELECT turn, attempted_at, succeeded_at, error, failures,
			added, changed, unchanged, rejected, held_until FROM refresh`).Scan(&r.Turn, &attempted, &succeeded, &r.LastError, &r.Failures,
			&r.Rows.Added, &r.Rows.Changed, &r.Rows.Unchanged, &r.Rows.Rejected, &held)
		r.LastAttempt, r.LastSuccess, r.HeldUntil = timeOrZero(attempted), timeOrZero(succeeded), timeOrZero(held)
		return err
	})
	if err != nil {
		return data.Refresh{}, s.wrap(err, "read the last refresh")
	}
	return r, nil
}

func (s *sqlite) RefreshFiles(ctx context.Context) ([]data.RefreshFile, error) {
	if err := s.hold(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	var files []data.RefreshFile
	err := s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, "SELECT key, sha256, etag, last_modified FROM refresh_files ORDER BY key")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var f data.RefreshFile
			var sum []byte
			if err := rows.Scan(&f.Key, &sum, &f.ETag, &f.LastModified); err != nil {
				return err
			}
			copy(f.SHA256[:], sum)
			files = append(files, f)
		}
		return rows.Err()
	})
	return files, s.wrap(err, "read the files of the last refresh")
}

func (s *sqlite) ClaimRefresh(ctx context.Context, turn int64, holder string, lease time.Duration) (bool, error) {
	claimed := false
	now := s.now()
	err := s.alter(ctx, "begin a refresh", func(tx *sql.Tx) error {
		// Whoever held it until now never ended it.
		result, err := tx.ExecContext(ctx, `UPDATE refresh SET turn = turn + 1, failures = failures + (holder <> ''),
				attempted_at = ?1, holder = ?2, held_until = ?3
			WHERE turn = ?4 AND (holder = '' OR held_until <= ?1 OR held_until > ?5)`,
			now.Unix(), holder, now.Add(lease).Unix(), turn, now.Add(lease+MaxClockSkew).Unix())
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		claimed = n > 0
		return err
	})
	return claimed && err == nil, err
}

func (s *sqlite) ExtendRefresh(ctx context.Context, holder string, lease time.Duration) error {
	return s.alter(ctx, "extend a refresh", func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "UPDATE refresh SET held_until = ? WHERE holder = ?", s.now().Add(lease).Unix(), holder)
		return heldBy(holder, result, err)
	})
}

func (s *sqlite) EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error {
	return s.alter(ctx, "end a refresh", func(tx *sql.Tx) error { return endRefresh(ctx, tx, s.now(), holder, result) })
}

func (t *sqliteTx) EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error {
	err := endRefresh(ctx, t.tx, t.store.now(), holder, result)
	if err == nil || errors.Is(err, ErrClaimLost) {
		return err
	}
	return t.fail(ctx, err, "end a refresh")
}

func endRefresh(ctx context.Context, tx *sql.Tx, now time.Time, holder string, r data.RefreshResult) error {
	rows := r.Rows
	if rows == nil {
		rows = new(data.RefreshRows)
	}
	result, err := tx.ExecContext(ctx, `UPDATE refresh SET turn = turn + 1, holder = '', held_until = NULL, error = ?2,
			failures = iif(?2 = '', 0, failures + 1), succeeded_at = iif(?2 = '', ?3, succeeded_at),
			added = iif(?4, ?5, added), changed = iif(?4, ?6, changed), unchanged = iif(?4, ?7, unchanged), rejected = iif(?4, ?8, rejected)
		WHERE holder = ?1`, holder, r.Error, now.Unix(), r.Rows != nil, rows.Added, rows.Changed, rows.Unchanged, rows.Rejected)
	if err := heldBy(holder, result, err); err != nil || r.Files == nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM refresh_files"); err != nil {
		return err
	}
	for _, f := range r.Files {
		_, err := tx.ExecContext(ctx, "INSERT INTO refresh_files (key, sha256, etag, last_modified) VALUES (?, ?, ?, ?)",
			f.Key, f.SHA256[:], f.ETag, f.LastModified)
		if err != nil {
			return err
		}
	}
	return nil
}

// heldBy returns ErrClaimLost if a statement found no refresh of holder's. The empty name is nobody's.
func heldBy(holder string, result sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err == nil && (n == 0 || holder == "") {
		return ErrClaimLost
	}
	return err
}

// alter runs fn in a transaction that writes, and imports nothing.
func (s *sqlite) alter(ctx context.Context, doing string, fn func(*sql.Tx) error) error {
	if err := s.hold(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(err, doing)
	}
	defer tx.Rollback() // after a commit this does nothing
	switch err := fn(tx); {
	case errors.Is(err, ErrClaimLost):
		return err
	case err != nil:
		return s.wrap(err, doing)
	}
	return s.wrap(tx.Commit(), doing)
}
