package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/postgres/*.sql
var postgresMigrations embed.FS

// The keys of the advisory locks, "limn" in ASCII and a number. They belong to one database.
const (
	migrateLock = 0x6c696d6e_01
	importLock  = 0x6c696d6e_02
	momentLock  = 0x6c696d6e_03
)

const (
	// lockSchemaTimeout bounds the wait for a server that has accepted a connection and does not answer. It is longer than the
	// lock_timeout, which has a better message.
	lockSchemaTimeout = 20 * time.Second
	// migrateTimeout bounds all that is done to a schema: longer than the statement_timeout.
	migrateTimeout = 15 * time.Minute
)

// prepare brings the schema up to date, once.
func (s *postgres) prepare(ctx context.Context, create bool) error {
	if s.ready.Load() {
		return nil
	}
	select {
	case s.preparing <- struct{}{}:
		defer func() { <-s.preparing }()
	case <-ctx.Done(): // the server may hang
		return &Error{err: fmt.Errorf("%s: %w", s.name, ctx.Err())}
	}
	if s.ready.Load() {
		return nil
	}
	err := s.migrate(ctx, s.pool, create || s.create)
	if errors.Is(err, errStandbySchema) && s.primary != s.pool {
		err = s.migrate(ctx, s.primary, create || s.create)
	}
	if err != nil {
		return &Error{fmt.Errorf("%s: %w", s.name, explainPostgres(err)), away(err)}
	}
	s.ready.Store(true)
	return nil
}

// migrate brings the schema up to date, one process at a time. It rejects another program's schema of that name, a schema
// newer than this limnomap, and a missing one unless create is true. On a standby it writes nothing, and returns errStandbySchema if it would.
func (s *postgres) migrate(ctx context.Context, pool *pgxpool.Pool, create bool) error {
	ctx, cancel := context.WithTimeout(ctx, migrateTimeout)
	defer cancel()
	db := stdlib.OpenDB(*pool.Config().ConnConfig)
	defer db.Close()
	lock, err := db.Conn(ctx) // goose uses other connections
	if err != nil {
		return err
	}
	defer lock.Close()
	var standby bool
	if err := lock.QueryRowContext(ctx, "SELECT pg_is_in_recovery()").Scan(&standby); err != nil {
		return err
	}
	if err := lockSchema(ctx, lock, create && !standby); err != nil {
		if standby && create && errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: %w", errStandbySchema, err)
		}
		return err
	}
	files, err := fs.Sub(postgresMigrations, "migrations/postgres")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithTableName("limnomap.goose_db_version"))
	if err != nil {
		return err
	}
	permit := s.upgrade
	if standby {
		permit = func(context.Context, int64, int64) error { return errStandbySchema }
	}
	return upgrade(ctx, p, permit)
}

// lockSchema checks the schema, and locks it until the connection ends.
func lockSchema(ctx context.Context, conn *sql.Conn, create bool) error {
	ctx, cancel := context.WithTimeout(ctx, lockSchemaTimeout)
	defer cancel()
	// A session lock: it ends with the connection in any case.
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", int64(migrateLock)); err != nil {
		return err
	}
	return checkSchema(ctx, conn, create)
}

// checkSchema checks that the schema limnomap exists and is not another program's. It creates it if create is true.
func checkSchema(ctx context.Context, conn *sql.Conn, create bool) error {
	var exists, ours bool
	var things int
	err := conn.QueryRowContext(ctx, `SELECT to_regnamespace('limnomap') IS NOT NULL, to_regclass('limnomap.goose_db_version') IS NOT NULL,
		(SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('limnomap'))`).Scan(&exists, &ours, &things)
	switch {
	case err != nil || ours:
		return err
	case things > 0:
		return errors.New("its schema limnomap belongs to another program; name another database")
	case !create:
		return fmt.Errorf("nothing has been imported yet; `limnomap import lakes FILE` with the same --db creates the tables: %w", fs.ErrNotExist)
	case !exists: // otherwise an administrator made it for this user
		_, err = conn.ExecContext(ctx, "CREATE SCHEMA limnomap")
	}
	return err
}
