package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"limnomap/data/store"
)

// The values of --migrate.
const (
	migrateCopy  = "copy"
	migrateNow   = "now"
	migrateNever = "never"
)

// migrateFlag says what a command that writes does with a database of an older limnomap.
type migrateFlag struct {
	Migrate string `help:"What to do with a database of an older limnomap, which cannot open it after a migration: copy keeps a copy of an SQLite file beside it and migrates it, now migrates it without a copy, never refuses it." enum:"copy,now,never" default:"copy" group:"Data"`
}

// upgrade returns what is done before the database is migrated.
func (f *migrateFlag) upgrade(dsn string, log *slog.Logger) store.Upgrade {
	if f.Migrate == migrateNever {
		return store.RefuseUpgrade
	}
	return func(ctx context.Context, from, to int64) error {
		kept, back := "none, as asked for", "restore a backup and use the older limnomap"
		path, isFile := store.FilePath(dsn)
		switch {
		case !isFile:
			kept, back = "none: copies of PostgreSQL are made with pg_dump", "restore a dump and use the older limnomap"
		case f.Migrate == migrateCopy:
			kept = migrationCopy(path, from, time.Now())
			// Another process that began in the same second has made the same copy.
			if _, err := store.Backup(ctx, dsn, kept, nil); err != nil && !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("its schema is version %d and was not migrated to %d, because no copy can be kept (--migrate now keeps none): %w", from, to, err)
			}
			back = "stop all servers, remove the -wal and -shm files of the database, move the copy over it and use the older limnomap"
		}
		log.Info("migrating the database: older versions of limnomap cannot open it afterwards", "db", store.Name(dsn), "from_schema", from, "to_schema", to,
			"copy", kept, "to_go_back", back)
		return nil
	}
}

// migrationCopy returns the path of the copy of a database that is kept before a migration. Its name has the version of the schema.
func migrationCopy(path string, version int64, now time.Time) string {
	return fmt.Sprintf("%s.schema-%d.%s", path, version, now.UTC().Format("20060102T150405Z"))
}

type migrateCmd struct {
	databaseFlag
	WithoutCopy bool `help:"Keep no copy of an SQLite file."`
	DryRun      bool `help:"Report what would change, and write nothing."`
}

func (migrateCmd) Help() string {
	return `Brings the tables of a database of an older limnomap up to date, as serve and the commands that write do by themselves unless
--migrate never is set. Commands that only read, and dry runs, refuse such a database and do not change it.

A migration cannot be taken back, and older versions cannot open the database afterwards. The copy has the name of the database with the
version of its schema and the time, such as lakes.db.schema-18.20260701T053000Z. To go back, stop all servers, remove lakes.db-wal and lakes.db-shm,
and move the copy over lakes.db. Of a PostgreSQL database no copy is made: use pg_dump before.`
}

func (c *migrateCmd) Run(ctx context.Context, con *console) error {
	var from, to int64
	how := migrateFlag{migrateCopy}
	if c.WithoutCopy {
		how.Migrate = migrateNow
	}
	upgrade := how.upgrade(c.DB.Reveal(), con.log)
	s, err := store.OpenUpgrading(ctx, c.DB.Reveal(), false, func(ctx context.Context, current, target int64) error {
		from, to = current, target
		if c.DryRun {
			return store.RefuseUpgrade(ctx, current, target)
		}
		return upgrade(ctx, current, target)
	})
	if err == nil {
		_, err = s.Revision(ctx) // PostgreSQL is perhaps not reachable
		err = errors.Join(err, s.Close())
	}
	name := store.Name(c.DB.Reveal())
	switch {
	case c.DryRun && errors.Is(err, store.ErrOlderSchema):
		kept := ", without a copy"
		if path, isFile := store.FilePath(c.DB.Reveal()); isFile && !c.WithoutCopy {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			kept = fmt.Sprintf(", after a copy of %s beside it", formatMB(info.Size()))
		}
		_, err = fmt.Fprintf(con.out, "%s: the schema would be migrated from version %d to %d%s. Older versions of limnomap could not open it then. Nothing was changed.\n", name, from, to, kept)
		return err
	case err != nil:
		return fmt.Errorf("--db: %w", err)
	case to == 0:
		_, err = fmt.Fprintf(con.out, "%s: the schema is up to date.\n", name)
		return err
	}
	_, err = fmt.Fprintf(con.out, "%s: the schema was migrated from version %d to %d.\n", name, from, to)
	return err
}
