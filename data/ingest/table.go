package ingest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxRowBytes bounds the memory for a row. Otherwise one open quote would read in the whole file.
const maxRowBytes = 64 << 10

var errLongRow = fmt.Errorf("does not end within %d bytes: is a quote left open?", maxRowBytes)

// A table is a CSV file after its header.
type table struct {
	notation
	columns   []column
	csv       *csv.Reader
	bound     *rowBound
	positions []int // of each column in a record, -1 if it is missing
	has       columnSet
	ignored   []string // the names in the header that are not columns, in order
	unread    []unreadColumn
	// unreadCharset decodes them.
	unreadCharset charset
	line          int   // where the last row begins
	row           row   // the last row
	failed        error // of finding the marks
}

func (t *table) number() int { return t.line }

func (t *table) unit() unit { return ofLines }

func (t *table) offset() int64 { return t.csv.InputOffset() }

func (t *table) unknown() []string { return t.ignored }

func (t *table) encodedIn() string {
	if !t.charset.used {
		return ""
	}
	return t.charset.single.name
}

// openTable reads the header. The beginning of the file is start.
func openTable(buffered *bufio.Reader, start []byte, c charset, l *layout) (*table, error) {
	columns := slices.DeleteFunc(slices.Clone(l.columns), func(c column) bool { return c.feature }) // these are the last ones
	t := &table{columns: columns}
	t.charset, t.format = c, l.format
	start, err := t.charset.decodeHeader(start)
	if err != nil {
		return nil, err
	}
	t.separator = detectSeparator(start, columns)
	if !l.changed && isPortal(start) {
		return nil, errPortal
	}
	t.bound = &rowBound{r: buffered, max: maxRowBytes, tooLong: errLongRow}
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
	if t.positions, err = locate(columns, header); err != nil {
		return nil, err
	}
	if err := setUnits(columns, header, t.positions); err != nil {
		return nil, fmt.Errorf("line 1: the column %w", err)
	}
	t.has = setOf(columns, t.positions)
	if err := l.checkParameters(t.has); err != nil {
		return nil, err
	}
	t.ignored = unknown(header, t.positions)
	t.unread = t.unreadColumnsOf(header)
	if l.named { // errors name the columns as the header does
		for i, at := range t.positions {
			if at >= 0 && columns[i].ids == nil {
				columns[i].name = strings.TrimSpace(header[at])
			}
		}
	}
	t.bound.rowStart = t.csv.InputOffset()
	return t, nil
}

func newCSV(r io.Reader, separator rune) *csv.Reader {
	c := csv.NewReader(r)
	c.Comma = separator
	return c
}

// detectSeparator returns the separator with which the first line has the most known columns.
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

// next returns the next row that is not blank.
func (t *table) next() (*row, error) {
	for t.failed == nil && t.charset.failed == nil {
		fields, err := t.csv.Read()
		t.bound.rowStart = t.csv.InputOffset()
		parse, malformed := errors.AsType[*csv.ParseError](err)
		switch {
		case malformed:
			t.line = parse.StartLine
			if blank(fields) && errors.Is(err, csv.ErrFieldCount) {
				continue
			}
			if incomplete(fields) {
				return nil, fmt.Errorf("line %d: the Water Quality Portal says that it could not complete this file: download it again", t.line)
			}
			return nil, t.badRow(parse, len(fields))
		case errors.Is(err, errLongRow):
			return nil, fmt.Errorf("the row after that of line %d %w", max(t.line, 1), err)
		case err == io.EOF:
			return nil, cmp.Or(t.parameters.check(t.format.parameters), t.checkUnreadNames(), err)
		case err != nil:
			return nil, err
		}
		t.line, _ = t.csv.FieldPos(0)
		if !blank(fields) {
			if err := t.checkUnread(fields); err != nil {
				return nil, err
			}
			t.row = row{notation: &t.notation, columns: t.columns, positions: t.positions, fields: fields, has: t.has}
			return &t.row, nil
		}
	}
	return nil, cmp.Or(t.failed, t.charset.failed)
}

func (t *table) badRow(parse *csv.ParseError, fields int) error {
	switch {
	case errors.Is(parse, csv.ErrFieldCount):
		return badRow(fmt.Sprintf("it has %d fields, and the header has %d: want as many", fields, t.csv.FieldsPerRecord))
	case parse.Line > parse.StartLine:
		return badRow(fmt.Sprintf("a quote is misplaced, and the quoted row continues to line %d: want quotes around whole fields, and doubled inside", parse.Line))
	}
	return badRow(fmt.Sprintf("a quote is misplaced at byte %d: want quotes around whole fields, and doubled inside", parse.Column))
}

// blank reports whether all fields are empty, as in the last rows of some spreadsheets.
func blank(fields []string) bool {
	for _, f := range fields {
		if strings.TrimSpace(f) != "" {
			return false
		}
	}
	return true
}
