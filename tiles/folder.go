package tiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrUnfinished says that a file was left half written by a process that was killed. Nobody reads it.
var ErrUnfinished = errors.New("unfinished cache entry")

// A Folder is the folder of a disk cache as one who looks after it sees it. Services may use it meanwhile.
type Folder struct{ root *os.Root }

// OpenFolder opens the folder of a disk cache, which must be there.
func OpenFolder(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{root}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// An Entry is a file of a Folder: a tile, or what should be one. Its methods may be called while it is visited.
type Entry struct {
	Key   Key       // zero if Err is not nil
	Bytes int64     // that it occupies on disk
	Used  time.Time // when it was asked for last, to within an hour
	Err   error     // [ErrDamaged], [ErrUnfinished], or why it cannot be read
	file  file
}

// Walk visits each file of the cache, and reads enough of it to tell which tile it is. Other files in the folder are left
// alone, symbolic links among them. It ends soon after ctx does, and with the first error of visit.
func (f *Folder) Walk(ctx context.Context, visit func(Entry) error) error {
	now := time.Now()
	return walkFiles(ctx, f.root, func(file file) error {
		e := Entry{Bytes: onDisk(file.info.Size()), Used: file.info.ModTime(), file: file}
		switch {
		case file.abandoned(now):
			e.Err = ErrUnfinished
		case file.temp:
			return nil // somebody is writing it
		default:
			e.Key, e.Err = file.readKey()
		}
		if errors.Is(e.Err, fs.ErrNotExist) {
			return nil // removed since it was listed
		}
		return visit(e)
	})
}

// readKey reads the header of an entry.
func (f file) readKey() (Key, error) {
	file, err := f.shard.OpenFile(f.name, openToRead, 0)
	if err != nil {
		return Key{}, err
	}
	defer file.Close()
	raw := make([]byte, maxHeader)
	n, err := io.ReadFull(file, raw)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Key{}, err
	}
	h, err := decodeHeader(raw[:n], f.sum)
	if err != nil {
		return Key{}, err
	}
	// Not the size of when it was listed: a server may have put another file in its place.
	info, err := file.Stat()
	if err != nil {
		return Key{}, err
	}
	if int64(h.size()) != info.Size() {
		return Key{}, ErrDamaged
	}
	key, err := parseKey(h.key)
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return key, nil
}

// Verify reads the whole entry and returns ErrDamaged if any byte of it is wrong. An entry that was removed meanwhile
// is not.
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

// Remove removes the entry. That it is gone already is no error.
func (e Entry) Remove() error {
	err := e.file.shard.Remove(e.file.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Path returns where the entry lies.
func (e Entry) Path() string { return filepath.Join(e.file.shard.Name(), e.file.name) }
