package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	sqlitedriver "modernc.org/sqlite"

	"limnomap/data"
)

// backupStepPages is how much of a database is copied between two looks at the context: a quarter of a megabyte.
const backupStepPages = 64

// BackupOptions are the optional parameters of [Backup]. Nil means all defaults.
type BackupOptions struct {
	// Overwrite replaces a file that is there. By default that is an error.
	Overwrite bool
	// Progress is called now and then with how much is copied, in bytes.
	Progress func(done, total int64)
}

// Backup copies the SQLite database that dsn names to a file and returns the revision that the copy holds. Others may
// read and import meanwhile: neither waits for the other. The file is there whole and checked, or not at all. What it
// copies is the schema as it is, also one that this limnomap would migrate or does not know.
//
// It is SQLite's online backup within one read transaction, which fixes what is copied, so that an import does not make
// it begin anew (which it would without end where imports are frequent). For as long as it takes, the write-ahead log
// grows by what is imported and does not shrink. VACUUM INTO would be no kinder to the log; it leaves out unused pages,
// of which there are few where nothing is ever removed, for which it builds each table anew and tells nobody how far it is.
func Backup(ctx context.Context, dsn, path string, opts *BackupOptions) (data.Revision, error) {
	if opts == nil {
		opts = &BackupOptions{}
	}
	if isPostgres(dsn) {
		return data.Revision{}, fmt.Errorf("a PostgreSQL database is backed up with pg_dump, such as "+
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
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%016x.tmp", filepath.Base(path), rand.Uint64()))
	// It holds what the database holds, so those may read it who may read that.
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return data.Revision{}, fmt.Errorf("backup %s: %w", path, err)
	}
	defer os.Remove(temp) // once it has its name this finds nothing
	if err := errors.Join(f.Chmod(info.Mode().Perm()), f.Close()); err != nil {
		return data.Revision{}, fmt.Errorf("backup %s: %w", path, err)
	}
	revision, err := copyDatabase(ctx, loc, temp, opts.Progress)
	if err != nil {
		return data.Revision{}, fmt.Errorf("copy %s to %s: %w", loc.path, path, explainSQLite(err))
	}
	if err := checkCopy(ctx, temp, revision); err != nil {
		return data.Revision{}, fmt.Errorf("copy %s to %s: the copy is not sound, so the database may be damaged: %w", loc.path, path, explainSQLite(err))
	}
	err = checkBackup(path, loc.path, opts.Overwrite) // somebody may have been quicker
	if err == nil {
		err = publish(temp, path)
	}
	if err != nil {
		return data.Revision{}, fmt.Errorf("backup %s: %w", path, err)
	}
	return revision, nil
}

// checkBackup returns an error if path must not become a copy of the database.
func checkBackup(path, database string, overwrite bool) error {
	for _, end := range append(companions[:], "-journal") {
		if strings.HasSuffix(path, end) {
			return fmt.Errorf("want another name: SQLite takes what ends in %s for a part of the database beside it", end)
		}
		if _, err := os.Lstat(path + end); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("beside it lies %s, which SQLite would take for a part of the copy: want another name, "+
				"or that file removed once nobody uses it", filepath.Base(path)+end)
		}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // if it is the folder that there is not, making a file there says so
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is there and is no regular file: want the name of a file to write")
	case !overwrite:
		return fmt.Errorf("%w: want another name, or leave to overwrite it (--force)", fs.ErrExist)
	}
	if source, err := os.Stat(database); err == nil && os.SameFile(source, info) {
		return errors.New("it is the database itself: want another name")
	}
	return nil
}

// copyDatabase copies the database at loc over the empty file of that name.
func copyDatabase(ctx context.Context, loc location, name string, progress func(done, total int64)) (data.Revision, error) {
	db, err := openPool(loc.url(sqliteParameters("_query_only", "on")), 1)
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
	defer tx.Rollback()                    // there is nothing to commit
	revision, err := readRevision(ctx, tx) // from here on the transaction sees this state
	if err != nil {
		return data.Revision{}, err
	}
	// A copy that does not come to its end is thrown away, so nothing needs a journal or a look at the disk in between.
	target := location{path: name}.url(sqliteParameters("_journal_mode", "OFF", "_synchronous", "OFF"))
	return revision, conn.Raw(func(driver any) error { return copyPages(ctx, driver, target, progress) })
}

// copyPages copies all pages that the open transaction of a driver's connection sees.
func copyPages(ctx context.Context, driver any, target string, progress func(done, total int64)) (err error) {
	const pageBytes = 4096 // SQLite's default, which no migration changes; it only scales the progress
	backup, err := driver.(interface {
		NewBackup(string) (*sqlitedriver.Backup, error)
	}).NewBackup(target)
	if err != nil {
		return err
	}
	defer func() {
		if ferr := backup.Finish(); err == nil { // otherwise it may only repeat what err says
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

// checkCopy reads a copy through and returns an error unless it is a sound database of that revision.
func checkCopy(ctx context.Context, name string, want data.Revision) error {
	// Nobody else writes to it: so there is no need for the files that SQLite keeps beside one.
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
	got, err := readRevision(ctx, db)
	if err == nil && got != want {
		err = fmt.Errorf("it holds revision %d, want %d", got.Number, want.Number)
	}
	return err
}

// publish gives a finished file its name, once the disk has all of it.
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
		_ = dir.Sync() // so that the name survives a power cut too, where the system can say so
		_ = dir.Close()
	}
	return nil
}
