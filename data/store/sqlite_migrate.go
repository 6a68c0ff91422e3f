package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/sqlite/*.sql
var migrations embed.FS

// applicationID is what the first migration writes into the file's header.
const applicationID = 0x6c696d6e

const (
	// migrateAttempts bounds the attempts while other processes create or migrate the same database: SQLite does not wait
	// for a switch to WAL, and goose fails at a step that another process has just done.
	migrateAttempts = 5
	migratePause    = 50 * time.Millisecond
)

// migrate brings the schema up to date. It rejects a database of another program and a schema newer than this program. It writes nothing
// if the schema is up to date, or if s.upgrade returns an error.
func (s *sqlite) migrate(ctx context.Context) error {
	files, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return err
	}
	asked := false
	for attempt := 1; ; attempt++ {
		current, target, err := sqliteVersions(ctx, s.readers, files)
		if err == nil && 0 < current && current < target && !asked {
			asked = true
			if err := s.upgrade(ctx, current, target); err != nil {
				return err
			}
		}
		if err == nil && current < target {
			err = migrateOnce(ctx, s.writer, files)
		}
		if err == nil || attempt == migrateAttempts {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(migratePause):
		}
	}
}

func migrateOnce(ctx context.Context, db *sql.DB, files fs.FS) error {
	if err := checkOwner(ctx, db); err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	return upgrade(ctx, p, permitUpgrade) // migrate has asked
}

// upgrade applies the pending migrations, after asking permit, and rejects a schema that is newer than they are.
func upgrade(ctx context.Context, p *goose.Provider, permit Upgrade) error {
	current, target, err := p.GetVersions(ctx)
	if err == nil {
		err = checkVersion(current, target)
	}
	if err == nil && 0 < current && current < target {
		err = permit(ctx, current, target)
	}
	if err != nil || current == target {
		return err
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate its schema from version %d to %d: %w", current, target, err)
	}
	return nil
}

func checkVersion(current, target int64) error {
	if current > target {
		return fmt.Errorf("its schema is version %d and this limnomap knows only up to %d: use a newer limnomap", current, target)
	}
	return nil
}

// sqliteVersions returns the version of the schema of a database, 0 for a new one, and that of the last migration. It writes nothing.
func sqliteVersions(ctx context.Context, db *sql.DB, files fs.FS) (current, target int64, err error) {
	names, err := fs.Glob(files, "*.sql") // in ascending order
	if err != nil {
		return 0, 0, err
	}
	if target, err = goose.NumericComponent(names[len(names)-1]); err != nil {
		return 0, 0, err
	}
	if err := checkOwner(ctx, db); err != nil {
		return 0, 0, err
	}
	var known bool
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'").Scan(&known)
	if err != nil || !known {
		return 0, target, err
	}
	if err := db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version").Scan(&current); err != nil {
		return 0, 0, err
	}
	return current, target, checkVersion(current, target)
}

// checkOwner returns an error for another program's database.
func checkOwner(ctx context.Context, db *sql.DB) error {
	var id, foreign int64
	// goose creates its table before the first migration sets the application id.
	const tables = `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('goose_db_version', 'sqlite_sequence')`
	// In this order: a process that sees the tables of a concurrent migration then also sees the application id.
	if err := db.QueryRowContext(ctx, tables).Scan(&foreign); err != nil {
		return err
	}
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return err
	}
	if id != applicationID && (id != 0 || foreign > 0) {
		return errors.New("the file is an SQLite database of another program; name a new file, or a database made by `limnomap import`")
	}
	return nil
}
