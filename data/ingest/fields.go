package ingest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"limnomap/data"
)

// A notation is how a file writes values.
type notation struct {
	charset   charset
	separator rune
	marks     func() *marks // finds the decimal marks of a table; nil where numbers have a decimal point, as in JSON
	format    tableFormat
	units     map[unitText]unitFactor // of the units that were read; zero if they are not known
	parameters
}

// A row is a row of a table or a feature of a collection.
type row struct {
	*notation
	columns   []column
	positions []int // of each column in fields, -1 if it is missing
	fields    []string
	has       columnSet
	derived   columnSet // of has: those with what a server derived, which this row does not say
	shape     *shape    // the geometry of a feature, or nil
	censored  int       // number of values below a limit of detection
	err       error     // why the row is bad or left out, by the first of its fields; then the others have no value
}

// fail sets err unless it is set, and returns it.
func (r *row) fail(err error) error {
	if r.err == nil {
		r.err = err
	}
	return r.err
}

// text returns the field of column c without surrounding white space; empty if it has no value.
func (r *row) text(c int) string { return fieldValue(r.words(c)) }

// words is text for a field of any words, in which NA is a word, such as the code of Namibia.
func (r *row) words(c int) string {
	if r.err != nil {
		return ""
	}
	s := r.columns[c].constant
	if at := r.positions[c]; at >= 0 {
		var err error
		if s, err = r.charset.decode(r.fields[at]); err != nil {
			r.fail(fmt.Errorf("%s %w", r.columns[c].name, err))
			return ""
		}
	}
	if s = wordsOf(s); slices.Contains(r.format.nulls, s) {
		return ""
	}
	return s
}

// fieldValue returns s without surrounding white space; empty if it is a word for no value.
func fieldValue(s string) string {
	if s = wordsOf(s); s == "NA" {
		return ""
	}
	return s
}

// wordsOf is fieldValue for any words, in which NA is one.
func wordsOf(s string) string {
	if s = strings.TrimSpace(s); s == "-" || s == "n.a." {
		return ""
	}
	return s
}

// required is text for a field that must have a value.
func (r *row) required(c int, want string) string {
	s := r.text(c)
	if s == "" {
		r.fail(fmt.Errorf("%s is missing: want %s", r.columns[c].name, want))
	}
	return s
}

// lakeID returns the id of the row's lake, which is in column c or made from another one.
func (r *row) lakeID(c int, want string) (id data.LakeID) {
	ids := r.columns[c].ids
	var s string
	if ids == nil {
		s = r.required(c, want)
	} else if s = r.line(c); s == "" {
		r.fail(fmt.Errorf("%s is missing: want the lake's name", r.columns[r.columns[c].from].name))
	}
	if r.err != nil {
		return ""
	}
	var err error
	if ids == nil {
		id, err = data.ParseLakeID(s)
	} else {
		id, err = ids.id(s)
	}
	r.fail(err)
	return id
}

// line is words with each run of white space replaced by one space, so that it fits on one line.
func (r *row) line(c int) string { return oneLine(r.words(c)) }

// oneLine returns words with each run of white space replaced by one space.
func oneLine(s string) string { return strings.Join(strings.Fields(wordsOf(s)), " ") }

// textLines returns words with each run of white space in a line replaced by one space, and without empty lines at its beginning and
// end.
func textLines(s string) string {
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(wordsOf(s)), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// bad is fail with an error about a field.
func (r *row) bad(c int, value, want string) error {
	return r.fail(fmt.Errorf("%s %.80q: want %s", r.columns[c].name, value, want))
}

// A span is the range of a column of numbers.
type span struct {
	min, max float64
	rest     string // the unit and what else is allowed, appended to the range
}

func (s span) String() string {
	return fmt.Sprintf("a number from %s to %s%s", strconv.FormatFloat(s.min, 'f', -1, 64), strconv.FormatFloat(s.max, 'f', -1, 64), s.rest)
}

// number returns the number in column c; ok is false if it has no value.
func (r *row) number(c int, in span) (f float64, ok bool) {
	s := r.text(c)
	if s == "" {
		return 0, false
	}
	f, err := r.parseNumber(c, s, in)
	return r.columns[c].fromUnit(f), err == nil
}

// censorable is number for measurements, which may be below a limit of detection: then it returns half the limit, the
// usual substitute.
func (r *row) censorable(c int, in span) (f float64, ok bool) {
	s := r.text(c)
	if s == "" {
		return 0, false
	}
	limit, below := strings.CutPrefix(s, "<")
	f, err := r.parseNumber(c, strings.TrimSpace(limit), in)
	switch {
	case err != nil || !below:
		return r.columns[c].fromUnit(f), err == nil
	case f == 0:
		r.bad(c, s, "a limit above 0")
		return 0, false
	}
	r.censored++
	return r.columns[c].fromUnit(f) / 2, true
}

const wantTime = "a time from 1900 to 2100 such as 2026-07-01T10:30:00Z"

// optionalDate is date for a column that may have no value.
func (r *row) optionalDate(c int) (d data.Optional[data.Date]) {
	if r.text(c) != "" {
		d = data.Known(r.date(c))
	}
	return d
}

// time returns the time in column c in UTC to the second; the zero time if there is none.
func (r *row) time(c int) time.Time {
	s := r.text(c)
	if s == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04"} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if t = t.UTC().Truncate(time.Second); t.Year() >= firstYear && t.Year() <= lastYear {
			return t
		}
	}
	r.bad(c, s, wantTime)
	return time.Time{}
}
