package ingest

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// How the numbers of a table are read, if [Options] do not say which marks they have.
//
// A number has two readings if its only mark, a point or a comma, is followed by exactly three digits and preceded by one to three
// without a leading zero: 1.091 and 1,091. All others have one: 12.5, 0.512, 1234.567, 1.5e3, 1.091,5 and 1.234.567. Those in the range
// of their column prove a decimal mark: 12.5 the point, 1.091,5 and 1.234.567 the comma.
//
// A number with two readings is read by the first of these rules that applies; if none does, its row is rejected:
//
//  1. The column's limit is below 1000, so that it holds no thousands, such as lat and secchi_m: its mark is the decimal mark, unless
//     the column proves the other one only.
//  2. Its column proves one mark: that is the decimal mark. If it proves both, the row is rejected.
//  3. The file proves the comma only: 1.091 is 1091. A decimal point elsewhere does not decide, because a table with chl 12.5 and
//     cell counts such as 20.000 is common, of which one was typed and the other computed.
//  4. The file is separated by commas and proves no comma: a point is the decimal mark.
//
// Points of a column of rule 1 prove nothing for other columns, because coordinates are often copied from other programs.
//
// For example, in a file separated by semicolons with the columns chl;cells, the row 12,5;20.000 has 20000 cells by rule 3; the row
// 12.5;20.000 is rejected, and is read with 20 or 20000 cells as soon as any row has 20.5 or 20,5.
//
// The whole file counts, whatever the order of its rows: it is read to its end when the first number with two readings is found. These
// rules are not for GeoJSON, whose numbers have a point (RFC 8259).

// A decimalMark is a set of decimal marks.
type decimalMark uint8

const (
	point decimalMark = 1 << iota
	comma
	bothMarks = point | comma
)

func (d decimalMark) other() decimalMark { return bothMarks &^ d }

func (d decimalMark) String() string {
	switch d {
	case point:
		return "."
	case comma:
		return ","
	}
	return ". and ,"
}

// markAt returns the mark s[at].
func markAt(s string, at int) decimalMark {
	if s[at] == ',' {
		return comma
	}
	return point
}

// A numberFormat is how the tables of an import write numbers, as set by Options. The zero value means that it is detected.
type numberFormat struct {
	decimal   decimalMark // one of these
	thousands string      // each character may separate thousands
}

// The separators of thousands that are not marks, as files write them: also the apostrophe of Swiss texts, and the spaces that
// do not break a line.
const (
	apostrophes = "'\u2019"
	spaces      = " \u00a0\u202f\u2009"
)

// The values of Options.Thousands that are words.
const (
	noThousands   = "none"
	spaceThousand = "space"
)

// CheckMarks returns an error if decimal and thousands are not allowed together as Decimal and Thousands of [Options].
func CheckMarks(decimal, thousands string) error {
	_, err := newNumberFormat(decimal, thousands)
	return err
}

func newNumberFormat(decimal, thousands string) (numberFormat, error) {
	var f numberFormat
	switch decimal {
	case "":
	case ".":
		f.decimal = point
	case ",":
		f.decimal = comma
	default:
		return f, fmt.Errorf("decimal mark %.40q: want . or ,", decimal)
	}
	given := f.decimal
	if given == 0 {
		f.decimal = bothMarks // an apostrophe or a space leaves both marks for decimals
	}
	switch thousands {
	case "":
		if given == 0 {
			return numberFormat{}, nil
		}
		f.thousands = given.other().String()
	case ".", ",":
		if decimal == thousands {
			return f, fmt.Errorf("decimal mark and thousands separator are both %q: want two that differ", decimal)
		}
		f.thousands, f.decimal = thousands, markAt(thousands, 0).other()
	case "'", "\u2019":
		f.thousands = apostrophes
	case " ", "\u00a0", "\u202f", "\u2009", spaceThousand:
		f.thousands = spaces
	case noThousands:
	default:
		return f, fmt.Errorf("thousands separator %.40q: want . or , or ' or space or none", thousands)
	}
	return f, nil
}

// String describes f for error messages.
func (f numberFormat) String() string {
	s := fmt.Sprintf("with the decimal mark %q and ", f.decimal)
	if f.decimal == bothMarks {
		s = `with the decimal mark "." or "," and `
	}
	switch f.thousands {
	case "":
		return s + "no thousands separator"
	case apostrophes:
		return s + "an apostrophe as thousands separator"
	case spaces:
		return s + "a space as thousands separator"
	}
	return s + fmt.Sprintf("the thousands separator %q", f.thousands)
}

// marks are the decimal marks that the numbers of a table prove.
type marks struct {
	columns []decimalMark
	all     decimalMark // by all columns together
	first   [2]proof    // for each mark, the first number that proves it
}

