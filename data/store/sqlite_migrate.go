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

// migrate brings the schema up to date. It rejects a database of another program and a schema newer than this program.
func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		err := migrateOnce(ctx, db, files)
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
	return upgrade(ctx, p)
}

// upgrade applies the pending migrations, and rejects a schema that is newer than they are.
func upgrade(ctx context.Context, p *goose.Provider) error {
	current, target, err := p.GetVersions(ctx)
	switch {
	case err != nil:
		return err
	case current > target:
		return fmt.Errorf("its schema is version %d and this limnomap knows only up to %d: use a newer limnomap", current, target)
	case current == target:
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate its schema from version %d to %d: %w", current, target, err)
	}
	return nil
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
