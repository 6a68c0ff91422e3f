package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"limnomap/data/apikey"
)

func (s *postgres) CreateKey(ctx context.Context, k apikey.Key) error {
	if err := checkKey(k); err != nil {
		return err
	}
	if err := s.prepare(ctx, false); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		keys, err := lockKeys(ctx, tx)
		if err != nil {
			return err
		}
		for _, other := range keys {
			if other.Name == k.Name {
				return keyTaken{keyExists(k.Name)}
			}
		}
		return insertKey(ctx, tx, k)
	})
	return s.keyError(err, "create an API key")
}

// A keyTaken is an error for the operator, not a failure of the database.
type keyTaken struct{ error }

// keyError returns the error for the operator.
func (s *postgres) keyError(err error, doing string) error {
	if told, ok := err.(keyTaken); ok {
		return told.error
	}
	return s.wrap(err, doing)
}

// lockKeys returns all keys and prevents changes by others until tx ends. Others can still read them.
func lockKeys(ctx context.Context, tx pgx.Tx) ([]apikey.Key, error) {
	if _, err := tx.Exec(ctx, "LOCK TABLE limnomap.api_keys IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		return nil, err
	}
	return collectKeys(ctx, tx)
}

func collectKeys(ctx context.Context, q interface {
	Query(context.Context, string, ...any) (pgx.Rows, error)
}) ([]apikey.Key, error) {
	rows, err := q.Query(ctx, "SELECT "+keyColumns+" FROM limnomap.api_keys ORDER BY name, created_at, hash")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (apikey.Key, error) { return scanKey(row) })
}

func insertKey(ctx context.Context, tx pgx.Tx, k apikey.Key) error {
	_, err := tx.Exec(ctx, "INSERT INTO limnomap.api_keys ("+keyColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7)", keyValues(k)...)
	return err
}

func (s *postgres) RotateKey(ctx context.Context, name string, until time.Time, next func(former apikey.Key) apikey.Key) error {
	if err := s.prepare(ctx, false); err != nil {
		return err
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		keys, err := lockKeys(ctx, tx)
		if err != nil {
			return err
		}
		k, err := successor(keys, name, next)
		if err != nil {
			return keyTaken{err}
		}
		if _, err := tx.Exec(ctx, `UPDATE limnomap.api_keys SET expires_at = $1 WHERE name = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)`,
			until.Unix(), name); err != nil {
			return err
		}
		return insertKey(ctx, tx, k)
	})
	return s.keyError(err, "rotate an API key")
}

func (s *postgres) RevokeKey(ctx context.Context, name string, at time.Time) error {
	if err := s.prepare(ctx, false); err != nil {
		return err
	}
	result, err := s.pool.Exec(ctx, "UPDATE limnomap.api_keys SET revoked_at = coalesce(revoked_at, $1) WHERE name = $2", at.Unix(), name)
	return s.keyResult(result, err, noKey(name), "revoke")
}

func (s *postgres) KeysUsed(ctx context.Context, uses []apikey.Use) error {
	if len(uses) == 0 {
		return nil
	}
	if err := s.prepare(ctx, false); err != nil {
		return err
	}
	var batch pgx.Batch
	for _, u := range uses {
		batch.Queue("UPDATE limnomap.api_keys SET used_at = $1 WHERE name = $2 AND hash = $3 AND coalesce(used_at, 0) <= $4",
			u.At.Unix(), u.Name, u.Hash[:], u.At.Add(-usedAgain).Unix())
	}
	return s.wrap(s.pool.SendBatch(ctx, &batch).Close(), "note the use of API keys")
}

// keyResult returns the error none if no row was changed.
func (s *postgres) keyResult(result pgconn.CommandTag, err error, none error, doing string) error {
	if err != nil {
		return s.wrap(err, doing+" an API key")
	}
	if result.RowsAffected() > 0 {
		return nil
	}
	return none
}

func (s *postgres) Keys(ctx context.Context) ([]apikey.Key, error) {
	if err := s.prepare(ctx, false); err != nil {
		return nil, err
	}
	keys, err := collectKeys(ctx, s.pool)
	return keys, s.wrap(err, "read the API keys")
}