// A proof is a number that proves a decimal mark.
type proof struct {
	line int
	text string
}

// index returns the index of a single mark.
func (d decimalMark) index() int { return int(d) - 1 }

// findMarks reads a table to its end, or up to the bounds of an import, which ends there.
func findMarks(t *table, in *input) (*marks, error) {
	m := &marks{columns: make([]decimalMark, len(t.columns))}
	for n := 0; n <= maxRows && (in.maxBytes == 0 || t.offset() <= in.maxBytes); n++ {
		r, err := t.next()
		if _, isBad := errors.AsType[badRow](err); isBad {
			continue
		}
		if err == io.EOF {
			return m, nil
		}
		if err != nil {
			return nil, err
		}
		for c := range t.columns {
			if at := t.positions[c]; at >= 0 && t.columns[c].in.max > 0 { // a value that Options set is not the file's
				m.add(c, t.columns[c].in, r.fields[at], t.line)
			}
		}
	}
	return m, nil
}

// add adds a number of column c, or another text.
func (m *marks) add(c int, in span, text string, line int) {
	s := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "<"))
	w := writtenAs(s)
	if !w.plain || w.marks == 0 || w.ambiguous() {
		return
	}
	_, mark, ok := w.read(in)
	if !ok || mark == 0 || m.columns[c]&mark != 0 {
		return
	}
	m.columns[c] |= mark
	if m.all&mark == 0 && (mark == comma || in.holdsThousands()) {
		m.all |= mark
		m.first[mark.index()] = proof{line, strings.Clone(s)}
	}
}

// decimalOf returns the decimal mark of a number with two readings and this mark in column c; 0 if it is unknown.
func (r *row) decimalOf(c int, mark decimalMark) decimalMark {
	m := r.marks()
	switch own := m.columns[c]; {
	case !r.columns[c].in.holdsThousands() && own != mark.other():
		return mark
	case own == bothMarks:
		return 0
	case own != 0:
		return own
	case m.all == comma:
		return comma
	case r.separator == ',' && mark == point && m.all&comma == 0:
		return point
	}
	return 0
}

// holdsThousands reports whether a number of 1000 or more may be in the span.
func (in span) holdsThousands() bool { return in.max >= 1000 }

// A written number is a text with what matters for the reading of its marks.
type written struct {
	text       string
	marks      int // points and commas
	last       int // where the last of them is
	scientific bool
	plain      bool // whether it has only digits, marks, signs and exponents; ParseFloat also accepts NaN, infinity, hexadecimal numbers and underscores
}

func writtenAs(s string) written {
	w := written{text: s, plain: true}
	for i := range len(s) {
		switch b := s[i]; {
		case b-'0' <= 9:
		case b == '.' || b == ',':
			w.marks++
			w.last = i
		case b == 'e' || b == 'E' || (b == '+' || b == '-') && i > 0:
			w.scientific = true
		case b != '+' && b != '-':
			w.plain = false
		}
	}
	return w
}

// ambiguous reports whether the number has two readings.
func (w written) ambiguous() bool {
	return w.marks == 1 && !w.scientific && groupOfThree(w.text, w.last)
}

// read returns a number with one reading, and the decimal mark that it proves, 0 if none. ok is false if it is not in the range.
func (w written) read(in span) (f float64, proves decimalMark, ok bool) {
	s := w.text
	switch {
	case w.marks > 1: // all are thousands separators except perhaps the last
		proves = markAt(s, w.last)
		if !strings.Contains(s, proves.other().String()) { // as in 1.234.567
			proves = proves.other()
		}
		if s, ok = joinGroups(s, proves, proves.other().String()); !ok {
			return 0, 0, false
		}
	case w.marks == 1:
		if w.last < len(s)-1 {
			proves = markAt(s, w.last)
		}
		s = withPoint(s, w.last)
	}
	f, ok = in.parse(s)
	return f, proves, ok
}

func (r *row) parseNumber(c int, s string, in span) (float64, error) {
	w := writtenAs(s)
	switch {
	case r.setFormat(c) != nil && (w.marks > 0 || !w.plain):
		return r.parseSet(c, s, in)
	case !w.plain:
		return 0, r.bad(c, s, in.String()+thousandsHint(s))
	case w.ambiguous():
		return r.parseAmbiguous(c, s, w.last, in)
	case w.marks > 1 && r.marks == nil:
		return 0, r.bad(c, s, in.String())
	}
	f, _, ok := w.read(in)
	if !ok {
		return 0, r.bad(c, s, in.String())
	}
	return f, nil
}

// parse returns the number in s, which has no mark but a decimal point. ok is false if it is not in the range.
func (in span) parse(s string) (f float64, ok bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f >= in.min && f <= in.max
}

