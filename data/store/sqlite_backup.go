package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	sqlitedriver "modernc.org/sqlite"

	"limnomap/data"
	"limnomap/data/diskspace"
)

// backupStepPages is how much is copied between two checks of the context: a quarter of a megabyte.
const backupStepPages = 64

// BackupOptions are the optional parameters of [Backup]. Nil means all defaults.
type BackupOptions struct {
	// Overwrite allows replacing an existing file.
	Overwrite bool
	// Progress is called now and then with the bytes copied and the total.
	Progress func(done, total int64)
}

// Backup copies the SQLite database that dsn names to a file and returns the revision of the copy. Others may read and
// import at the same time. Either there is a complete, checked copy, or no file. The copy has the schema of the original,
// even if this limnomap would migrate it or does not know it.
//
// It uses SQLite's online backup inside a read transaction. Otherwise each import would restart the copy, without end if
// imports are frequent. Meanwhile the write-ahead log grows with each import and does not shrink. VACUUM INTO would not
// help with the log. It leaves out unused pages, of which there are few since little is deleted; but it rebuilds each
// table and does not report progress.
func Backup(ctx context.Context, dsn, path string, opts *BackupOptions) (data.Revision, error) {
	if opts == nil {
		opts = &BackupOptions{}
	}
	if isPostgres(dsn) {
		return data.Revision{}, fmt.Errorf("back up a PostgreSQL database with pg_dump, for example "+
			"`pg_dump --format=custom --file=lakes.dump URL`; limnomap backs up an SQLite file: %w", errors.ErrUnsupported)
	}
	loc, err := parseDSN(dsn)
	if err != nil {
		return data.Revision{}, err
	}
	info, err := os.Stat(loc.path)
	if err == nil && info.IsDir() {
		err = errors.New("this is a folder; " + wantFile)
	}
	if err != nil {
		return data.Revision{}, fmt.Errorf("database %s: %w", loc.path, err)
	}
	if err := checkBackup(path, loc.path, opts.Overwrite); err != nil {
		return data.Revision{}, fmt.Errorf("backup %s: %w", path, err)
	}
	// The copy has the same data, so it gets the same permissions.
	f, err := diskspace.CreateUnfinished(path, info.Mode().Perm())
	if err != nil {
		return data.Revision{}, fmt.Errorf("backup %s: %w", path, err)
	}
	defer f.Close() // and not before, since it has the lock
	temp := f.Name()
	defer os.Remove(temp) // no effect after the rename
	if err := f.Chmod(info.Mode().Perm()); err != nil {
		return data.Revision{}, fmt.Errorf("backup %s: %w", path, err)
	}
	revision, err := copyDatabase(ctx, loc, temp, opts.Progress)
	if err != nil {
		return data.Revision{}, fmt.Errorf("copy %s to %s: %w", loc.path, path, explainSQLite(loc.path, err))
	}
	if err := checkCopy(ctx, temp, revision); err != nil {
		return data.Revision{}, fmt.Errorf("copy %s to %s: the copy is not sound, so the database may be damaged: %w", loc.path, path, explainSQLite(loc.path, err))
	}
	err = checkBackup(path, loc.path, opts.Overwrite) // another process may have created it
	if err == nil {
		err = publish(temp, path)
	}
	if err != nil {
		return data.Revision{}, fmt.Errorf("backup %s: %w", path, err)
	}
	return revision, nil
}

// checkBackup returns an error if path must not be used for a copy of the database.
func checkBackup(path, database string, overwrite bool) error {
	for _, end := range append(fileEnds[1:], "-journal") {
		if strings.HasSuffix(path, end) {
			return fmt.Errorf("want another name: for SQLite a name that ends in %s is a part of another database", end)
		}
		if _, err := os.Lstat(path + end); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("SQLite would use the file %s as a part of the copy: want another name, "+
				"or remove that file if no process uses it", filepath.Base(path)+end)
		}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // a missing folder is reported when the file is created
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it exists and is not a regular file: want the name of a file to write")
	case !overwrite:
		return fmt.Errorf("%w: want another name, or --force to overwrite it", fs.ErrExist)
	}
	if source, err := os.Stat(database); err == nil && os.SameFile(source, info) {
		return errors.New("it is the database itself: want another name")
	}
	return nil
}

// copyDatabase copies the database at loc over the empty file of that name.
func copyDatabase(ctx context.Context, loc location, name string, progress func(done, total int64)) (data.Revision, error) {
	db, _, err := openReaders(ctx, loc, 1)
	if err != nil {
		return data.Revision{}, err
	}
	defer db.Close()
	if err := checkOwner(ctx, db); err != nil {
		return data.Revision{}, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return data.Revision{}, err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return data.Revision{}, err
	}
	defer tx.Rollback()                                       // there is nothing to commit
	revision, err := readRevision(ctx, sqliteQuerier{db: tx}) // this fixes the state that the transaction sees
	if err != nil {
		return data.Revision{}, err
	}
	// An incomplete copy is removed, so the copy needs neither a journal nor syncs.
	target := location{path: name}.url(sqliteParameters("_journal_mode", "OFF", "_synchronous", "OFF"))
	return revision, conn.Raw(func(driver any) error { return copyPages(ctx, driver, target, progress) })
}

// copyPages copies all pages that the connection's open transaction sees.
func copyPages(ctx context.Context, driver any, target string, progress func(done, total int64)) (err error) {
	const pageBytes = 4096 // SQLite's default, which no migration changes; it only scales the progress
	backup, err := driver.(interface {
		NewBackup(string) (*sqlitedriver.Backup, error)
	}).NewBackup(target)
	if err != nil {
		return err
	}
	defer func() {
		if ferr := backup.Finish(); err == nil { // otherwise it would repeat err
			err = ferr
		}
	}()
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if more, err = backup.Step(backupStepPages); err != nil {
			return err
		}
		if total := backup.PageCount(); progress != nil {
			progress(int64(total-backup.Remaining())*pageBytes, int64(total)*pageBytes)
		}
	}
	return nil
}

// checkCopy returns an error unless the copy is an intact database of that revision.
func checkCopy(ctx context.Context, name string, want data.Revision) error {
	// No other process writes to it, so SQLite's additional files are not needed.
	db, err := openPool(location{path: name}.url(sqliteParameters("mode", "ro", "immutable", "1")), 1)
	if err != nil {
		return err
	}
	defer db.Close()
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return errors.New(strings.ReplaceAll(found, "\n", ": "))
	}
	got, err := readRevision(ctx, sqliteQuerier{db: db})
	if err == nil && got != want {
		err = fmt.Errorf("it holds revision %d, want %d", got.Number, want.Number)
	}
	return err
}

// publish renames a finished file, after all of it is on disk.
func publish(temp, path string) error {
	f, err := os.OpenFile(temp, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // so that the name survives a power failure; not all systems support it
		_ = dir.Close()
	}
	return nil
}
