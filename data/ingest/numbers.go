package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
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

// markOf returns the mark that begins s; 0 if none does.
func markOf(s string) decimalMark {
	switch {
	case strings.HasPrefix(s, "."):
		return point
	case strings.HasPrefix(s, ","):
		return comma
	}
	return 0
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
		f.thousands, f.decimal = thousands, markOf(thousands).other()
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
	all     decimalMark           // by all columns together
	first   map[decimalMark]proof // the first number that proves a mark
}

// A proof is a number that proves a decimal mark.
type proof struct {
	line int
	text string
}

// findMarks reads a table to its end, or up to the bounds of an import, which ends there.
func findMarks(t *table, in *input) (*marks, error) {
	m := &marks{columns: make([]decimalMark, len(t.columns)), first: make(map[decimalMark]proof)}
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
	number, mark := joinGroups(s, point, ","), point
	if other := joinGroups(s, comma, "."); other != "" {
		if number != "" { // no mark, or two readings
			return
		}
		number, mark = other, comma
	}
	if _, ok := in.parse(number); !ok || markOf(s[len(s)-1:]) != 0 || m.columns[c]&mark != 0 {
		return
	}
	m.columns[c] |= mark
	if m.all&mark == 0 && (mark == comma || in.holdsThousands()) {
		m.all |= mark
		m.first[mark] = proof{line, strings.Clone(s)}
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

func (r *row) parseNumber(c int, s string, in span) (float64, error) {
	if f := r.columns[c].numbers; r.marks != nil && f.decimal != 0 && strings.Trim(s, "0123456789+-eE") != "" {
		number, ok := in.parse(joinGroups(s, f.decimal, f.thousands))
		if !ok {
			return 0, r.bad(c, s, fmt.Sprintf("%s, %s", in, f))
		}
		return number, nil
	}
	withPoint := joinGroups(s, point, ",")
	withComma := withPoint
	if digits(s) < len(s) {
		withComma = joinGroups(s, comma, ".")
	}
	if withPoint != "" && withComma != withPoint && withComma != "" {
		return r.parseAmbiguous(c, s, withPoint, withComma, in)
	}
	f, ok := in.parse(cmp.Or(withPoint, withComma))
	if !ok || r.marks == nil && strings.Count(s, ".")+strings.Count(s, ",") > 1 {
		return 0, r.bad(c, s, in.String()+thousandsHint(s))
	}
	return f, nil
}

// parse returns the number in s, which has no mark but a decimal point. ok is false if it is not in the range.
func (in span) parse(s string) (f float64, ok bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && f >= in.min && f <= in.max
}

// parseAmbiguous parses a number with two readings, because its mark may be the decimal mark or separate thousands.
func (r *row) parseAmbiguous(c int, s, decimal, thousands string, in span) (float64, error) {
	mark := markOf(s[strings.IndexAny(s, ".,"):])
	if mark == comma {
		decimal, thousands = thousands, decimal
	}
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

// undecided says why the marks do not decide.
func (m *marks) undecided() string {
	if m.all != bothMarks {
		return "no other number of the column decides"
	}
	a, b := m.first[point], m.first[comma]
	return fmt.Sprintf("the file has both decimal marks (%.40q on line %d, %.40q on line %d)", a.text, a.line, b.text, b.line)
}

// thousandsHint returns a hint for a number that has spaces or apostrophes between its digits.
func thousandsHint(s string) string {
	for _, separator := range []struct{ chars, flag string }{{spaces, "space"}, {apostrophes, `"'"`}} {
		if joined := joinGroups(s, bothMarks, separator.chars); joined != "" && strings.ContainsAny(s, separator.chars) {
			return fmt.Sprintf("; set --thousands %s to read it as %s", separator.flag, joined)
		}
	}
	return ""
}

// joinGroups returns the number s for ParseFloat: without the thousands separators, any of a set, and with a decimal point for one of the
// marks in decimal. It returns "" if s is no number, or if thousands are separated in another way than by groups of three digits.
func joinGroups(s string, decimal decimalMark, thousands string) string {
	rest := s
	if s != "" && (s[0] == '+' || s[0] == '-') {
		rest = s[1:]
	}
	n := digits(rest)
	beforeGroups := 1 <= n && n <= 3 && rest[0] != '0'
	rest = rest[n:]
	groups := false
	for rest != "" {
		separator, size := utf8.DecodeRuneInString(rest)
		if !strings.ContainsRune(thousands, separator) {
			break
		}
		if rest = rest[size:]; !beforeGroups || digits(rest) != 3 {
			return ""
		}
		rest, groups = rest[3:], true
	}
	number := s[:len(s)-len(rest)]
	if groups {
		number = strings.Map(func(r rune) rune {
			if strings.ContainsRune(thousands, r) {
				return -1
			}
			return r
		}, number)
	}
	if markOf(rest)&decimal != 0 {
		n = digits(rest[1:])
		if groups && n == 0 {
			return ""
		}
		if groups || rest[0] == ',' {
			number += "." + rest[1:1+n]
		} else {
			number = s[:len(number)+1+n]
		}
		rest = rest[1+n:]
	}
	if rest == "" {
		return number
	}
	if groups || rest[0]|0x20 != 'e' || strings.Trim(rest[1:], "+-0123456789") != "" {
		return "" // no exponent either
	}
	return number + rest // ParseFloat checks the rest
}

// digits returns how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return n
}
