package tiff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
)

// Errors of this package wrap one of these.
var (
	// ErrFormat says that the bytes are not a TIFF file, or a damaged one.
	ErrFormat = errors.New("damaged or not a TIFF file")
	// ErrUnsupported says that the file is valid but uses a feature that this package does not read.
	ErrUnsupported = errors.New("unsupported TIFF feature")
)

// A File is an open TIFF file.
type File struct {
	r       io.ReaderAt
	size    int64
	workers int
	order   binary.ByteOrder
	images  []*Image
}

// Options are the optional parameters of [Open]. A nil *Options means all defaults.
type Options struct {
	// Workers is the number of goroutines that decompress in one call of Gather. Zero means GOMAXPROCS.
	Workers int
	// Aux is the content of the file .aux.xml beside the file, in which GDAL writes what it cannot write into the file: units, scales and numbers
	// for no data. It is about the first image. Nil means that there is none.
	Aux []byte
}

// Open reads the structure of a TIFF file of the given size. It does not read pixels. The reader must stay open as long as the
// File and its images are in use; nothing must be closed but the reader.
func Open(r io.ReaderAt, size int64, opts *Options) (*File, error) {
	if opts == nil {
		opts = &Options{}
	}
	f := &File{r: r, size: size, workers: opts.Workers}
	if f.workers <= 0 {
		f.workers = runtime.GOMAXPROCS(0)
	}
	tags := &tagReader{r: r, size: size, budget: maxTagBytes}
	first, err := tags.header()
	if err != nil {
		return nil, err
	}
	f.order = tags.order
	dirs, err := tags.directories(first)
	if err != nil {
		return nil, err
	}
	for i, dir := range dirs {
		if err := f.addImage(tags, dir); err != nil {
			return nil, fmt.Errorf("image directory %d: %w", i+1, err)
		}
	}
	if len(f.images) == 0 {
		return nil, damaged("none of the %d image directories is a full-resolution image", len(dirs))
	}
	if opts.Aux != nil {
		f.images[0].readAux(opts.Aux)
	}
	return f, nil
}

// Images returns the full-resolution images in the order of the file: neither overviews nor masks. There is at least one.
func (f *File) Images() []*Image { return f.images }

// Bits of the tag NewSubfileType.
const (
	subfileReduced = 1
	subfileMask    = 4
)

// addImage adds the image of a directory, or makes it the mask of the image before. Overviews are left out.
func (f *File) addImage(tags *tagReader, dir *directory) error {
	kind, err := dir.subfileType(tags)
	if err != nil || kind&subfileReduced != 0 {
		return err
	}
	if kind&subfileMask != 0 && len(f.images) == 0 {
		return nil // a mask of nothing
	}
	im, err := newImage(f, tags, dir)
	if err != nil {
		return err
	}
	if kind&subfileMask == 0 {
		f.images = append(f.images, im)
		return nil
	}
	of := f.images[len(f.images)-1]
	switch {
	case of.mask != nil:
	case im.width != of.width || im.height != of.height:
		of.refuse(unsupported("a mask of %d x %d pixels for an image of %d x %d", im.width, im.height, of.width, of.height))
	default:
		of.mask = im
	}
	return nil
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// readFull fills buf from offset at.
func readFull(r io.ReaderAt, buf []byte, at int64) error {
	n, err := r.ReadAt(buf, at)
	switch {
	case n == len(buf):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return fmt.Errorf("read %d bytes at offset %d: %w", len(buf), at, io.ErrUnexpectedEOF)
	default:
		return fmt.Errorf("read %d bytes at offset %d: %w", len(buf), at, err)
	}
}
