package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"limnomap/data/outline"
)

const (
	// maxFeatureBytes bounds the memory and the time for a feature: an outline of outline.MaxPoints takes 20 MB with 16 digits for
	// each number and each number indented on its own line.
	maxFeatureBytes = 32 << 20
	// maxTextBytes bounds one text or number, with the white space before it. The largest one is an outline in base64, whose points take at
	// most 10 bytes each, and those of coarser zooms three times as many together: 10.7 MB.
	maxTextBytes = 11 << 20
	// maxKeptBytes bounds the other values of columns: they are no longer than a row of a table.
	maxKeptBytes = maxRowBytes
	// maxMembers bounds the members of the collection, of a feature and of a geometry, and maxProperties those of a
	// feature's properties: data of OpenStreetMap have up to some hundred. The names of the properties take at most
	// maxKeptBytes together.
	maxMembers    = 100
	maxProperties = 1000
)

var (
	errLongFeature = fmt.Errorf("does not end within %d bytes", maxFeatureBytes)
	errLongText    = fmt.Errorf("a text, a number or white space does not end within %d bytes", maxTextBytes)
	errEarlyEnd    = errors.New("the file ends before the end of its FeatureCollection: is it complete?")
)

// A collection is a FeatureCollection in GeoJSON (RFC 7946).
type collection struct {
	jsonList
	feature
	typed bool // whether there was a member "type"
}

// openCollection reads up to the first feature.
func openCollection(r io.Reader, l *layout) (*collection, error) {
	c := &collection{feature: feature{notation: notation{charset: charset{inUTF8: true}, separator: ',', format: l.format}, columns: slices.Clone(l.columns)}}
	c.jsonList = jsonList{name: "features", early: errEarlyEnd, bound: rowBound{max: maxFeatureBytes, tooLong: errLongFeature}, other: c.member}
	found, err := c.start(r)
	if err == nil && !found {
		err = errors.New("there are no features: want a FeatureCollection")
	}
	return c, err
}

func (c *collection) unit() unit { return ofFeatures }

func (c *collection) unknown() []string { return c.ignored }

func (c *collection) encodedIn() string { return "" }

// member checks a member of the collection.
func (c *collection) member(name string, value []byte) error {
	switch name {
	case "type":
		if c.typed = string(value) == `"FeatureCollection"`; !c.typed {
			return fmt.Errorf("its type is %s: want a FeatureCollection", quoteJSON(value))
		}
	case "crs":
		return checkCRS(value)
	}
	return nil
}

func (c *collection) next() (*row, error) {
	if c.ended {
		return nil, io.EOF
	}
	err := c.jsonList.next()
	if err == io.EOF {
		return nil, c.end()
	}
	if errors.Is(err, errEarlyEnd) && !c.json.More() {
		return nil, fmt.Errorf("after feature %d: %w", c.count, err)
	}
	if err == nil {
		if err = c.feature.read(c.value); err == nil {
			return c.feature.parse()
		}
		c.count--
	}
	return nil, fmt.Errorf("feature %d: %w", c.count+1, err)
}

// end reads what follows the last feature. It returns io.EOF if that is valid.
func (c *collection) end() error {
	err := c.jsonList.end()
	switch {
	case err != io.EOF:
		return fmt.Errorf("after the features: %w", err)
	case !c.typed:
		return errors.New(`the file has no "type": want FeatureCollection`)
	case c.count > 0:
		if err := c.checkFound(); err != nil {
			return err
		}
	}
	return io.EOF
}

// A feature reads the features of a collection, one after the other.
type feature struct {
	notation
	columns   []column
	header    []string // the property names of the previous feature
	positions []int    // of columns in the header
	ignored   []string
	found     columnSet // the columns of all features so far
	row       row

	// The feature that was read last, as parts of its bytes. A value that it lacks is nil.
	raw           []byte
	kind, id, crs []byte
	properties    []byte // the member itself, if it is not an object
	names         []string
	values        [][]byte // of the properties with these names
	hasGeometry   bool
	geometry      geometry
}

// A geometry has the parts of a feature's geometry.
type geometry struct {
	other     []byte // the geometry itself, if it is not an object
	kind, crs []byte
	coordinates
}

