package ingest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxStatementBytes bounds a statement in JSON, and each other member of the file: it is no longer than a row of a table.
const maxStatementBytes = maxRowBytes

var (
	errLongStatement   = fmt.Errorf("does not end within %d bytes", maxStatementBytes)
	errStatementsEnd   = errors.New("the file ends before the end of its JSON: is it complete?")
	errStatements      = errors.New("these are the statements") // ends the members before them
	errNoStatements    = errors.New(`there are no official statements: want an object with the member "advisories", or an array`)
	errStatementsTwice = errors.New(`there are two members "advisories": want one array`)
)

// statements are a file of official statements in JSON: an object with the array "advisories", as the API answers, or only the array.
// A statement is a row, and its members are the columns: text_en and text_de may also be members en and de of "text". One statement
// at a time is in memory.
type statements struct {
	notation
	json    *jsonReader
	columns []column
	array   bool // whether the file is only the array
	read    int  // number of statements
	ended   bool // whether the array has ended
	ignored []string
	found   columnSet // the columns of all statements so far

	// The statement that was read last.
	kept    []byte // holds all values
	names   []string
	values  [][]byte // of the members with these names; nil for an unknown name
	badText []byte   // the member "text", if it is neither an object nor null
}

// openStatements reads up to the first statement.
func openStatements(r io.Reader, columns []column) (*statements, error) {
	s := &statements{columns: columns, json: newJSONReader(r, maxStatementBytes, errLongStatement)}
	s.notation = notation{charset: inUTF8, separator: ','}
	kind, _, err := s.json.next() // the opening brace or bracket
	if err != nil {
		return nil, explainStatements(err)
	}
	if s.array = kind == '['; s.array {
		return s, nil
	}
	found, err := s.header()
	if err == nil && !found {
		err = errNoStatements
	}
	return s, err
}

func (s *statements) number() int { return s.read }

func (s *statements) unit() unit { return ofStatements }

func (s *statements) offset() int64 { return s.json.InputOffset() }

func (s *statements) unknown() []string { return s.ignored }

// explainStatements replaces the error of an early end, which names GeoJSON.
func explainStatements(err error) error {
	if errors.Is(err, errEarlyEnd) {
		return errStatementsEnd
	}
	return err
}

// header reads members up to the statements, which sets found, or to the end of the object.
func (s *statements) header() (found bool, err error) {
	err = s.json.object(maxMembers, "members", func(name []byte) error {
		s.json.begin()
		switch string(name[:min(len(name), maxQuoted)]) {
		case "advisories":
			kind, _, err := s.json.next()
			if err == nil && kind != '[' {
				err = errors.New(`"advisories" is not an array: want an array of official statements`)
			}
			if err != nil {
				return err
			}
			return errStatements
		case "features": // of GeoJSON, which may be long
			return errNoStatements
		}
		if err := s.json.skip(); err != nil {
			return fmt.Errorf("%.40q: %w", name, err)
		}
		return nil
	})
	if err == errStatements {
		return true, nil
	}
	return false, explainStatements(err)
}

func (s *statements) next() (*row, error) {
	if s.ended {
		return nil, io.EOF
	}
	s.json.begin()
	kind := s.json.PeekKind()
	if kind == ']' {
		return nil, s.end()
	}
	object, err := s.readStatement()
	if err == nil && s.json.InputOffset()-s.json.start > maxStatementBytes {
		err = errLongStatement
	}
	if err != nil {
		return nil, fmt.Errorf("statement %d: %w", s.read+1, explainStatements(err))
	}
	s.read++
	switch {
	case s.json.notUTF8:
		return nil, badRow("it is not UTF-8, as JSON must be")
	case !object:
		return nil, badRow(fmt.Sprintf("%s: want a statement as an object", quoteJSON(s.kept)))
	case s.badText != nil:
		return nil, badRow(fmt.Sprintf("text %s: want an object with the members en and de", quoteJSON(s.badText)))
	}
	return s.row()
}

// end reads what follows the last statement. It returns io.EOF if that is valid.
func (s *statements) end() error {
	after := func(err error) error { return fmt.Errorf("after statement %d: %w", s.read, explainStatements(err)) }
	if _, _, err := s.json.next(); err != nil { // the closing bracket
		return after(err)
	}
	s.ended = true
	if !s.array {
		again, err := s.header()
		switch {
		case err != nil:
			return after(err)
		case again:
			return errStatementsTwice
		}
	}
	for i, c := range s.columns {
		if c.mapped != "" && s.found.lacks(i) && s.read > 0 {
			return fmt.Errorf("no statement has the member %.40q, which is mapped to %s", c.mapped, c.name)
		}
	}
	if _, err := s.json.ReadToken(); err != io.EOF {
		return errors.New("there is more after the official statements: want one object or one array")
	}
	return io.EOF
}

// readStatement reads the next statement, and reports whether it is an object; of another value it keeps the beginning. An error ends
// the file.
func (s *statements) readStatement() (object bool, err error) {
	s.kept, s.names, s.values, s.badText = s.kept[:0], s.names[:0], s.values[:0], nil
	if s.json.PeekKind() != '{' {
		s.kept, err = s.json.value(s.kept, maxQuoted)
		return false, err
	}
	if _, _, err := s.json.next(); err != nil {
		return true, err
	}
	return true, s.json.object(maxMembers, "members", func(name []byte) error {
		if !strings.EqualFold(string(name), "text") || known(s.columns, []string{string(name)}) > 0 { // the name may be mapped
			return s.member(string(name))
		}
		if s.json.PeekKind() == '{' {
			if _, _, err := s.json.next(); err != nil {
				return err
			}
			return s.json.object(maxMembers, "languages", func(language []byte) error { return s.member("text_" + string(language)) })
		}
		value, err := s.keep(maxQuoted)
		if string(value) != "null" {
			s.badText = value
		}
		return err
	})
}

// member reads the value of a member, and keeps that of a column.
func (s *statements) member(name string) error {
	if known(s.columns, []string{name}) == 0 {
		if len(s.ignored) <= maxShownColumns && !slices.Contains(s.ignored, name) {
			s.ignored = append(s.ignored, name)
		}
		return s.json.skip()
	}
	value, err := s.keep(maxStatementBytes)
	s.names, s.values = append(s.names, name), append(s.values, value)
	return err
}

// keep reads a value and keeps its first bytes, or all of a text or number of at most that many.
func (s *statements) keep(most int) (_ []byte, err error) {
	from := len(s.kept)
	s.kept, err = s.json.value(s.kept, most)
	return s.kept[from:len(s.kept):len(s.kept)], err
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
