package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"limnomap/data"
)

// A feature parses the features of a collection, one after the other.
type feature struct {
	notation
	columns   []column
	header    []string // the property names of the previous feature
	positions []int    // of columns in the header
	ignored   []string
	found     columnSet // the columns of all features so far
	row       row
}

// parse returns a feature as a row, or a badRow error.
func (f *feature) parse(raw json.RawMessage) (*row, error) {
	if !utf8.Valid(raw) {
		return nil, badRow("it is not UTF-8, as JSON must be")
	}
	members, err := object(raw, "a Feature")
	if err != nil {
		return nil, badRow(err.Error())
	}
	if kind := members["type"]; string(kind) != `"Feature"` {
		return nil, badRow(fmt.Sprintf("its type is %s: want Feature", quoteJSON(kind)))
	}
	f.row = row{notation: &f.notation, columns: f.columns}
	if err := f.fill(members); err != nil {
		if f.row.fields == nil {
			return nil, badRow(err.Error())
		}
		return &f.row, badRow(err.Error())
	}
	return &f.row, nil
}

// fill fills the row from a feature's members. If only the geometry is bad, the fields are set.
func (f *feature) fill(members map[string]json.RawMessage) error {
	if crs, ok := members["crs"]; ok {
		if err := checkCRS(crs); err != nil {
			return err
		}
	}
	names, values, err := properties(members["properties"])
	if err != nil {
		return err
	}
	if err := f.locate(names); err != nil {
		return err
	}
	f.row.positions = slices.Clone(f.positions)
	if id, ok := members["id"]; ok && f.row.positions[lakeID] < 0 && f.columns[lakeID].plain() {
		f.row.positions[lakeID] = len(values)
		values = append(values, id)
	}
	f.row.fields = make([]string, len(values))
	for column, at := range f.row.positions {
		if at < 0 {
			continue
		}
		if f.row.fields[at], err = field(values[at]); err != nil {
			return fmt.Errorf("%s %w", f.columns[column].name, err)
		}
	}
	f.row.has = setOf(f.columns, f.row.positions).without(lakeOutline) // which depends on the geometry
	geometry, ok := members["geometry"]
	if !ok {
		return nil
	}
	var outline data.Outline
	if at := f.row.positions[lakeOutline]; at >= 0 {
		outline = decodeOutline(f.row.fields[at])
	}
	if f.row.shape, err = parseShape(geometry, outline); err != nil {
		return err
	}
	switch {
	case f.row.shape == nil: // null, which means no outline, as an empty field means no value
		f.row.has = f.row.has.with(lakeOutline)
	case f.row.shape.outline != "":
		f.row.has = f.row.has.with(lakeOutline).with(lakeArea)
	}
	return nil
}

// locate finds the columns among a feature's properties, which are usually the same as those of the previous feature.
func (f *feature) locate(names []string) error {
	if f.positions != nil && slices.Equal(names, f.header) {
		return nil
	}
	positions, clash := find(f.columns, names)
	if clash != nil {
		return fmt.Errorf("it has the property %.40q %s", clash.name, clash.is)
	}
	f.header, f.positions = names, positions
	f.found |= setOf(f.columns, positions)
	for _, name := range unknown(names, positions) {
		if len(f.ignored) <= maxShownColumns && !slices.Contains(f.ignored, name) {
			f.ignored = append(f.ignored, name)
		}
	}
	return nil
}

// checkMapped returns an error if no feature had a property that is mapped.
func (f *feature) checkMapped() error {
	for i, c := range f.columns {
		if c.mapped != "" && f.found.lacks(i) {
			return fmt.Errorf("no feature has the property %.40q, which is mapped to %s", c.mapped, c.name)
		}
	}
	return nil
}

// properties returns the names and values of a feature's properties in order. The JSON is known to be valid, so only
// unexpected types are errors.
func properties(raw json.RawMessage) (names []string, values []json.RawMessage, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil, nil
	}
	if raw[0] != '{' {
		return nil, nil, fmt.Errorf("properties %s: want an object or null", quoteJSON(raw))
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		names, values = append(names, name.(string)), append(values, value)
	}
	return names, values, nil
}

// field returns a text unchanged, a number as integer returns it, and "" for null.
func field(raw json.RawMessage) (string, error) {
	switch c := raw[0]; {
	case c == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case string(raw) == "null":
		return "", nil
	case c == '-' || '0' <= c && c <= '9':
		return integer(string(raw)), nil
	}
	return "", fmt.Errorf("%s: want a text or a number", quoteJSON(raw))
}

// maxInteger is the largest integer that all programs read exactly from JSON (RFC 8259, section 6).
const maxInteger = 1<<53 - 1

// integer returns a number as written, except that an integer loses its fraction or exponent: programs with floating-point
// numbers only write an id 12345 as 12345.0 or 1.2345e4, which must find the stored lake.
func integer(number string) string {
	if !strings.ContainsAny(number, ".eE") {
		return number
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxInteger {
		return number
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// object returns the members of an object by name, case-sensitive.
func object(raw json.RawMessage, want string) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, fmt.Errorf("%s: want %s as an object", quoteJSON(raw), want)
	}
	return members, nil
}

// quoteJSON returns the beginning of a value, for error messages.
func quoteJSON(raw json.RawMessage) string {
	var s string
	switch {
	case len(raw) == 0:
		return "missing"
	case raw[0] == '"' && json.Unmarshal(raw, &s) == nil:
		return fmt.Sprintf("%.40q", s)
	}
	return fmt.Sprintf("%.40q", raw)
}
