package record

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"limnomap/data"
)

// A Column is one value of a record R. If it may be null, it is where its function returns an empty text, NaN or the zero time.
type Column[R any] struct {
	Name     string
	Type     string // of its member in JSON: string, number, integer, boolean, array or object
	Nullable bool
	Optional bool // an object has no such member if it is null; a table has the column all the same

	member string // what precedes the value in an object
	// One of these returns the value, or appends it.
	word   func(R) string
	text   func(R) string
	number func(R) float64
	chl    func(R) data.Chlorophyll
	level  func(R) data.Level
	time   func(R) time.Time
	append func(b []byte, f Format, r R) []byte
}

// Word returns a column of texts that need no escape in any format, such as ids and names of classes.
func Word[R any](name string, of func(R) string) Column[R] {
	return Column[R]{word: of}.named(name, "string")
}

// Text returns a column of any texts.
func Text[R any](name string, of func(R) string) Column[R] {
	return Column[R]{text: of}.named(name, "string")
}

// Number returns a column of numbers.
func Number[R any](name string, of func(R) float64) Column[R] {
	return Column[R]{number: of}.named(name, "number")
}

// Integer returns a column of numbers that are whole.
func Integer[R any](name string, of func(R) float64) Column[R] {
	return Column[R]{number: of}.named(name, "integer")
}

// Chlorophyll returns a column of values in µg/l, or null.
func Chlorophyll[R any](name string, of func(R) data.Chlorophyll) Column[R] {
	return Column[R]{chl: of, Nullable: true}.named(name, "number")
}

// Level returns a column of levels, or null.
func Level[R any](name string, of func(R) data.Level) Column[R] {
	return Column[R]{level: of, Nullable: true}.named(name, "integer")
}

// Time returns a column of times.
func Time[R any](name string, of func(R) time.Time) Column[R] {
	return Column[R]{time: of}.named(name, "string")
}

// Bool returns a column of truths.
func Bool[R any](name string, of func(R) bool) Column[R] {
	return New(name, "boolean", func(b []byte, f Format, r R) []byte { return strconv.AppendBool(b, of(r)) })
}

// New returns a column of values that append appends, in JSON of that type. It appends nothing for null.
func New[R any](name, jsonType string, append func(b []byte, f Format, r R) []byte) Column[R] {
	return Column[R]{append: append}.named(name, jsonType)
}

func (c Column[R]) named(name, jsonType string) Column[R] {
	c.Name, c.Type, c.member = name, jsonType, `,"`+name+`":`
	return c
}

// OrNull returns the column with values that may be null.
func (c Column[R]) OrNull() Column[R] {
	c.Nullable = true
	return c
}

// Known returns n, or NaN if it is not known.
func Known[N ~int | ~int32 | ~float64](n N, known bool) float64 {
	if !known {
		return math.NaN()
	}
	return float64(n)
}

// Day returns a day as a word, empty if it is absent.
func Day(d data.Optional[data.Date]) string {
	if !d.Known {
		return ""
	}
	return d.Value.String()
}

// A Value is that of a column for one record.
type Value struct {
	Text   string
	Number float64 // 1 for true
	Time   time.Time
	Null   bool
}

// A Kind is of which values a column is.
type Kind uint8

const (
	Other   Kind = iota // arrays and objects, which have no Value
	Texts               // Text
	Numbers             // Number
	Truths              // Number
	Times               // Time
)

// Kind returns of which values the column is.
func (c *Column[R]) Kind() Kind {
	switch {
	case c.time != nil:
		return Times
	case c.word != nil, c.text != nil:
		return Texts
	case c.append == nil:
		return Numbers
	case c.Type == "boolean":
		return Truths
	}
	return Other
}

