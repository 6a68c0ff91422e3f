package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"limnomap/data"
)

func (s *postgres) Refresh(ctx context.Context) (data.Refresh, error) {
	if err := s.prepare(ctx, false); err != nil {
		return data.Refresh{}, err
	}
	r, err := scanRefresh(s.pool.QueryRow(ctx, "SELECT "+refreshColumns+" FROM limnomap.refresh"))
	return r, s.wrap(err, "read the last refresh")
}

func (s *postgres) RefreshFiles(ctx context.Context) ([]data.RefreshFile, error) {
	if err := s.prepare(ctx, false); err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, "SELECT "+refreshFileColumns+" FROM limnomap.refresh_files ORDER BY key")
	if err != nil {
		return nil, s.wrap(err, "read the files of the last refresh")
	}
	defer rows.Close()
	files, err := scanRefreshFiles(rows)
	return files, s.wrap(err, "read the files of the last refresh")
}

func (s *postgres) ClaimRefresh(ctx context.Context, turn int64, holder string, lease time.Duration) (bool, error) {
	now := s.now()
	// A holder that is replaced has not ended its refresh, which counts as a failure. Of two concurrent calls the second
	// waits for the first, and then finds another turn.
	result, err := s.update(ctx, `UPDATE limnomap.refresh SET turn = turn + 1, failures = failures + (holder <> '')::integer,
			attempted_at = $1, holder = $2, held_until = $3
		WHERE turn = $4 AND (holder = '' OR held_until <= $1 OR held_until > $5)`,
		now.Unix(), holder, now.Add(lease).Unix(), turn, now.Add(lease+MaxClockSkew).Unix())
	return result.RowsAffected() > 0, s.wrap(err, "begin a refresh")
}

func (s *postgres) ExtendRefresh(ctx context.Context, holder string, lease time.Duration) error {
	result, err := s.update(ctx, "UPDATE limnomap.refresh SET held_until = $1 WHERE holder = $2 AND holder <> ''", s.now().Add(lease).Unix(), holder)
	if err == nil && result.RowsAffected() == 0 {
		return ErrClaimLost
	}
	return s.wrap(err, "extend a refresh")
}

func (s *postgres) update(ctx context.Context, statement string, args ...any) (pgconn.CommandTag, error) {
	if err := s.prepare(ctx, false); err != nil {
		return pgconn.CommandTag{}, err
	}
	return s.pool.Exec(ctx, statement, args...)
}

func (s *postgres) EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error {
	if err := s.prepare(ctx, false); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return endPostgresRefresh(ctx, tx, s.now(), holder, result) })
	if errors.Is(err, ErrClaimLost) {
		return err
	}
	return s.wrap(err, "end a refresh")
}

func (t *postgresTx) EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error {
	err := endPostgresRefresh(ctx, t.tx, t.store.now(), holder, result)
	if errors.Is(err, ErrClaimLost) {
		return err
	}
	return t.fail(ctx, err, "end a refresh")
}

func endPostgresRefresh(ctx context.Context, tx pgx.Tx, now time.Time, holder string, r data.RefreshResult) error {
	rows := r.Rows
	if rows == nil {
		rows = new(data.RefreshRows)
	}
	// PostgreSQL rejects a text with a zero byte or invalid UTF-8, and an error may quote any bytes.
	message := strings.ReplaceAll(strings.ToValidUTF8(r.Error, "\uFFFD"), "\x00", "\uFFFD")
	result, err := tx.Exec(ctx, `UPDATE limnomap.refresh SET turn = turn + 1, holder = '', held_until = NULL, error = $2,
			failures = CASE WHEN $2 = '' THEN 0 ELSE failures + 1 END, succeeded_at = CASE WHEN $2 = '' THEN $3 ELSE succeeded_at END,
			added = CASE WHEN $4 THEN $5 ELSE added END, changed = CASE WHEN $4 THEN $6 ELSE changed END,
			unchanged = CASE WHEN $4 THEN $7 ELSE unchanged END, rejected = CASE WHEN $4 THEN $8 ELSE rejected END
		WHERE holder = $1 AND holder <> ''`, holder, message, now.Unix(), r.Rows != nil, rows.Added, rows.Changed, rows.Unchanged, rows.Rejected)
	switch {
	case err != nil:
		return err
	case result.RowsAffected() == 0:
		return ErrClaimLost
	case r.Files == nil:
		return nil
	}
	if _, err := tx.Exec(ctx, "DELETE FROM limnomap.refresh_files"); err != nil {
		return err
	}
	for _, f := range r.Files {
		_, err := tx.Exec(ctx, "INSERT INTO limnomap.refresh_files ("+refreshFileColumns+") VALUES ($1, $2, $3, $4)",
			f.Key, f.SHA256[:], f.ETag, f.LastModified)
		if err != nil {
			return err
		}
	}
	return nil
}
