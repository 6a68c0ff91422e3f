package ingest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"limnomap/data/outline"
)

// A feature reads the features of a collection, one after the other, and keeps of each only what a lake has.
type feature struct {
	notation
	columns   []column
	header    []string // the property names of the previous feature
	limits    []int    // by index in the header: how many bytes of the value are kept; 0 for an unknown name
	positions []int    // of columns in the header
	ignored   []string
	found     columnSet // the columns of all features so far
	row       row

	// The feature that was read last. A value that it lacks is nil.
	kept          []byte // holds all values
	notUTF8       bool
	other         []byte // the feature itself, if it is not an object
	kind, id, crs []byte
	properties    []byte // the member itself, if it is not an object
	names         []string
	values        [][]byte // of the properties with these names; empty for an unknown name
	hasGeometry   bool
	geometry      geometry
}

// A geometry has the kept parts of a feature's geometry.
type geometry struct {
	other       []byte // the geometry itself, if it is not an object
	kind, crs   []byte
	coordinates coordinates
}

// read reads the next feature. An error ends the file.
func (f *feature) read(j *jsonReader) error {
	f.kept, f.other, f.kind, f.id, f.crs = f.kept[:0], nil, nil, nil, nil
	f.properties, f.names, f.values, f.hasGeometry = nil, f.names[:0], f.values[:0], false
	other, err := f.members(j, maxMembers, "members", func(name []byte) (err error) {
		switch string(name) {
		case "type":
			f.kind, err = f.keep(j, maxQuoted)
		case "id":
			f.id, err = f.keep(j, maxKeptBytes)
		case "crs":
			f.crs, err = f.keep(j, maxKeptBytes)
		case "properties":
			err = f.readProperties(j)
		case "geometry":
			err = f.readGeometry(j)
		default:
			err = j.skip()
		}
		return err
	})
	f.other, f.notUTF8 = other, j.notUTF8
	return err
}

// readProperties reads the member "properties".
func (f *feature) readProperties(j *jsonReader) (err error) {
	f.names, f.values = f.names[:0], f.values[:0]
	size := 0
	f.properties, err = f.members(j, maxProperties, "properties", func(name []byte) error {
		if size += len(name); size > maxKeptBytes {
			return fmt.Errorf("the names of its properties have more than %d bytes together: want at most as many", maxKeptBytes)
		}
		i := len(f.names)
		if i == len(f.header) || f.header[i] != string(name) {
			f.header, f.limits = append(f.header[:i], string(name)), append(f.limits[:i], f.limit(string(name)))
			f.positions = nil
		}
		f.names = append(f.names, f.header[i])
		if f.limits[i] == 0 {
			f.values = append(f.values, nil)
			return j.skip()
		}
		value, err := f.keep(j, f.limits[i])
		f.values = append(f.values, value)
		return err
	})
	return err
}

// limit returns how many bytes of a property are kept.
func (f *feature) limit(name string) int {
	switch {
	case sameColumn(name, f.columns[lakeOutline].name):
		return maxTextBytes
	case known(f.columns, []string{name}) > 0:
		return maxKeptBytes
	}
	return 0
}

// readGeometry reads the member "geometry".
func (f *feature) readGeometry(j *jsonReader) (err error) {
	g := &f.geometry
	f.hasGeometry, g.kind, g.crs = true, nil, nil
	g.coordinates.reset()
	g.other, err = f.members(j, maxMembers, "members", func(name []byte) (err error) {
		switch string(name) {
		case "type":
			g.kind, err = f.keep(j, maxQuoted)
		case "crs":
			g.crs, err = f.keep(j, maxKeptBytes)
		case "coordinates":
			err = g.coordinates.read(j)
		default:
			err = j.skip()
		}
		return err
	})
	return err
}

// members reads the members of an object, or keeps the beginning of another value.
func (f *feature) members(j *jsonReader, most int, what string, member func(name []byte) error) (other []byte, err error) {
	if j.PeekKind() != '{' {
		return f.keep(j, maxQuoted)
	}
	if _, _, err := j.next(); err != nil {
		return nil, err
	}
	return nil, j.object(most, what, member)
}

// keep reads a value and keeps at most one byte more than most of it.
func (f *feature) keep(j *jsonReader, most int) (_ []byte, err error) {
	from := len(f.kept)
	room := max(maxTextBytes-from, maxQuoted) // for all values of a feature together
	f.kept, err = j.value(f.kept, min(most+1, room))
	return f.kept[from:len(f.kept):len(f.kept)], err
}

// parse returns the feature as a row, or a badRow error.
func (f *feature) parse() (*row, error) {
	switch {
	case f.notUTF8:
		return nil, badRow("it is not UTF-8, as JSON must be")
	case f.other != nil:
		return nil, badRow(fmt.Sprintf("%s: want a Feature as an object", quoteJSON(f.other)))
	case string(f.kind) != `"Feature"`:
		return nil, badRow(fmt.Sprintf("its type is %s: want Feature", quoteJSON(f.kind)))
	}
	f.row = row{notation: &f.notation, columns: f.columns}
	if err := f.fill(); err != nil {
		if f.row.fields == nil {
			return nil, badRow(err.Error())
		}
		return &f.row, badRow(err.Error())
	}
	return &f.row, nil
}

// fill fills the row. If only the geometry is bad, the fields are set.
func (f *feature) fill() error {
	if f.crs != nil {
		if err := checkCRS(f.crs); err != nil {
			return err
		}
	}
	if f.properties != nil && string(f.properties) != "null" {
		return fmt.Errorf("properties %s: want an object or null", quoteJSON(f.properties))
	}
	if err := f.locate(); err != nil {
		return err
	}
	f.row.positions = slices.Clone(f.positions)
	values := f.values
	if f.id != nil && f.row.positions[lakeID] < 0 && f.columns[lakeID].plain() {
		f.row.positions[lakeID] = len(values)
		values = append(values, f.id)
	}
	fields := make([]string, len(values))
	for column, at := range f.row.positions {
		if at < 0 {
			continue
		}
		var err error
		value := values[at]
		switch {
		case column == lakeOutline && len(value) > maxTextBytes:
			continue // like one that does not belong to the polygons
		case column != lakeOutline && len(value) > maxKeptBytes && value[0] != '{' && value[0] != '[':
			return fmt.Errorf("%s %s...: want at most %d bytes", f.columns[column].name, quoteJSON(value), maxKeptBytes)
		}
		if fields[at], err = field(value); err != nil {
			return fmt.Errorf("%s %w", f.columns[column].name, err)
		}
	}
	f.row.fields = fields
	f.row.has = setOf(f.columns, f.row.positions).without(lakeOutline) // which depends on the geometry
	if !f.hasGeometry {
		return nil
	}
	var given outline.Outline
	if at := f.row.positions[lakeOutline]; at >= 0 {
		given = decodeOutline(f.row.fields[at])
	}
	var err error
	if f.row.shape, err = parseShape(&f.geometry, given); err != nil {
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
func (f *feature) locate() error {
	if f.positions != nil && len(f.names) == len(f.header) {
		return nil
	}
	f.header, f.limits = f.header[:len(f.names)], f.limits[:len(f.names)]
	positions, clash := find(f.columns, f.names)
	if clash != nil {
		f.positions = nil
		return fmt.Errorf("it has the property %.40q %s", clash.name, clash.is)
	}
	f.positions = positions
	f.found |= setOf(f.columns, positions)
	for _, name := range unknown(f.names, positions) {
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