// Value returns the value of the column for r.
func (c *Column[R]) Value(r R) Value {
	switch {
	case c.word != nil:
		s := c.word(r)
		return Value{Text: s, Null: s == "" && c.Nullable}
	case c.text != nil:
		s := c.text(r)
		return Value{Text: s, Null: s == "" && c.Nullable}
	case c.number != nil:
		n := c.number(r)
		return Value{Number: n, Null: math.IsNaN(n)}
	case c.chl != nil:
		n := c.chl(r)
		return Value{Number: n.Float(), Null: !n.Valid()}
	case c.level != nil:
		l := c.level(r)
		return Value{Number: float64(l), Null: l < 0}
	case c.time != nil:
		t := c.time(r)
		return Value{Time: t, Null: t.IsZero() && c.Nullable}
	}
	var b [len("false")]byte
	switch string(c.append(b[:0], Cell, r)) {
	case "true":
		return Value{Number: 1}
	case "false":
		return Value{}
	}
	return Value{Null: true}
}

// Columns are those of a record, in their order in an answer.
type Columns[R any] []Column[R]

// Optional returns the columns, each of them optional.
func (all Columns[R]) Optional() Columns[R] {
	optional := slices.Clone(all)
	for i := range optional {
		optional[i].Nullable, optional[i].Optional = true, true
	}
	return optional
}

// Pick returns the columns with those names, which are separated by commas, in the order of the names. There must be one for each.
func (all Columns[R]) Pick(names string) Columns[R] {
	var picked Columns[R]
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(c Column[R]) bool { return c.Name == name })
		if i < 0 {
			panic(fmt.Sprintf("record: no column %q", name))
		}
		picked = append(picked, all[i])
	}
	return picked
}

// AppendObject appends the record r as an object.
func (all Columns[R]) AppendObject(b []byte, f Format, r R) []byte {
	if len(all) == 0 {
		return append(b, "{}"...)
	}
	start := len(b)
	b = all.appendValues(b, f, r)
	b[start] = '{' // in place of the comma of the first member
	return append(b, '}')
}

// AppendFeature appends the record r as a feature of GeoJSON at the position of its lake (RFC 7946, section 3.2): longitude comes first.
func (all Columns[R]) AppendFeature(b []byte, lake *data.Lake, r R) []byte {
	b = append(b, `{"type":"Feature","geometry":{"type":"Point","coordinates":[`...)
	b = append(appendFloat(b, lake.Point.Lon()), ',')
	b = append(appendFloat(b, lake.Point.Lat()), `]},"properties":`...)
	return append(all.AppendObject(b, Property, r), '}')
}

// AppendLine appends the record r as a line of a table.
func (all Columns[R]) AppendLine(b []byte, r R) []byte {
	return append(all.appendValues(b, Cell, r), lineEnd...)
}

// Header returns the first line of a table: the names of the columns.
func (all Columns[R]) Header() []byte {
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
	}
	return []byte(strings.Join(names, ",") + lineEnd)
}

// appendValues appends a comma, the name unless it is for a table, and the value of each column.
func (all Columns[R]) appendValues(b []byte, f Format, r R) []byte {
	for i := range all {
		c := &all[i]
		start := len(b)
		if f != Cell {
			b = append(b, c.member...)
		} else if i > 0 {
			b = append(b, ',')
		}
		null := false
		switch {
		case c.word != nil:
			s := c.word(r)
			if null = s == "" && c.Nullable; !null {
				b = f.word(b, s)
			}
		case c.text != nil:
			s := c.text(r)
			if null = s == "" && c.Nullable; !null {
				b = f.Text(b, s)
			}
		case c.number != nil:
			n := c.number(r)
			if null = math.IsNaN(n); !null {
				b = appendFloat(b, n)
			}
		case c.chl != nil:
			n := c.chl(r)
			if null = !n.Valid(); !null {
				b, _ = n.AppendText(b) // its error is always nil
			}
		case c.level != nil:
			l := c.level(r)
			if null = l < 0; !null {
				b = append(b, '0'+byte(l))
			}
		case c.time != nil:
			t := c.time(r)
			if null = t.IsZero() && c.Nullable; !null {
				b = f.time(b, t)
			}
		default:
			n := len(b)
			b = c.append(b, f, r)
			null = len(b) == n
		}
		switch {
		case null && c.Optional && f != Cell:
			b = b[:start]
		case null:
			b = f.null(b)
		}
	}
	return b
}
