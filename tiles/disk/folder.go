package disk

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrUnfinished is the error of a temporary file that a killed process left. No server reads it.
var ErrUnfinished = errors.New("unfinished cache entry")

// A Folder is the folder of a cache, for tools that list, check and remove its files. Servers may use it at the same time.
type Folder struct{ root *os.Root }

// OpenFolder opens the folder of a cache, which must exist.
func OpenFolder(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{root}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// An Entry is a file of a Folder. Its methods may be called while it is visited.
type Entry struct {
	Key   []byte    // nil if Err is not nil
	Bytes int64     // disk space that it takes
	Used  time.Time // last use, to within an hour
	Err   error     // ErrDamaged, ErrUnfinished, or why it cannot be read
	file  file
}

// Walk visits each file of the cache, and reads its key. It ignores other files in the folder, and symbolic links. It ends
// soon after ctx does, and with the first error of visit.
func (f *Folder) Walk(ctx context.Context, visit func(Entry) error) error {
	now := time.Now()
	return walkFiles(ctx, f.root, func(file file) error {
		e := Entry{Bytes: onDisk(file.info.Size()), Used: file.info.ModTime(), file: file}
		switch {
		case file.abandoned(now):
			e.Err = ErrUnfinished
		case file.temp:
			return nil // a process is writing it
		default:
			e.Key, e.Err = file.readKey()
		}
		if errors.Is(e.Err, fs.ErrNotExist) {
			return nil // removed since it was listed
		}
		return visit(e)
	})
}

// Verify reads the whole entry and returns ErrDamaged if any byte of it is wrong. It returns nil if the entry was removed
// since.
func (e Entry) Verify() error {
	if e.Err != nil {
		return e.Err
	}
	_, _, err := readEntry(e.file.shard, e.file.name, e.file.sum)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Remove removes the entry. It returns nil if the entry is gone already.
func (e Entry) Remove() error {
	err := e.file.shard.Remove(e.file.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Path returns the path of the entry.
func (e Entry) Path() string { return filepath.Join(e.file.shard.Name(), e.file.name) }
