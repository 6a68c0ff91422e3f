package netcdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"limnomap/data/raster/hdf5"
)

// Errors of this package wrap one of these.
var (
	// ErrFormat says that the bytes are not a NetCDF file, or a damaged one.
	ErrFormat = errors.New("damaged or not a NetCDF file")
	// ErrUnsupported says that the file is valid but uses a feature that this package does not read.
	ErrUnsupported = errors.New("unsupported NetCDF feature")
)

// Options are the optional parameters of [Open]. A nil *Options means all defaults.
type Options struct {
	// Workers is the number of goroutines that decompress in one call of Gather. Zero means GOMAXPROCS.
	Workers int
}

// A File is an open NetCDF file.
type File struct {
	attributeSet
	variables []*Variable
	byName    map[string]*Variable
}

// Open reads the structure of a file of the given size. It does not read values. The reader must stay open as long as the File and
// its variables are in use; nothing must be closed but the reader.
func Open(r io.ReaderAt, size int64, opts *Options) (*File, error) {
	if opts == nil {
		opts = &Options{}
	}
	if size <= 0 {
		return nil, damaged("the file is empty")
	}
	magic := make([]byte, min(size, 8))
	if err := readFull(r, magic, 0); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(magic, []byte("CDF")) {
		return openClassic(r, size)
	}
	return openHDF5(r, size, magic, opts)
}

// Variables returns the variables in the order of the file, those of subgroups last.
func (f *File) Variables() []*Variable { return f.variables }

// Variable returns the variable with a name, which for variables of subgroups is a path such as "group/name".
func (f *File) Variable(name string) (*Variable, bool) {
	v, ok := f.byName[strings.TrimPrefix(name, "/")]
	return v, ok
}

func (f *File) add(v *Variable) {
	f.variables = append(f.variables, v)
	if _, exists := f.byName[v.name]; !exists {
		f.byName[v.name] = v
	}
}

// A Dimension is one dimension of a variable.
type Dimension struct {
	Name string // "" if the file has none
	Len  int64
}

// A Window is a box of values of a variable: its first value and its shape, with one number for each dimension.
type Window = hdf5.Window

// A Variable is an array of values with attributes.
type Variable struct {
	attributeSet
	file        *File
	name        string
	dimensions  []Dimension
	coordinates []string // names of the coordinate variables of the dimensions, "" for a dimension without one
	typ         string
	chunk       []int64 // nil if the values are not stored in chunks
	err         error
	data        gatherer
}

// A gatherer reads windows that lie within the variable.
type gatherer interface {
	gather(ctx context.Context, windows []Window, each func(i int, part Window, values []float64) error) error
}

// Name returns the name of the variable, "group/name" in a subgroup.
func (v *Variable) Name() string { return v.name }

// Dimensions returns the dimensions, slowest first. It is empty for a scalar.
func (v *Variable) Dimensions() []Dimension { return v.dimensions }

// Type returns the type of raw values: "int8" to "int64", "uint8" to "uint64", "float16" to "float64", "char", "string", or the name
// of a class of HDF5.
func (v *Variable) Type() string { return v.typ }

// ChunkShape returns the shape of the chunks in which the values are stored, nil if there are none. The slice must not be changed.
func (v *Variable) ChunkShape() []int64 { return v.chunk }

// Err returns the error that Gather would return for any window, nil if values can be read.
func (v *Variable) Err() error { return v.err }

// Gather reads the raw values of each of the windows, which must lie within the variable, and calls each for parts of windows: values
// has those of part row by row. The parts of window i are disjoint and cover it; each has at most 65,536 values. Their order is not
// defined. Each chunk that a window touches is read and decompressed once, whatever the number of windows. Calls of each are
// serialised; part and values are reused after the call. An error of each ends Gather and is returned as it is.
func (v *Variable) Gather(ctx context.Context, windows []Window, each func(i int, part Window, values []float64) error) error {
	if v.err != nil {
		return v.err
	}
	for i, w := range windows {
		if err := v.checkWindow(w); err != nil {
			return fmt.Errorf("window %d of variable %s: %w", i, v.name, err)
		}
	}
	var callErr error
	err := v.data.gather(ctx, windows, func(i int, part Window, values []float64) error {
		callErr = each(i, part, values)
		return callErr
	})
	switch {
	case callErr != nil:
		return callErr
	case err != nil:
		return fmt.Errorf("variable %s: %w", v.name, err)
	}
	return nil
}

func (v *Variable) checkWindow(w Window) error {
	if len(w.Start) != len(v.dimensions) || len(w.Shape) != len(v.dimensions) {
		return fmt.Errorf("start %v and shape %v, want %d numbers each", w.Start, w.Shape, len(v.dimensions))
	}
	for k, d := range v.dimensions {
		if w.Start[k] < 0 || w.Shape[k] < 0 || w.Start[k] > d.Len || w.Shape[k] > d.Len-w.Start[k] {
			return fmt.Errorf("%d values from %d of dimension %d, which has %d", w.Shape[k], w.Start[k], k, d.Len)
		}
	}
	return nil
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// readFull fills buf from offset at. A file that ends before is damaged.
func readFull(r io.ReaderAt, buf []byte, at int64) error {
	n, err := r.ReadAt(buf, at)
	switch {
	case n == len(buf):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return damaged("read %d bytes at offset %d: the file ends before", len(buf), at)
	default:
		return fmt.Errorf("read %d bytes at offset %d: %w", len(buf), at, err)
	}
}
