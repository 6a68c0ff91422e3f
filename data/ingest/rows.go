package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// rows are the rows of a file whose beginning has been understood: a table, or a collection of features.
type rows interface {
	// next returns the next row, valid until the following call. One that cannot be taken apart gives a badRow, and
	// what could be read of it or nil, after which reading goes on; any other error, io.EOF included, ends the file.
	next() (*row, error)
	// number returns which row was read last: the line that it begins on, or how many features it makes.
	number() int
	// ofFeatures reports which of the two number counts.
	ofFeatures() bool
	// offset returns how many bytes, expanded, the rows so far take.
	offset() int64
	// unknown returns the names so far that are of no column.
	unknown() []string
}

// A badRow is what is wrong with one row.
type badRow string

func (b badRow) Error() string { return string(b) }

// open finds out what a file is, compressed or not. Without an error, end must be called when it is no longer read.
func open(r io.Reader, columns []column, features bool) (rs rows, end func(), err error) {
	buffered, end, err := expand(r)
	if err != nil {
		return nil, nil, err
	}
	if rs, err = openRows(buffered, columns, features); err != nil {
		end()
		return nil, nil, err
	}
	return rs, end, nil
}

// openRows finds out what a file that is not compressed is from how it begins.
func openRows(buffered *bufio.Reader, columns []column, features bool) (rows, error) {
	start, err := peek(buffered)
	if err != nil {
		return nil, err
	}
	charset := undecided
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		charset = inUTF8
		buffered.Discard(3)
		start = start[3:]
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return nil, errors.New("this is UTF-16: save it as UTF-8")
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return nil, errors.New("this is a zip archive or a spreadsheet, not CSV: unpack it or save it as CSV")
	case bytes.HasPrefix(start, []byte("BZh")), bytes.HasPrefix(start, []byte("\xfd7zXZ\x00")):
		return nil, errors.New("this is compressed by bzip2 or xz: want gzip or zstd, or unpack it")
	}
	switch begin := bytes.TrimSpace(start); {
	case len(begin) == 0:
		return nil, errors.New("the file is empty: want a first line that names the columns")
	case features && (begin[0] == '[' || begin[0] == '\x1e'): // RFC 8142 begins each feature with a record separator
		return nil, errors.New("this is an array or a sequence of JSON texts: want one FeatureCollection")
	case begin[0] != '{':
		return openTable(buffered, start, charset, columns)
	case !features:
		return nil, errors.New("this is JSON: want CSV, since GeoJSON brings lakes and no observations")
	}
	return openCollection(buffered, columns)
}

// A rowBound passes a file on as long as the row that is being read stays within bounds. It may let as much more
// through as the reader above it holds in its buffer.
type rowBound struct {
	r              io.Reader
	max            int64
	tooLong        error // than that
	read, rowStart int64 // bytes passed on; of those, up to the end of the last whole row
}

func (b *rowBound) Read(p []byte) (int, error) {
	if b.read-b.rowStart > b.max {
		return 0, b.tooLong
	}
	n, err := b.r.Read(p)
	b.read += int64(n)
	return n, err
}
