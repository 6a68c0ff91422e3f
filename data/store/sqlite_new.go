package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// SQLite takes an empty file as a new database. But here an empty file remains of a database whose copy failed, or that
// was emptied: with it a server would show a map without lakes. So a new database gets its first page at once, and an empty file
// is refused.

var errEmpty = errors.New("the file is empty (0 bytes), and so no database; restore a backup, or remove the file and import again")

const (
	// creationPatience is how long an empty file may be the new database of another process, which writes the first page as soon
	// as it has created the file.
	creationPatience = 300 * time.Millisecond
	creationPoll     = 20 * time.Millisecond
)

// newPage returns the first page of a database without tables, as SQLite writes it.
func newPage() (page []byte, err error) {
	db, err := openPool(":memory:", 1)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(context.Background(), fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
		return nil, err
	}
	err = inDriver(conn, func(c interface{ Serialize() ([]byte, error) }) (err error) {
		page, err = c.Serialize()
		return err
	})
	return page, err
}

// makeFile creates a new database if there is no file. There may still be the log of a file that was removed while a server
// has it open. SQLite would share that log with the server, as if both used the same file, and lose the next import. So
// makeFile removes the log's files; the server keeps its own open. Others wait for the first page.
func makeFile(path string) error {
	page, err := newPage()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, end := range fileEnds[1:] {
		if err := os.Remove(path + end); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	_, err = f.Write(page)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(append(errs, fmt.Errorf("create the file: %w", err), os.Remove(path))...)
	}
	return errors.Join(errs...)
}

// refuseEmpty returns an error if the file is empty, and stays so until patience has passed or ctx ends.
func refuseEmpty(ctx context.Context, path string, patience time.Duration) error {
	for deadline := time.Now().Add(patience); ; {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Size() > 0 || !info.Mode().IsRegular() {
			return nil
		}
		if !time.Now().Before(deadline) {
			return errEmpty
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(creationPoll):
		}
	}
}