// read finds the parts of a feature. An error ends the file.
func (f *feature) read(raw []byte) error {
	*f = feature{notation: f.notation, columns: f.columns, header: f.header, positions: f.positions, ignored: f.ignored, found: f.found,
		raw: raw, names: f.names[:0], values: f.values[:0]}
	if raw[0] != '{' {
		return nil
	}
	return eachMember(raw, maxMembers, "members", func(name string, value []byte) error {
		switch name {
		case "type":
			f.kind = value
		case "id":
			f.id = value
		case "crs":
			f.crs = value
		case "properties":
			return f.readProperties(value)
		case "geometry":
			return f.readGeometry(value)
		}
		return nil
	})
}

func (f *feature) readProperties(value []byte) error {
	f.names, f.values, f.properties = f.names[:0], f.values[:0], nil
	if value[0] != '{' {
		f.properties = value
		return nil
	}
	size := 0
	return eachMember(value, maxProperties, "properties", func(name string, value []byte) error {
		if size += len(name); size > maxKeptBytes {
			return fmt.Errorf("the names of its properties have more than %d bytes together: want at most as many", maxKeptBytes)
		}
		f.names, f.values = append(f.names, name), append(f.values, value)
		return nil
	})
}

func (f *feature) readGeometry(value []byte) error {
	f.hasGeometry, f.geometry = true, geometry{}
	g := &f.geometry
	if value[0] != '{' {
		g.other = value
		return nil
	}
	return eachMember(value, maxMembers, "members", func(name string, value []byte) error {
		switch name {
		case "type":
			g.kind = value
		case "crs":
			g.crs = value
		case "coordinates":
			g.rest = value
		}
		return nil
	})
}

// parse returns the feature as a row, or a badRow error.
func (f *feature) parse() (*row, error) {
	switch {
	case !utf8.Valid(f.raw):
		return nil, badRow("it is not UTF-8, as JSON must be")
	case f.raw[0] != '{':
		return nil, badRow(fmt.Sprintf("%s: want a Feature as an object", quoteJSON(f.raw)))
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
		if column != lakeOutline && len(value) > maxKeptBytes && value[0] != '{' && value[0] != '[' {
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
	if f.positions != nil && slices.Equal(f.names, f.header) {
		return nil
	}
	f.header = append(f.header[:0], f.names...)
	positions, clash := find(f.columns, f.names)
	if clash != nil {
		f.positions = nil
		return fmt.Errorf("it has the property %.40q %s", clash.name, clash.is)
	}
	if err := setUnits(f.columns, f.names, positions); err != nil {
		f.positions = nil
		return fmt.Errorf("the property %w", err)
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

// checkFound returns an error if no feature had a property that is mapped, or one for the names of the lakes.
func (f *feature) checkFound() error {
	for i, c := range f.columns {
		if c.mapped != "" && f.found.lacks(i) {
			return fmt.Errorf("no feature has the property %.40q, which is mapped to %s", c.mapped, c.name)
		}
	}
	if c := f.columns[lakeName]; c.required && f.found.lacks(lakeName) && len(f.ignored) > 0 { // one of these may be the name
		return fmt.Errorf("no feature has the property name: want one, which may be empty where a lake has no name, or --map name=PROPERTY (the properties are %s)", quoted(f.ignored))
	}
	return nil
}

// field returns a text unchanged, a number as integer returns it, and "" for null.
func field(raw []byte) (string, error) {
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

// checkCRS returns an error unless the member "crs", of GeoJSON before RFC 7946, names the reference system of RFC 7946 or
// one with the same coordinates.
func checkCRS(raw []byte) error {
	if string(raw) == "null" { // it says nothing
		return nil
	}
	var crs struct {
		Properties struct{ Name string }
	}
	if err := json.Unmarshal(raw, &crs); err == nil {
		switch crs.Properties.Name {
		case "urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:OGC::CRS84", "OGC:CRS84",
			"http://www.opengis.net/def/crs/OGC/1.3/CRS84", "urn:ogc:def:crs:EPSG::4326", "EPSG:4326":
			return nil
		}
	}
	return fmt.Errorf("crs %.120q: want longitudes and latitudes in WGS 84 (EPSG:4326), as RFC 7946 requires", compact(raw))
}
