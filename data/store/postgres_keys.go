package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"limnomap/data"
)

func (s *postgres) CreateKey(ctx context.Context, k data.APIKey) error {
	if k.Name == "" {
		return errors.New("the API key has no name")
	}
	if err := s.prepare(ctx, false); err != nil {
		return err
	}
	result, err := s.pool.Exec(ctx, `INSERT INTO limnomap.api_keys (name, hash, created_at, expires_at, revoked_at)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING`,
		k.Name, k.Hash[:], k.CreatedAt.Unix(), unixOrNull(k.ExpiresAt), unixOrNull(k.RevokedAt))
	return s.keyResult(result, err, keyExists(k.Name), "create")
}

func (s *postgres) RevokeKey(ctx context.Context, name string, at time.Time) error {
	if err := s.prepare(ctx, false); err != nil {
		return err
	}
	result, err := s.pool.Exec(ctx, "UPDATE limnomap.api_keys SET revoked_at = coalesce(revoked_at, $1) WHERE name = $2", at.Unix(), name)
	return s.keyResult(result, err, fmt.Errorf("%w: %q", ErrNoKey, name), "revoke")
}

// keyResult returns none if no row was touched.
func (s *postgres) keyResult(result pgconn.CommandTag, err error, none error, doing string) error {
	if err != nil {
		return s.wrap(err, doing+" an API key")
	}
	if result.RowsAffected() > 0 {
		return nil
	}
	return none
}

func (s *postgres) Keys(ctx context.Context) ([]data.APIKey, error) {
	if err := s.prepare(ctx, false); err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, "SELECT name, hash, created_at, expires_at, revoked_at FROM limnomap.api_keys ORDER BY name")
	if err != nil {
		return nil, s.wrap(err, "read the API keys")
	}
	keys, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (data.APIKey, error) { return scanKey(row) })
	return keys, s.wrap(err, "read the API keys")
}
