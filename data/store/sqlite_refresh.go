package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"limnomap/data"
)

func (s *sqlite) Refresh(ctx context.Context) (data.Refresh, error) {
	if err := s.hold(ctx); err != nil {
		return data.Refresh{}, err
	}
	defer s.mu.RUnlock()
	var r data.Refresh
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		r, err = scanRefresh(tx.QueryRowContext(ctx, "SELECT "+refreshColumns+" FROM refresh"))
		return err
	})
	return r, s.wrap(err, "read the last refresh")
}

func (s *sqlite) RefreshFiles(ctx context.Context) ([]data.RefreshFile, error) {
	if err := s.hold(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	var files []data.RefreshFile
	err := s.read(ctx, func(tx *sql.Tx) error {
		return withRows(ctx, tx, func(rows *sql.Rows) (err error) {
			files, err = scanRefreshFiles(rows)
			return err
		}, "SELECT "+refreshFileColumns+" FROM refresh_files ORDER BY key")
	})
	return files, s.wrap(err, "read the files of the last refresh")
}

func (s *sqlite) ClaimRefresh(ctx context.Context, turn int64, holder string, lease time.Duration) (bool, error) {
	claimed := false
	now := s.now()
	err := s.update(ctx, "begin a refresh", func(tx *sql.Tx) error {
		// A holder that is replaced has not ended its refresh, which counts as a failure.
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
	return s.update(ctx, "extend a refresh", func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "UPDATE refresh SET held_until = ? WHERE holder = ?", s.now().Add(lease).Unix(), holder)
		return heldBy(holder, result, err)
	})
}

func (s *sqlite) EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error {
	return s.update(ctx, "end a refresh", func(tx *sql.Tx) error { return endRefresh(ctx, tx, s.now(), holder, result) })
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
		_, err := tx.ExecContext(ctx, "INSERT INTO refresh_files ("+refreshFileColumns+") VALUES (?, ?, ?, ?)",
			f.Key, f.SHA256[:], f.ETag, f.LastModified)
		if err != nil {
			return err
		}
	}
	return nil
}

// heldBy returns ErrClaimLost if a statement found no claim of holder. The empty name never has one.
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

// update runs fn in a transaction that writes.
func (s *sqlite) update(ctx context.Context, doing string, fn func(*sql.Tx) error) error {
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
