package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"limnomap/data"
)

func (s *sqlite) CreateKey(ctx context.Context, k data.APIKey) error {
	if k.Name == "" {
		return errors.New("the API key has no name")
	}
	if err := s.hold(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	result, err := s.writer.ExecContext(ctx,
		`INSERT INTO api_keys (name, hash, created_at, expires_at, revoked_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING`,
		k.Name, k.Hash[:], k.CreatedAt.Unix(), unixOrNull(k.ExpiresAt), unixOrNull(k.RevokedAt))
	return s.keyResult(result, err, keyExists(k.Name), "create")
}

func keyExists(name string) error {
	return fmt.Errorf("%w: %q; a name is not used twice, even after its key was revoked", ErrKeyExists, name)
}

func (s *sqlite) RevokeKey(ctx context.Context, name string, at time.Time) error {
	if err := s.hold(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	result, err := s.writer.ExecContext(ctx,
		"UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE name = ?", at.Unix(), name)
	return s.keyResult(result, err, fmt.Errorf("%w: %q", ErrNoKey, name), "revoke")
}

// keyResult returns none if no row was touched.
func (s *sqlite) keyResult(result sql.Result, err error, none error, doing string) error {
	if err != nil {
		return s.wrap(err, doing+" an API key")
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return s.wrap(err, doing+" an API key")
	}
	return none
}

func (s *sqlite) Keys(ctx context.Context) ([]data.APIKey, error) {
	if err := s.hold(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	var keys []data.APIKey
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		keys, err = scanKeys(ctx, tx)
		return err
	})
	return keys, s.wrap(err, "read the API keys")
}

func scanKeys(ctx context.Context, tx *sql.Tx) ([]data.APIKey, error) {
	rows, err := tx.QueryContext(ctx, "SELECT name, hash, created_at, expires_at, revoked_at FROM api_keys ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []data.APIKey
	for rows.Next() {
		k, err := scanKey(rows)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, rows.Err()
}

func scanKey(row interface{ Scan(...any) error }) (k data.APIKey, err error) {
	var hash []byte
	var created, expires, revoked sql.NullInt64
	err = row.Scan(&k.Name, &hash, &created, &expires, &revoked)
	copy(k.Hash[:], hash)
	k.CreatedAt, k.ExpiresAt, k.RevokedAt = timeOrZero(created), timeOrZero(expires), timeOrZero(revoked)
	return k, err
}

func unixOrNull(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.Unix(), Valid: !t.IsZero()}
}

func timeOrZero(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(n.Int64, 0).UTC()
}
