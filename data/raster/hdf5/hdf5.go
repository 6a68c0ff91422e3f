package hdf5

import (
	"errors"
	"fmt"
	"io"
	"runtime"
)

// Errors of this package wrap one of these, except those of the reader.
var (
	// ErrFormat says that the bytes are not an HDF5 file, or a damaged one.
	ErrFormat = errors.New("damaged or not an HDF5 file")
	// ErrUnsupported says that the file is valid but uses a feature that this package does not read.
	ErrUnsupported = errors.New("unsupported HDF5 feature")
	// ErrNotFound says that a group has no object of the wanted kind and name.
	ErrNotFound = errors.New("not in the HDF5 file")
)

// A File is an open HDF5 file.
type File struct {
	src     *source
	workers int
	super   superblock
	root    *Group

	headers    memo[header]
	links      memo[*linkSet]
	attributes memo[objectAttributes]
}

// Options are the optional parameters of [Open]. A nil *Options means all defaults.
type Options struct {
	// Workers is the number of goroutines that decompress in one call of Gather. Zero means GOMAXPROCS.
	Workers int
}

// Open reads the superblock and the root group of an HDF5 file of the given size. The reader must stay open as long as the File and
// its objects are in use; nothing must be closed but the reader.
func Open(r io.ReaderAt, size int64, opts *Options) (*File, error) {
	if opts == nil {
		opts = &Options{}
	}
	f := &File{src: &source{r: r, size: size}, workers: opts.Workers}
	w := newWork(size)
	f.headers.work, f.links.work, f.attributes.work = w, w, w
	if f.workers <= 0 {
		f.workers = runtime.GOMAXPROCS(0)
	}
	if err := f.readSuperblock(); err != nil {
		return nil, err
	}
	if err := f.checkExtension(); err != nil {
		return nil, fmt.Errorf("superblock extension: %w", err)
	}
	root, err := f.group(f.super.root, "/")
	if errors.Is(err, ErrNotFound) {
		err = damaged("%v", err)
	}
	if err != nil {
		return nil, err
	}
	f.root = root
	return f, nil
}

// Root returns the root group.
func (f *File) Root() *Group { return f.root }

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}
