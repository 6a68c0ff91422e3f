package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"limnomap/data/apikey"
)

// usedAgain is how much later than the stored use a use of a key must be to be stored: last uses show which keys are no
// longer needed, and with any number of servers and requests each key is written once an hour.
const usedAgain = time.Hour

// keyColumns are the columns of api_keys, in the order of scanKey.
const keyColumns = "name, hash, scopes, created_at, expires_at, revoked_at, used_at"

func (s *sqlite) CreateKey(ctx context.Context, k apikey.Key) error {
	if err := checkKey(k); err != nil {
		return err
	}
	if err := s.hold(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	result, err := s.writer.ExecContext(ctx, `INSERT INTO api_keys (`+keyColumns+`)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM api_keys WHERE name = ?1)`, keyValues(k)...)
	return s.keyResult(result, err, keyExists(k.Name), "create")
}

func checkKey(k apikey.Key) error {
	switch {
	case k.Name == "":
		return errors.New("the API key has no name")
	case k.Scopes == 0:
		return fmt.Errorf("the API key %q has no scope: it would give access to nothing", k.Name)
	}
	return nil
}

func keyExists(name string) error {
	return fmt.Errorf("%w: %q; a name cannot be used again, even after its key was revoked", ErrKeyExists, name)
}

func noKey(name string) error { return fmt.Errorf("%w: %q", ErrNoKey, name) }

func keyValues(k apikey.Key) []any {
	return []any{k.Name, k.Hash[:], k.Scopes.String(), k.CreatedAt.Unix(), unixOrNull(k.ExpiresAt), unixOrNull(k.RevokedAt), unixOrNull(k.UsedAt)}
}

func (s *sqlite) RotateKey(ctx context.Context, name string, until time.Time, next func(former apikey.Key) apikey.Key) error {
	if err := s.hold(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(err, "rotate an API key")
	}
	defer tx.Rollback() // no effect after the commit
	keys, err := scanKeys(ctx, tx)
	if err != nil {
		return s.wrap(err, "rotate an API key")
	}
	k, err := successor(keys, name, next)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE api_keys SET expires_at = ?1 WHERE name = ?2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1)`,
		until.Unix(), name)
	if err == nil {
		_, err = tx.ExecContext(ctx, `INSERT INTO api_keys (`+keyColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)`, keyValues(k)...)
	}
	if err == nil {
		err = tx.Commit()
	}
	return s.wrap(err, "rotate an API key")
}

// successor returns the key that replaces the newest key of that name, which must be valid when the new key is made.
func successor(keys []apikey.Key, name string, next func(former apikey.Key) apikey.Key) (k apikey.Key, err error) {
	keys = slices.DeleteFunc(keys, func(k apikey.Key) bool { return k.Name != name })
	if len(keys) == 0 {
		return k, noKey(name)
	}
	former := slices.MaxFunc(keys, func(a, b apikey.Key) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), laterExpiry(a, b))
	})
	k = next(former)
	if !former.Valid(k.CreatedAt) {
		return k, fmt.Errorf("%w: %q; create a key with another name", ErrKeyOver, name)
	}
	k.Name = name
	return k, checkKey(k)
}

// laterExpiry orders keys by expiry: of two keys created in the same second, the former one has an expiry.
func laterExpiry(a, b apikey.Key) int {
	switch {
	case a.ExpiresAt.IsZero() && b.ExpiresAt.IsZero():
		return 0
	case a.ExpiresAt.IsZero():
		return 1
	case b.ExpiresAt.IsZero():
		return -1
	}
	return a.ExpiresAt.Compare(b.ExpiresAt)
}

func (s *sqlite) RevokeKey(ctx context.Context, name string, at time.Time) error {
	if err := s.hold(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	result, err := s.writer.ExecContext(ctx,
		"UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE name = ?", at.Unix(), name)
	return s.keyResult(result, err, noKey(name), "revoke")
}

// KeysUsed does not wait for another process that writes: nothing depends on when a use is stored, and a server that stops
// must not wait for an import.
func (s *sqlite) KeysUsed(ctx context.Context, uses []apikey.Use) error {
	if len(uses) == 0 {
		return nil
	}
	if err := s.hold(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	conn, err := s.writer.Conn(ctx) // the only connection, held so that no other statement runs with its setting
	if err == nil {
		defer conn.Close()
		err = noteUses(ctx, conn, uses)
	}
	return s.wrap(err, "note the use of API keys")
}

func noteUses(ctx context.Context, conn *sql.Conn, uses []apikey.Use) (err error) {
	if _, err := conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	defer func() {
		_, reset := conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA busy_timeout = "+busyTimeoutMS)
		err = cmp.Or(err, reset)
	}()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // no effect after the commit
	for _, u := range uses {
		if _, err := tx.ExecContext(ctx, "UPDATE api_keys SET used_at = ? WHERE name = ? AND hash = ? AND coalesce(used_at, 0) <= ?",
			u.At.Unix(), u.Name, u.Hash[:], u.At.Add(-usedAgain).Unix()); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// keyResult returns the error none if no row was changed.
func (s *sqlite) keyResult(result sql.Result, err error, none error, doing string) error {
	if err != nil {
		return s.wrap(err, doing+" an API key")
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return s.wrap(err, doing+" an API key")
	}
	return none
}

func (s *sqlite) Keys(ctx context.Context) ([]apikey.Key, error) {
	if err := s.hold(ctx); err != nil {
		return nil, err
	}
	defer s.mu.RUnlock()
	var keys []apikey.Key
	err := s.read(ctx, func(tx *sql.Tx) (err error) {
		keys, err = scanKeys(ctx, tx)
		return err
	})
	return keys, s.wrap(err, "read the API keys")
}

func scanKeys(ctx context.Context, tx *sql.Tx) ([]apikey.Key, error) {
	rows, err := tx.QueryContext(ctx, "SELECT "+keyColumns+" FROM api_keys ORDER BY name, created_at, hash")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []apikey.Key
	for rows.Next() {
		k, err := scanKey(rows)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, rows.Err()
}

func scanKey(row interface{ Scan(...any) error }) (k apikey.Key, err error) {
	var hash []byte
	var scopes string
	var created, expires, revoked, used sql.NullInt64
	if err = row.Scan(&k.Name, &hash, &scopes, &created, &expires, &revoked, &used); err != nil {
		return k, err
	}
	copy(k.Hash[:], hash)
	k.CreatedAt, k.ExpiresAt, k.RevokedAt, k.UsedAt = timeOrZero(created), timeOrZero(expires), timeOrZero(revoked), timeOrZero(used)
	if k.Scopes, err = apikey.ParseScopes(scopes); err != nil {
		return k, fmt.Errorf("the API key %q: %w", k.Name, err)
	}
	return k, nil
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
