package ingest

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxRowBytes bounds a row, and so the memory for it. Without a bound one open quote would take in the whole file.
const maxRowBytes = 64 << 10

var errLongRow = fmt.Errorf("does not end within %d bytes: is a quote left open?", maxRowBytes)

// A table is a CSV file whose header has been understood.
type table struct {
	csv       *csv.Reader
	bound     *rowBound
	charset   charset
	separator rune
	places    []int    // of each column in a record, -1 if it is not there
	ignored   []string // the names in the header that are of no column, in order
	line      int      // where the row that was read last begins
}

// lacks reports whether a column is not there.
func (t *table) lacks(column int) bool { return t.places[column] < 0 }

// openTable reads the header.
func openTable(r io.Reader, columns []column) (*table, error) {
	buffered := bufio.NewReaderSize(r, maxRowBytes)
	t := &table{}
	start, err := buffered.Peek(maxRowBytes)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		t.charset = inUTF8
		buffered.Discard(3)
		start = start[3:]
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return nil, errors.New("this is UTF-16: save it as UTF-8")
	case bytes.HasPrefix(start, []byte("\x1f\x8b")), bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return nil, errors.New("this is a compressed file or a spreadsheet, not CSV: unpack it or save it as CSV")
	}
	if len(bytes.TrimSpace(start)) == 0 {
		return nil, errors.New("the file is empty: want a first line that names the columns")
	}
	t.separator = detectSeparator(start, columns)
	t.bound = &rowBound{r: buffered}
	t.csv = newCSV(t.bound, t.separator)
	t.csv.ReuseRecord = true
	header, err := t.csv.Read()
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	for i := range header {
		if header[i], err = t.charset.decode(header[i]); err != nil {
			return nil, fmt.Errorf("line 1: the name of column %d %w", i+1, err)
		}
	}
	if t.places, err = locate(columns, header); err != nil {
		return nil, err
	}
	t.ignored = unknown(header, t.places)
	t.bound.rowStart = t.csv.InputOffset()
	return t, nil
}

func newCSV(r io.Reader, separator rune) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma = separator
	return c
}

// detectSeparator returns the separator that makes the first line hold the most known columns.
func detectSeparator(start []byte, columns []column) rune {
	best, most := ',', -1
	for _, separator := range ",;\t|" {
		header, err := newCSV(bytes.NewReader(start), separator).Read()
		if err != nil {
			continue
		}
		if n := known(columns, header); n > most {
			best, most = separator, n
		}
	}
	return best
}

// next returns the next row that is not blank. The fields are valid until the following call. A row that cannot be
// taken apart gives a badRow, after which reading goes on; any other error, io.EOF included, ends the file.
func (t *table) next() ([]string, error) {
	for {
		fields, err := t.csv.Read()
		t.bound.rowStart = t.csv.InputOffset()
		var parse *csv.ParseError
		switch {
		case errors.As(err, &parse):
			t.line = parse.StartLine
			if blank(fields) && errors.Is(err, csv.ErrFieldCount) {
				continue
			}
			return nil, t.badRow(parse, len(fields))
		case errors.Is(err, errLongRow):
			return nil, fmt.Errorf("the row after that of line %d %w", max(t.line, 1), err)
		case err != nil:
			return nil, err
		}
		t.line, _ = t.csv.FieldPos(0)
		if !blank(fields) {
			return fields, nil
		}
	}
}

// A badRow is what is wrong with one row.
type badRow string

func (b badRow) Error() string { return string(b) }

func (t *table) badRow(parse *csv.ParseError, fields int) error {
	switch {
	case errors.Is(parse, csv.ErrFieldCount):
		return badRow(fmt.Sprintf("it has %d fields, and the header has %d: want as many", fields, t.csv.FieldsPerRecord))
	case parse.Line > parse.StartLine:
		return badRow(fmt.Sprintf("a quote is out of place, and the row, as quoted, goes on to line %d: want quotes around whole fields and doubled inside", parse.Line))
	}
	return badRow(fmt.Sprintf("a quote is out of place at byte %d: want quotes around whole fields and doubled inside", parse.Column))
}

// blank reports whether a row holds nothing, as spreadsheets leave them below a table.
func blank(fields []string) bool {
	for _, f := range fields {
		if strings.TrimSpace(f) != "" {
			return false
		}
	}
	return true
}

// A rowBound passes a file on as long as the row that is being read stays within bounds. It may let as much more
// through as the reader above it holds in its buffer, 4 KiB.
type rowBound struct {
	r              io.Reader
	read, rowStart int64 // bytes passed on; of those, up to the end of the last whole row
}

func (b *rowBound) Read(p []byte) (int, error) {
	if b.read-b.rowStart > maxRowBytes {
		return 0, errLongRow
	}
	n, err := b.r.Read(p)
	b.read += int64(n)
	return n, err
}
