package ingest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxStatementBytes bounds a statement in JSON, and each other member of the file: it is no longer than a row of a table.
const maxStatementBytes = maxRowBytes

var (
	errLongStatement = fmt.Errorf("does not end within %d bytes", maxStatementBytes)
	errStatementsEnd = errors.New("the file ends before the end of its JSON: is it complete?")
	errNoStatements  = errors.New(`there are no official statements: want an object with the member "advisories", or an array`)
)

// statements are a file of official statements in JSON: an object with the array "advisories", as the API answers, or only the array.
// A statement is a row, and its members are the columns: text_en and text_de may also be members en and de of "text".
type statements struct {
	jsonList
	notation
	columns []column
	ignored []string
	found   columnSet // the columns of all statements so far

	// The statement that was read last, as parts of its bytes.
	names   []string
	values  [][]byte // of the members with these names
	badText []byte   // the member "text", if it is neither an object nor null
}

// openStatements reads up to the first statement.
func openStatements(r io.Reader, l *layout) (*statements, error) {
	s := &statements{notation: notation{charset: charset{inUTF8: true}, separator: ',', format: l.format}, columns: l.columns}
	s.jsonList = jsonList{name: "advisories", early: errStatementsEnd, bound: rowBound{max: maxStatementBytes, tooLong: errLongStatement},
		other: func(name string, _ []byte) error { return nil }}
	found, err := s.start(r)
	if err == nil && !found {
		err = errNoStatements
	}
	return s, err
}

func (s *statements) unit() unit { return ofStatements }

func (s *statements) unknown() []string { return s.ignored }

func (s *statements) encodedIn() string { return "" }

func (s *statements) next() (*row, error) {
	if s.ended {
		return nil, io.EOF
	}
	err := s.jsonList.next()
	if err == io.EOF {
		return nil, s.end()
	}
	if err == nil && len(s.value) > maxStatementBytes {
		err = errLongStatement
		s.count--
	}
	if err == nil && s.value[0] == '{' {
		if err = s.readStatement(); err != nil {
			s.count--
		}
	}
	if err != nil {
		return nil, fmt.Errorf("statement %d: %w", s.count+1, err)
	}
	switch {
	case !utf8.Valid(s.value):
		return nil, badRow("it is not UTF-8, as JSON must be")
	case s.value[0] != '{':
		return nil, badRow(fmt.Sprintf("%s: want a statement as an object", quoteJSON(s.value)))
	case s.badText != nil:
		return nil, badRow(fmt.Sprintf("text %s: want an object with the members en and de", quoteJSON(s.badText)))
	}
	return s.row()
}

// end reads what follows the last statement. It returns io.EOF if that is valid.
func (s *statements) end() error {
	if err := s.jsonList.end(); err != io.EOF {
		return fmt.Errorf("after statement %d: %w", s.count, err)
	}
	for i, c := range s.columns {
		if c.mapped != "" && s.found.lacks(i) && s.count > 0 {
			return fmt.Errorf("no statement has the member %.40q, which is mapped to %s", c.mapped, c.name)
		}
	}
	return io.EOF
}

// readStatement finds the parts of a statement. An error ends the file.
func (s *statements) readStatement() error {
	s.names, s.values, s.badText = s.names[:0], s.values[:0], nil
	return eachMember(s.value, maxMembers, "members", func(name string, value []byte) error {
		switch {
		case !strings.EqualFold(name, "text") || known(s.columns, []string{name}) > 0: // the name may be mapped
			s.member(name, value)
		case value[0] == '{':
			return eachMember(value, maxMembers, "languages", func(language string, value []byte) error {
				s.member("text_"+language, value)
				return nil
			})
		case string(value) != "null":
			s.badText = value
		}
		return nil
	})
}

// member keeps the value of a column.
func (s *statements) member(name string, value []byte) {
	switch {
	case known(s.columns, []string{name}) > 0:
		s.names, s.values = append(s.names, name), append(s.values, value)
	case len(s.ignored) <= maxShownColumns && !slices.Contains(s.ignored, name):
		s.ignored = append(s.ignored, name)
	}
}

// row returns the statement that was read last as a row, or a badRow error.
func (s *statements) row() (*row, error) {
	positions, clash := find(s.columns, s.names)
	if clash != nil {
		return nil, badRow(fmt.Sprintf("it has the member %.40q %s", clash.name, clash.is))
	}
	r := &row{notation: &s.notation, columns: s.columns, positions: positions, has: setOf(s.columns, positions)}
	s.found |= r.has
	fields := make([]string, len(s.values))
	for i, value := range s.values {
		var err error
		if fields[i], err = field(value); err != nil {
			return nil, badRow(fmt.Sprintf("%.40s %s", s.names[i], err))
		}
	}
	r.fields = fields
	return r, nil
}
