package record

import (
	"math"
	"strconv"
	"time"
)

// An Object is JSON that is being written member by member, beginning with a brace, for what is no record: the beginning of a list, or
// the counts of a region.
type Object []byte

// Name appends the name of a member, whose value must follow.
func (o Object) Name(name string) Object {
	o = append(o.comma(), '"')
	o = append(o, name...)
	return append(o, `":`...)
}

// comma appends a comma unless nothing precedes in the same object or array.
func (o Object) comma() Object {
	if last := o[len(o)-1]; last == '{' || last == '[' {
		return o
	}
	return append(o, ',')
}

// Text appends a member that is a text.
func (o Object) Text(name, s string) Object { return appendString(o.Name(name), s) }

// TextOrNull is like Text. An empty text is null.
func (o Object) TextOrNull(name, s string) Object {
	if s == "" {
		return append(o.Name(name), "null"...)
	}
	return o.Text(name, s)
}

// Int appends a member that is a whole number.
func (o Object) Int(name string, n int) Object { return strconv.AppendInt(o.Name(name), int64(n), 10) }

// Number appends a member that is a number, or null if it is NaN.
func (o Object) Number(name string, n float64) Object {
	if o = o.Name(name); math.IsNaN(n) {
		return append(o, "null"...)
	}
	return appendFloat(o, n)
}

// Decimals appends a member that is a finite number with that many decimals.
func (o Object) Decimals(name string, n float64, decimals int) Object {
	return strconv.AppendFloat(o.Name(name), n, 'f', decimals, 64)
}

// Time appends a member that is a time.
func (o Object) Time(name string, t time.Time) Object { return Member.time(o.Name(name), t) }

// TimeOrNull is like Time. The zero time is null.
func (o Object) TimeOrNull(name string, t time.Time) Object {
	if t.IsZero() {
		return append(o.Name(name), "null"...)
	}
	return o.Time(name, t)
}

// Open appends a member that is an object, and its opening brace. With an empty name it appends an entry of an array.
func (o Object) Open(name string) Object {
	if name == "" {
		return append(o.comma(), '{')
	}
	return append(o.Name(name), '{')
}

// Entry appends a text to an array.
func (o Object) Entry(s string) Object { return appendString(o.comma(), s) }

// Array appends a member that is an array, and its opening bracket.
func (o Object) Array(name string) Object { return append(o.Name(name), '[') }

// Close appends text that closes objects and arrays, such as "]}".
func (o Object) Close(text string) Object { return append(o, text...) }
