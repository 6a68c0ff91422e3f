package ingest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// How the numbers of a table are read, if [Options] do not say which marks they have:
//
//   - A point or a comma is the decimal mark, unless exactly three digits follow it and one to three digits without a leading
//     zero precede it: 12.5, 0.512, 1234.567 and 1.5e3 have one reading. 1.091,5 and 1.234.567 have one too. These numbers are
//     evidence of the decimal mark, and no others are: that a reading is beyond the limit of its column may also be an error of
//     the source.
//   - Other numbers such as 1.091 and 1,091 have two readings. The evidence of their own column decides. Without any, a decimal
//     comma in another column decides: 1.091 is then 1091. A decimal point in another column does not: a table with chl 12.5
//     and cell counts such as 20.000 is common where one column was typed and another one computed. What this cannot tell: a
//     table with decimal commas in one column, and in another one a decimal point before three digits in every number.
//   - A column whose limit is below 1000 (such as lat, lon, who_level and secchi_m) cannot hold thousands: without evidence of its
//     own, its mark is the decimal mark. Its points are not evidence for other columns, because coordinates are often copied from
//     other programs.
//   - Without evidence, the point of a table separated by commas is the decimal mark.
//   - Any other row with a number of two readings is rejected. So that the order of rows does not matter, it is decided at the
//     end of its batch, with the evidence of all its cells too. If a number contradicts the evidence that decided one in an
//     earlier batch, the import ends with an error, also with SkipBad: the value read earlier may be wrong.
//
// Numbers in GeoJSON have a point (RFC 8259), and these rules do not apply.

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

// evidence is what a table has shown so far about its decimal marks.
type evidence struct {
	columns []columnEvidence
	proven  decimalMark // by all columns together
	first   [2]proof    // for each mark, the first number that proves it
	changes int         // how often a column got more evidence
	line    int         // of the current row
	last    bool        // whether a number with two readings is an error now, instead of waiting for more evidence
}

// A proof is a number that proves a decimal mark.
type proof struct {
	line int
	text string
}

// columnEvidence is the evidence of one column, and the readings in batches before that relied on any evidence.
type columnEvidence struct {
	proven decimalMark
	relied [2]reading // of a number with each mark, the first one
}

// A reading is that of a number with two readings.
type reading struct {
	line     int // 0 if there is none
	text, as string
	decimal  decimalMark
}

// errMarks ends an import whose numbers contradict each other.
var errMarks = errors.New("write all numbers of the file in one way, or set --decimal and --thousands")

// index returns the index of a single mark.
func (d decimalMark) index() int { return int(d) - 1 }

// decimalOf returns the decimal mark of a number with two readings and this mark in column c; 0 if it is unknown.
func (r *row) decimalOf(c int, mark decimalMark) decimalMark {
	switch own := r.evidence.columns[c].proven; {
	case !r.columns[c].in.holdsThousands() && own != mark.other():
		return mark
	case own == bothMarks:
		return 0
	case own != 0:
		return own
	case r.evidence.proven == comma:
		return comma
	case r.separator == ',' && mark == point && r.evidence.proven&comma == 0:
		return point
	}
	return 0
}

// prove notes that a number in column c proves a decimal mark. It returns an error if an earlier reading relied on the
// opposite.
func (r *row) prove(c int, s string, decimal decimalMark) error {
	e := r.evidence
	if e == nil || e.columns[c].proven&decimal != 0 || r.positions[c] < 0 { // a value that Options set is not the file's
		return nil
	}
	e.columns[c].proven |= decimal
	e.changes++
	if e.proven&decimal == 0 && (decimal == comma || r.columns[c].in.holdsThousands()) {
		e.proven |= decimal
		e.first[decimal.index()] = proof{e.line, strings.Clone(s)}
	}
	for i, column := range e.columns {
		for j, read := range column.relied {
			if read.line > 0 && r.decimalOf(i, decimalMark(j+1)) != read.decimal {
				return fmt.Errorf("%s %.80q shows that the decimal mark is %q, but on line %d %s %.80q was read as %s, with the decimal mark %q: %w",
					r.columns[c].name, s, decimal, read.line, r.columns[i].name, read.text, read.as, read.decimal, errMarks)
			}
		}
	}
	return nil
}

// rely notes how a number with two readings was read. Before the end of the batch, it may still be read in another way.
func (r *row) rely(c int, s, as string, mark, decimal decimalMark) {
	r.read[mark.index()] = r.read[mark.index()].with(c)
	if !r.evidence.last {
		return
	}
	if read := &r.evidence.columns[c].relied[mark.index()]; read.line == 0 {
		*read = reading{r.evidence.line, strings.Clone(s), strings.Clone(as), decimal}
	}
}

// proveAll proves the decimal mark by all numbers of the row, because a row that is parsed with a wrong reading of one may fail
// before the others.
func (r *row) proveAll() error {
	for c, column := range r.columns {
		if column.in.max == 0 || r.positions[c] < 0 || r.setFormat(c) != nil {
			continue
		}
		s, err := r.text(c)
		if err != nil {
			continue
		}
		s = strings.TrimSpace(strings.TrimPrefix(s, "<"))
		if !strings.ContainsAny(s, ".,") {
			continue
		}
		if _, err := r.parseNumber(c, s, column.in); errors.Is(err, errMarks) {
			return err
		}
	}
	return nil
}

