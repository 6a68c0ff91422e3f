package cql2

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Type is that of a property.
type Type uint8

const (
	Text Type = iota
	Number
	Bool
	Time     // an instant or a day
	Geometry // the place of a record, whatever the property is called
)

var typeNames = [...]string{Text: "a text", Number: "a number", Bool: "true or false", Time: "a time", Geometry: "a geometry"}

func (t Type) String() string { return typeNames[t] }

// A Value is that of a property, or a literal. The zero value is null.
type Value struct {
	known bool
	open  bool // not known yet
	typ   Type
	text  string
	// A number, 1 for true, or the first and the last second of a time.
	number, last float64
}

// Open returns a value that is not known yet: a condition on it is unknown, also IS NULL.
func Open() Value { return Value{open: true} }

// TextValue returns a text.
func TextValue(s string) Value { return Value{known: true, typ: Text, text: s} }

// NumberValue returns a number.
func NumberValue(n float64) Value { return Value{known: true, typ: Number, number: n} }

// BoolValue returns a truth.
func BoolValue(b bool) Value {
	v := Value{known: true, typ: Bool}
	if b {
		v.number = 1
	}
	return v
}

// TimeValue returns an instant.
func TimeValue(t time.Time) Value { return period(t, t) }

// PeriodValue returns the time from first to last. Zero times are open ends.
func PeriodValue(first, last time.Time) Value { return period(first, last) }

func period(first, last time.Time) Value {
	v := Value{known: true, typ: Time, number: -endless, last: endless}
	if !first.IsZero() {
		v.number = seconds(first)
	}
	if !last.IsZero() {
		v.last = seconds(last)
	}
	return v
}

// endless is later than all times, in seconds.
const endless = 1e18

func seconds(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

// dayEnd is the last moment of a day of which a time can tell.
const dayEnd = 24*time.Hour - time.Millisecond

// ParseTime reads a day as YYYY-MM-DD, which is a time of 24 hours, or an instant as in RFC 3339.
func ParseTime(s string) (Value, error) {
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return period(day, day.Add(dayEnd)), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return Value{}, fmt.Errorf("%.40q is not a day as YYYY-MM-DD or a time as YYYY-MM-DDThh:mm:ssZ", s)
	}
	return TimeValue(t), nil
}

// ParsePeriod reads a time, or two with a slash between them. An end that is empty or ".." is open.
func ParsePeriod(s string) (Value, error) {
	from, to, two := strings.Cut(s, "/")
	if !two {
		return ParseTime(s)
	}
	return periodOf(from, to)
}

func periodOf(from, to string) (v Value, err error) {
	open := func(s string) bool { return s == "" || s == ".." }
	v = period(time.Time{}, time.Time{})
	if !open(from) {
		first, err := ParseTime(from)
		if err != nil {
			return Value{}, err
		}
		v.number = first.number
	}
	if !open(to) {
		last, err := ParseTime(to)
		if err != nil {
			return Value{}, err
		}
		v.last = last.last
	}
	switch {
	case open(from) && open(to):
		return Value{}, fmt.Errorf("%.40q has no end that is a time", from+"/"+to)
	case v.number > v.last:
		return Value{}, fmt.Errorf("%.40q ends before it begins", from+"/"+to)
	}
	return v, nil
}

// Bounds returns the first and the last moment of a time, zero where it is open.
func (v Value) Bounds() (first, last time.Time) {
	if v.number != -endless {
		first = time.UnixMilli(int64(v.number * 1000)).UTC()
	}
	if v.last != endless {
		last = time.UnixMilli(int64(v.last * 1000)).UTC()
	}
	return first, last
}

// Meets reports whether two times have a moment in common.
func (v Value) Meets(w Value) bool {
	return v.known && w.known && v.number <= w.last && w.number <= v.last
}

// A truth is the result of a condition: as in SQL it is unknown where a value is null.
type truth uint8

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// An operator compares two values.
type operator string

// compare returns whether op holds between two values of one type. A day is equal to each moment of it, and less than what comes after it.
func (op operator) compare(a, b Value) truth {
	if !a.known || !b.known {
		return unknown
	}
	var order int
	switch a.typ {
	case Text:
		order = strings.Compare(a.text, b.text)
	case Time:
		switch {
		case a.last < b.number:
			order = -1
		case a.number > b.last:
			order = 1
		}
	default:
		order = cmp.Compare(a.number, b.number)
	}
	switch op {
	case "=":
		return truthOf(order == 0)
	case "<>":
		return truthOf(order != 0)
	case "<":
		return truthOf(order < 0)
	case ">":
		return truthOf(order > 0)
	case "<=":
		return truthOf(order <= 0)
	default:
		return truthOf(order >= 0)
	}
}

// Compare returns the order of two values of one type; null comes after all others.
func Compare(a, b Value) int {
	switch {
	case !a.known || !b.known:
		return cmp.Compare(truthOf(!a.known), truthOf(!b.known))
	case a.typ == Text:
		return strings.Compare(a.text, b.text)
	}
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.last, b.last))
}

// Known reports whether a value is not null.
func (v Value) Known() bool { return v.known }

// like reports whether s matches a pattern, in which % is any text and _ any character, and a backslash takes that meaning away.
func like(s, pattern []rune) bool {
	var afterAny, again int
	any := false
	i, j := 0, 0
	for i < len(s) {
		escaped := j+1 < len(pattern) && pattern[j] == '\\'
		switch {
		case j < len(pattern) && pattern[j] == '%':
			any, afterAny, again = true, j+1, i
			j++
		case escaped && pattern[j+1] == s[i]:
			i, j = i+1, j+2
		case !escaped && j < len(pattern) && (pattern[j] == '_' || pattern[j] == s[i]):
			i, j = i+1, j+1
		case any:
			again++
			i, j = again, afterAny
		default:
			return false
		}
	}
	for j < len(pattern) && pattern[j] == '%' {
		j++
	}
	return j == len(pattern)
}

// Text returns a value as [ParseValue] reads it.
func (v Value) Text() string {
	switch {
	case !v.known:
		return ""
	case v.typ == Text:
		return "=" + v.text
	}
	return strconv.FormatFloat(v.number, 'g', -1, 64) + " " + strconv.FormatFloat(v.last, 'g', -1, 64)
}

// ParseValue reads what [Value.Text] returns of a value of that type.
func ParseValue(s string, t Type) (v Value, err error) {
	text, isText := strings.CutPrefix(s, "=")
	switch {
	case s == "":
		return v, nil
	case isText != (t == Text):
		return v, fmt.Errorf("%.40q is not %s", s, t)
	case isText:
		return TextValue(text), nil
	}
	first, last, _ := strings.Cut(s, " ")
	v = Value{known: true, typ: t}
	if v.number, err = strconv.ParseFloat(first, 64); err != nil {
		return v, err
	}
	v.last, err = strconv.ParseFloat(last, 64)
	return v, err
}
