package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"limnomap/cmd/limnomap/config"
	"limnomap/data/store"
)

// A databaseFlag names a database that must be there, for commands that only read it.
type databaseFlag struct {
	DB config.Location `help:"Database: an SQLite file, or the postgres:// URL of a PostgreSQL database, which may name several hosts. Prefer LIMNOMAP_DB for a URL with a password: command lines are visible to other users." required:"" placeholder:"FILE|URL"`
}

// use calls f with the database. It refuses one that would have to be migrated.
func (d *databaseFlag) use(ctx context.Context, f func(*store.Store) error) error {
	return d.useAfter(ctx, store.RefuseUpgrade, f)
}

func (d *databaseFlag) useAfter(ctx context.Context, upgrade store.Upgrade, f func(*store.Store) error) error {
	s, err := store.OpenUpgrading(ctx, d.DB.Reveal(), false, upgrade)
	if err != nil {
		return fmt.Errorf("--db: %w", err)
	}
	return errors.Join(f(s), s.Close())
}

// A changedDatabaseFlag names a database that must be there, for commands that write to it.
type changedDatabaseFlag struct {
	databaseFlag
	migrateFlag
}

// change calls f with the database, which is migrated first if necessary.
func (d *changedDatabaseFlag) change(ctx context.Context, con *console, f func(*store.Store) error) error {
	return d.useAfter(ctx, d.upgrade(d.DB.Reveal(), con.log), f)
}

// changeUnless is change, but for a dry run, which migrates nothing.
func (d *changedDatabaseFlag) changeUnless(ctx context.Context, con *console, dryRun bool, f func(*store.Store) error) error {
	if dryRun {
		return d.use(ctx, f)
	}
	return d.change(ctx, con, f)
}

// A newDatabaseFlag names a database that is created if it is not there.
type newDatabaseFlag struct {
	DB config.Location `help:"Database: an SQLite file, created if it does not exist, or the postgres:// URL of a PostgreSQL database, which may name several hosts. Prefer LIMNOMAP_DB for a URL with a password: command lines are visible to other users." required:"" placeholder:"FILE|URL"`
	migrateFlag
}

// open opens the database or creates it. A dry run gets a temporary one instead of a new one, and migrates none. The close function
// removes a temporary database, and also a new SQLite file that nothing was written to.
func (d *newDatabaseFlag) open(ctx context.Context, con *console, dryRun bool) (_ *store.Store, closeStore func() error, err error) {
	path, isFile := store.FilePath(d.DB.Reveal())
	absent, err := d.absent(ctx, path, isFile, dryRun)
	if err != nil {
		return nil, nil, err
	}
	if absent && dryRun {
		return openTemporary(ctx, path, isFile)
	}
	upgrade := store.Upgrade(store.RefuseUpgrade)
	if !dryRun {
		upgrade = d.upgrade(d.DB.Reveal(), con.log)
	}
	s, err := store.OpenUpgrading(ctx, d.DB.Reveal(), true, upgrade)
	if err != nil {
		return nil, nil, err
	}
	return s, func() error {
		revision, revisionErr := s.Revision(context.WithoutCancel(ctx))
		err := s.Close()
		if absent && revisionErr == nil && revision.Number == 0 {
			_ = os.Remove(path) // if this fails, an empty database does no harm
		}
		return err
	}, nil
}

// openTemporary opens an empty database for a dry run. A new file must be possible at path, if it is one.
func openTemporary(ctx context.Context, path string, isFile bool) (*store.Store, func() error, error) {
	if isFile {
		if err := checkFolder(path); err != nil {
			return nil, nil, fmt.Errorf("database %w", err)
		}
	}
	folder, err := os.MkdirTemp("", "limnomap-dry-run-")
	if err != nil {
		return nil, nil, err
	}
	s, err := store.Open(ctx, filepath.Join(folder, "empty.db"), true)
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(folder))
	}
	return s, func() error { return errors.Join(s.Close(), os.RemoveAll(folder)) }, nil
}

// absent reports whether there is no file, or for a dry run whether the database of a URL has no tables.
func (d *newDatabaseFlag) absent(ctx context.Context, path string, isFile, dryRun bool) (bool, error) {
	if isFile {
		_, err := os.Stat(path)
		return errors.Is(err, fs.ErrNotExist), nil // store.Open returns all other errors
	}
	if !dryRun {
		return false, nil
	}
	s, err := store.OpenUpgrading(ctx, d.DB.Reveal(), false, store.RefuseUpgrade)
	if err != nil {
		return false, err
	}
	_, err = s.Revision(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return true, s.Close()
	}
	return false, errors.Join(err, s.Close())
}