// settled reports whether the row need not be parsed again at the end of its batch.
func (r *row) settled() bool {
	if r.undecided || r.known != r.evidence.changes {
		return false
	}
	for c, column := range r.evidence.columns {
		for mark, read := range column.relied {
			if read.line == 0 && !r.read[mark].lacks(c) {
				return false
			}
		}
	}
	return true
}

// holdsThousands reports whether a number of 1000 or more may be in the span.
func (in span) holdsThousands() bool { return in.max >= 1000 }

func (r *row) parseNumber(c int, s string, in span) (float64, error) {
	// ParseFloat also accepts NaN, infinity, hexadecimal numbers and underscores, which are not allowed here.
	marks, at, scientific := 0, 0, false
	for i := range len(s) {
		switch b := s[i]; {
		case b-'0' <= 9:
		case b == '.' || b == ',':
			marks++
			at = i
		case b == 'e' || b == 'E' || (b == '+' || b == '-') && i > 0:
			scientific = true
		case b == '+' || b == '-':
		case r.setFormat(c) != nil:
			return r.parseSet(c, s, in)
		default:
			return 0, r.bad(c, s, in.String()+thousandsHint(s))
		}
	}
	switch {
	case marks > 0 && r.setFormat(c) != nil:
		return r.parseSet(c, s, in)
	case marks > 1:
		return r.parseGroups(c, s, in)
	case marks == 1 && !scientific && groupOfThree(s, at):
		return r.parseAmbiguous(c, s, at, in)
	}
	decimal := s
	if marks == 1 {
		decimal = withPoint(s, at)
	}
	f, ok := in.parse(decimal)
	if !ok {
		return 0, r.bad(c, s, in.String())
	}
	if marks == 1 && at < len(s)-1 {
		return f, r.prove(c, s, markAt(s, at))
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
	if f := &r.columns[c].numbers; r.evidence != nil && f.decimal != 0 {
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

// parseGroups parses a number with several marks, of which all are thousands separators except perhaps the last.
func (r *row) parseGroups(c int, s string, in span) (float64, error) {
	if r.evidence == nil {
		return 0, r.bad(c, s, in.String())
	}
	decimal := markAt(s, strings.LastIndexAny(s, ".,"))
	if !strings.Contains(s, decimal.other().String()) { // as in 1.234.567
		decimal = decimal.other()
	}
	joined, ok := joinGroups(s, decimal, decimal.other().String())
	if !ok {
		return 0, r.bad(c, s, in.String())
	}
	f, ok := in.parse(joined)
	if !ok {
		return 0, r.bad(c, s, in.String())
	}
	return f, r.prove(c, s, decimal)
}

// parseAmbiguous parses a number with two readings, because the mark s[at] may be the decimal mark or separate thousands.
func (r *row) parseAmbiguous(c int, s string, at int, in span) (float64, error) {
	mark := markAt(s, at)
	if r.evidence != nil {
		r.ambiguous = true
		switch r.decimalOf(c, mark) {
		case mark:
			return r.parseReading(c, s, withPoint(s, at), mark, mark, in)
		case mark.other():
			return r.parseReading(c, s, s[:at]+s[at+1:], mark, mark.other(), in)
		}
	}
	decimal, thousands := withPoint(s, at), s[:at]+s[at+1:]
	f, ok := in.parse(decimal)
	if !ok { // then the other reading, which is further from 0, is not in the range either
		return 0, r.bad(c, s, in.String())
	}
	switch e := r.evidence; {
	case e == nil && mark == comma && in.holdsThousands():
		return 0, r.bad(c, s, fmt.Sprintf("a decimal point or no comma: it may be read as %s or as %s", decimal, thousands))
	case e == nil:
		return f, nil
	case !e.last:
		r.undecided = true
		return f, nil
	}
	return 0, r.bad(c, s, fmt.Sprintf("a number with one reading: this may be %s or %s, and %s; set --decimal %s for %s, or --thousands %s for %s",
		decimal, thousands, r.evidence.undecided(), mark, decimal, mark, thousands))
}

// parseReading parses a number with two readings in the one that the evidence gives.
func (r *row) parseReading(c int, s, as string, mark, decimal decimalMark, in span) (float64, error) {
	f, ok := in.parse(as)
	switch {
	case ok:
		r.rely(c, s, as, mark, decimal)
		return f, nil
	case mark == decimal:
		return 0, r.bad(c, s, in.String())
	}
	return 0, r.bad(c, s, fmt.Sprintf("%s; it is read as %s, since other numbers of the file have the decimal mark %q (--decimal sets another one)", in, as, decimal))
}

// withPoint returns a number whose decimal mark is s[at] with a decimal point.
func withPoint(s string, at int) string {
	if s[at] == '.' {
		return s
	}
	return s[:at] + "." + s[at+1:]
}

// undecided says why the evidence does not decide.
func (e *evidence) undecided() string {
	if e.proven != bothMarks {
		return "no other number of the column decides"
	}
	a, b := e.first[0], e.first[1]
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
