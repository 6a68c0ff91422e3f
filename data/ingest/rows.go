package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// rows are the rows of a file after its header: a table, or a collection of features.
type rows interface {
	// next returns the next row, valid until the following call. A row that cannot be parsed is a badRow error, with what
	// could be read of it or nil, and reading continues. Any other error, including io.EOF, ends the file.
	next() (*row, error)
	// number returns the number of the last row: its first line, or the count of features or statements so far.
	number() int
	// unit returns what number counts.
	unit() unit
	// offset returns the size, expanded, of the rows so far.
	offset() int64
	// unknown returns the names so far that are not columns.
	unknown() []string
	// encodedIn returns the encoding of the file if it is not UTF-8; or "".
	encodedIn() string
}

// A unit is what the rows of a file are counted in.
type unit uint8

const (
	ofLines unit = iota
	ofFeatures
	ofStatements
	ofRecords
)

func (u unit) String() string {
	return [...]string{ofLines: "line", ofFeatures: "feature", ofStatements: "statement", ofRecords: "record"}[u]
}

// A jsonForm is the form of JSON that a kind of data may have besides CSV.
type jsonForm uint8

const (
	noJSON jsonForm = iota
	featureCollection
	statementList
)

// A badRow is an error in one row.
type badRow string

func (b badRow) Error() string { return string(b) }

// A layout is what the files of a kind of rows look like.
type layout struct {
	columns []column
	id      int // the column of the lake's id
	json    jsonForm
	changed bool // whether Map or Set are given: then results of the Water Quality Portal are a table like others
	named   bool // whether errors name the columns as the header does
	points  bool // whether numbers have a decimal point, as in JSON
	format  tableFormat
}

func (l *layout) form() *layout { return l }

// open finds out the format of a file, compressed or not. It is opened again, with its reader passed to wrap, if its encoding is not clear
// from its beginning. Without an error, the caller must call end.
func open(r io.Reader, f File, l *layout, wrap func(io.Reader) io.Reader) (rs rows, end func(), err error) {
	if f.Table != nil {
		own := *l
		if own.format, err = f.Table.parse(); err != nil {
			return nil, nil, err
		}
		l = &own
	}
	buffered, end, err := expand(r)
	if err != nil {
		return nil, nil, err
	}
	c := charset{inUTF8: l.format.inUTF8, given: l.format.inUTF8 || l.format.encoding != nil, single: l.format.encoding, detect: func() (*byteEncoding, error) { return f.detectEncoding(wrap) }}
	if rs, err = openRows(buffered, f.Name, c, l); err != nil {
		end()
		return nil, nil, err
	}
	return rs, end, nil
}

// detectEncoding finds out the single-byte encoding of a file.
func (f File) detectEncoding(wrap func(io.Reader) io.Reader) (*byteEncoding, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	buffered, end, err := expand(wrap(r))
	if err != nil {
		return nil, err
	}
	defer end()
	words, err := readWords(buffered)
	if err != nil {
		return nil, err
	}
	return detectEncoding(words)
}

// textStart returns the beginning of an expanded file after its byte-order mark, and whether it has that of UTF-8. It is an error if the file
// is no text.
func textStart(buffered *bufio.Reader, name string) (start []byte, marked bool, err error) {
	if start, err = peek(buffered); err != nil {
		return nil, false, err
	}
	if bytes.HasPrefix(start, []byte("\xef\xbb\xbf")) {
		_, _ = buffered.Discard(3)
		start, marked = start[3:], true
	}
	return start, marked, otherFormat(start, name)
}

// openRows finds out the format of an expanded file from its beginning. The charset is that of a table without a byte-order mark.
func openRows(buffered *bufio.Reader, name string, c charset, l *layout) (rows, error) {
	start, marked, err := textStart(buffered, name)
	if err != nil {
		return nil, err
	}
	if marked {
		c.inUTF8, c.single = true, nil
	}
	switch begin := bytes.TrimSpace(start); {
	case len(begin) == 0:
		return nil, errors.New("the file is empty: want a first line that names the columns")
	case l.json == statementList && (begin[0] == '{' || begin[0] == '['):
		return openStatements(buffered, l)
	case l.json == featureCollection && (begin[0] == '[' || begin[0] == '\x1e'): // RFC 8142 begins each feature with a record separator
		return nil, errors.New("this is an array or a sequence of JSON texts: want one FeatureCollection")
	case begin[0] != '{':
		return openTable(buffered, start, c, l)
	case l.json == noJSON:
		return nil, errors.New("this is JSON: want CSV, because JSON is for lakes and official statements, not for observations")
	}
	return openCollection(buffered, l)
}

// A rowBound passes a file on as long as the current row is not too long. It may pass on as much more as the buffer of the
// reader above it holds.
type rowBound struct {
	r              io.Reader
	max            int64
	tooLong        error // the error for a longer row
	read, rowStart int64 // bytes passed on; the position where the current row starts
}

func (b *rowBound) Read(p []byte) (int, error) {
	if b.read-b.rowStart > b.max {
		return 0, b.tooLong
	}
	n, err := b.r.Read(p[:min(len(p), maxRowBytes)]) // so that a reader above it does not grow its buffer much before the check
	b.read += int64(n)
	return n, err
}
