package table

import (
	"net/url"
	"strconv"

	"limnomap/api/words"
)

// address is the address of the table, relative to its folder.
const address = "table"

// MaxNumber is beyond the last part of the longest table.
const MaxNumber = 1_000_000

// A Query says which lakes a request asks for, and how to show them.
type Query struct {
	Name     string      // part of the lakes' names; empty: all
	Class    words.Class // AllClasses for all
	ByValue  bool        // the worst first, instead of by name
	Number   int         // which part of the table, from 1
	Language string      // one of words.Languages; empty: the reader's
}

// address returns the address of q, relative to the folder of the table.
func (q Query) address() string {
	v := url.Values{}
	if q.Name != "" {
		v.Set("q", q.Name)
	}
	if q.Class < words.Classes {
		v.Set("risk", q.Class.String())
	}
	if q.ByValue {
		v.Set("sort", "value")
	}
	if q.Number > 1 {
		v.Set("page", strconv.Itoa(q.Number))
	}
	if q.Language != "" {
		v.Set("lang", q.Language)
	}
	if len(v) == 0 {
		return address
	}
	return address + "?" + v.Encode()
}

// at returns the address of that part of q, in that language.
func (q Query) at(number int, language string) string {
	q.Number, q.Language = number, language
	return q.address()
}

// sorted returns the address of the first part of q in that order.
func (q Query) sorted(byValue bool) string {
	q.Number, q.ByValue = 1, byValue
	return q.address()
}
