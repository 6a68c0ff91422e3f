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

// keyColumns are the columns of api_keys.
const keyColumns = "name, hash, scopes, created_at, expires_at, revoked_at, used_at"

// maxKeys bounds the keys that are read: a server holds them in memory, and reads them every few seconds.
const maxKeys = 100_000

// storedKeyColumns are keyColumns, in the order of scanKey.
var storedKeyColumns = fmt.Sprintf("%s, %s, %s, created_at, expires_at, revoked_at, used_at",
	atMost("name", maxTextBytes), atMost("hash", len(apikey.Hash{})), atMost("scopes", maxTextBytes))

// CreateKey stores a key with at least one scope; ErrKeyExists if its name is taken, even by a revoked key.
func (s *Store) CreateKey(ctx context.Context, k apikey.Key) error {
	if err := checkKey(k); err != nil {
		return err
	}
	return s.changeKeys(ctx, "create an API key", func(q querier, keys []apikey.Key) error {
		if slices.ContainsFunc(keys, func(other apikey.Key) bool { return other.Name == k.Name }) {
			return callerError{fmt.Errorf("%w: %q; a name cannot be used again, even after its key was revoked", ErrKeyExists, k.Name)}
		}
		return insertKey(ctx, q, k)
	})
}

// changeKeys calls fn with all keys in a transaction, in which no one else changes them.
func (s *Store) changeKeys(ctx context.Context, doing string, fn func(querier, []apikey.Key) error) error {
	return s.db.update(ctx, doing, func(q querier) error {
		w := writer{ctx: ctx, q: q}
		if w.exec(s.sql.lockKeys); w.err != nil {
			return w.err
		}
		keys, err := readKeys(ctx, q)
		if err != nil {
			return err
		}
		return fn(q, keys)
	})
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

func noKey(name string) error { return fmt.Errorf("%w: %q", ErrNoKey, name) }

func insertKey(ctx context.Context, q querier, k apikey.Key) error {
	_, err := q.exec(ctx, "INSERT INTO limnomap.api_keys ("+keyColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7)", k.Name, k.Hash[:], k.Scopes.String(),
		k.CreatedAt.Unix(), unixOrNull(k.ExpiresAt), unixOrNull(k.RevokedAt), unixOrNull(k.UsedAt))
	return err
}

// RotateKey replaces the newest key of that name: it stores the key that next returns, under the same name, and makes
// earlier keys expire at until, unless they expire sooner. Until then all of them are valid. ErrNoKey if there is no key
// of that name, ErrKeyOver if the newest one is no longer valid.
func (s *Store) RotateKey(ctx context.Context, name string, until time.Time, next func(former apikey.Key) apikey.Key) error {
	return s.changeKeys(ctx, "rotate an API key", func(q querier, keys []apikey.Key) error {
		k, err := successor(keys, name, next)
		if err != nil {
			return callerError{err}
		}
		if _, err := q.exec(ctx, `UPDATE limnomap.api_keys SET expires_at = $1
			WHERE name = $2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)`, until.Unix(), name); err != nil {
			return err
		}
		return insertKey(ctx, q, k)
	})
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

// RevokeKey revokes all keys of that name at the given time; ErrNoKey if there is none. Revoking again keeps the first time.
func (s *Store) RevokeKey(ctx context.Context, name string, at time.Time) error {
	return s.db.update(ctx, "revoke an API key", func(q querier) error {
		n, err := q.exec(ctx, "UPDATE limnomap.api_keys SET revoked_at = coalesce(revoked_at, $1) WHERE name = $2", at.Unix(), name)
		if err == nil && n == 0 {
			return callerError{noKey(name)}
		}
		return err
	})
}

const useKey = "UPDATE limnomap.api_keys SET used_at = $1 WHERE name = $2 AND hash = $3 AND coalesce(used_at, 0) <= $4"

// noteUses stores the last uses of keys.
func noteUses(ctx context.Context, q querier, uses []apikey.Use) error {
	w := writer{ctx: ctx, q: q}
	for _, u := range uses {
		w.exec(useKey, u.At.Unix(), u.Name, u.Hash[:], u.At.Add(-usedAgain).Unix())
	}
	return w.err
}

func (s *postgres) keysUsed(ctx context.Context, uses []apikey.Use) error {
	return s.update(ctx, "note the use of API keys", func(q querier) error { return noteUses(ctx, q, uses) })
}

// keysUsed does not wait for another process that writes: nothing depends on when a use is stored, and a server that stops
// must not wait for an import.
func (s *sqlite) keysUsed(ctx context.Context, uses []apikey.Use) error {
	if err := s.hold(ctx); err != nil {
		return err
	}
	defer s.mu.RUnlock()
	conn, err := s.writer.Conn(ctx) // the only connection, held so that no other statement runs with its setting
	if err == nil {
		defer conn.Close()
		err = s.noteUsesNow(ctx, conn, uses)
	}
	return s.wrap(err, "note the use of API keys")
}

func (s *sqlite) noteUsesNow(ctx context.Context, conn *sql.Conn, uses []apikey.Use) (err error) {
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
	if err := noteUses(ctx, sqliteQuerier{db: tx}, uses); err != nil {
		return err
	}
	return tx.Commit()
}

// Keys returns all keys, including revoked and expired ones, by name and then by age.
func (s *Store) Keys(ctx context.Context) ([]apikey.Key, error) {
	return read(ctx, s, "read the API keys", readKeys)
}

func readKeys(ctx context.Context, q querier) ([]apikey.Key, error) {
	keys, err := collect(ctx, q, scanKey, fmt.Sprintf("SELECT %s FROM limnomap.api_keys ORDER BY name, created_at, hash LIMIT %d", storedKeyColumns, maxKeys+1))
	if err == nil && len(keys) > maxKeys {
		err = fmt.Errorf("more than %d API keys", maxKeys)
	}
	return keys, err
}

func scanKey(row rowScanner) (k apikey.Key, err error) {
	var hash, scopes string
	var created, expires, revoked, used sql.NullInt64
	if err = row.Scan(textColumn[string]{&k.Name, "name", maxTextBytes}, textColumn[string]{&hash, "hash", len(k.Hash)},
		textColumn[string]{&scopes, "scopes", maxTextBytes}, &created, &expires, &revoked, &used); err != nil {
		return k, fmt.Errorf("the API key %.80q: %w", k.Name, err)
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

// The times of the years 0 to 9999, which RFC 3339 can write, in seconds since 1970.
const minTime, maxTime = -62_167_219_200, 253_402_300_799

// timeOrZero returns the time, or the nearest one of the years 0 to 9999.
func timeOrZero(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(min(max(n.Int64, minTime), maxTime), 0).UTC()
}