// groupOfThree reports whether the only mark of s, s[at], may separate thousands, as in 1,234.
func groupOfThree(s string, at int) bool {
	start := 0
	if s[0] == '+' || s[0] == '-' {
		start = 1
	}
	return len(s)-at == 4 && at > start && at <= start+3 && s[start] != '0'
}

// setFormat returns the format of the numbers in column c, or nil if it is to be detected.
func (r *row) setFormat(c int) *numberFormat {
	if f := &r.columns[c].numbers; r.marks != nil && f.decimal != 0 {
		return f
	}
	return nil
}

// parseSet parses a number in the format that Options set.
func (r *row) parseSet(c int, s string, in span) (float64, error) {
	format := r.setFormat(c)
	if joined, ok := joinGroups(s, format.decimal, format.thousands); ok {
		if f, ok := in.parse(joined); ok {
			return f, nil
		}
	}
	return 0, r.bad(c, s, fmt.Sprintf("%s, %s", in, format))
}

// parseAmbiguous parses a number with two readings, because the mark s[at] may be the decimal mark or separate thousands.
func (r *row) parseAmbiguous(c int, s string, at int, in span) (float64, error) {
	mark := markAt(s, at)
	decimal, thousands := withPoint(s, at), s[:at]+s[at+1:]
	known := mark
	if r.marks != nil {
		known = r.decimalOf(c, mark)
	}
	if known == mark.other() {
		f, ok := in.parse(thousands)
		if !ok {
			return 0, r.bad(c, s, fmt.Sprintf("%s; it is read as %s, since other numbers of the file have the decimal mark %q (--decimal sets another one)", in, thousands, known))
		}
		return f, nil
	}
	f, ok := in.parse(decimal)
	switch {
	case !ok: // then the other reading, which is further from 0, is not in the range either
		return 0, r.bad(c, s, in.String())
	case known == 0:
		return 0, r.bad(c, s, fmt.Sprintf("a number with one reading: this may be %s or %s, and %s; set --decimal %s for %s, or --thousands %s for %s",
			decimal, thousands, r.marks().undecided(), mark, decimal, mark, thousands))
	case r.marks == nil && mark == comma && in.holdsThousands():
		return 0, r.bad(c, s, fmt.Sprintf("a decimal point or no comma: it may be read as %s or as %s", decimal, thousands))
	}
	return f, nil
}

// withPoint returns a number whose decimal mark is s[at] with a decimal point.
func withPoint(s string, at int) string {
	if s[at] == '.' {
		return s
	}
	return s[:at] + "." + s[at+1:]
}

// undecided says why the marks do not decide.
func (m *marks) undecided() string {
	if m.all != bothMarks {
		return "no other number of the column decides"
	}
	a, b := m.first[0], m.first[1]
	return fmt.Sprintf("the file has both decimal marks (%.40q on line %d, %.40q on line %d)", a.text, a.line, b.text, b.line)
}

// thousandsHint returns a hint for a number that has spaces or apostrophes between its digits.
func thousandsHint(s string) string {
	for _, separator := range []struct{ chars, flag string }{{spaces, "space"}, {apostrophes, `"'"`}} {
		if joined, ok := joinGroups(s, bothMarks, separator.chars); ok && strings.ContainsAny(s, separator.chars) {
			return fmt.Sprintf("; set --thousands %s to read it as %s", separator.flag, joined)
		}
	}
	return ""
}

// joinGroups returns the number s for ParseFloat: without the thousands separators, any of a set, and with a decimal point for
// one of the marks in decimal. ok is false if thousands are separated in another way than by groups of three digits.
func joinGroups(s string, decimal decimalMark, thousands string) (joined string, ok bool) {
	var b strings.Builder
	groups, digits, fraction, exponent := 0, 0, false, false
	var leadingZero bool
	for i, char := range s {
		switch {
		case '0' <= char && char <= '9':
			if groups == 0 && digits == 0 && !fraction {
				leadingZero = char == '0'
			}
			digits++
		case (char == '+' || char == '-') && (i == 0 || exponent && digits == 0):
		case (char == 'e' || char == 'E') && !exponent && groups == 0:
			exponent, digits = true, 0
		case exponent:
			return "", false
		case !fraction && (char == '.' && decimal&point != 0 || char == ',' && decimal&comma != 0):
			if groups > 0 && digits != 3 {
				return "", false
			}
			fraction, digits, char = true, 0, '.'
		case !fraction && strings.ContainsRune(thousands, char):
			if groups == 0 && (digits == 0 || digits > 3 || leadingZero) || groups > 0 && digits != 3 {
				return "", false
			}
			groups++
			digits = 0
			continue
		default:
			return "", false
		}
		b.WriteRune(char)
	}
	if groups > 0 && (!fraction && digits != 3 || fraction && digits == 0) {
		return "", false
	}
	return b.String(), true
}
