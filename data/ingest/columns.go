package ingest

import (
	"fmt"
	"slices"
	"strings"
)

// A column is one that an importer knows.
type column struct {
	name     string
	alias    string // another name, which counts where the first is not there; or empty
	required bool
}

func (c column) named(header string) bool {
	return strings.EqualFold(strings.TrimSpace(header), c.name)
}

func (c column) aliased(header string) bool {
	return c.alias != "" && strings.EqualFold(strings.TrimSpace(header), c.alias)
}

// known returns how many fields of a header are names of columns.
func known(columns []column, header []string) int {
	n := 0
	for _, h := range header {
		if slices.ContainsFunc(columns, func(c column) bool { return c.named(h) || c.aliased(h) }) {
			n++
		}
	}
	return n
}

// find returns where in the header each column stands, -1 for one that is not there; or a name that stands there twice.
func find(columns []column, header []string) (places []int, twice string) {
	places = make([]int, len(columns))
	for i, c := range columns {
		places[i] = -1
		for _, is := range []func(string) bool{c.named, c.aliased} {
			if places[i] >= 0 {
				break
			}
			for at, h := range header {
				if !is(h) {
					continue
				}
				if places[i] >= 0 {
					return nil, strings.TrimSpace(h)
				}
				places[i] = at
			}
		}
	}
	return places, ""
}

// locate is find for the first line of a table, in which all required columns must be.
func locate(columns []column, header []string) ([]int, error) {
	places, twice := find(columns, header)
	if twice != "" {
		return nil, fmt.Errorf("line 1 names the column %q twice; %s", twice, found(columns, header))
	}
	var missing []string
	for i, c := range columns {
		if c.required && places[i] < 0 {
			missing = append(missing, c.name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("line 1 lacks the column %s; %s", strings.Join(missing, ", "), found(columns, header))
	}
	return places, nil
}

// A columnSet is the columns that a row has, one bit for each. A column that it lacks says nothing about what is stored.
type columnSet uint16

func setOf(places []int) columnSet {
	var s columnSet
	for column, at := range places {
		if at >= 0 {
			s = s.with(column)
		}
	}
	return s
}

func (s columnSet) with(column int) columnSet { return s | 1<<column }

func (s columnSet) lacks(column int) bool { return s&(1<<column) == 0 }

// unknown returns the names in a header that stand in none of places. A column without a name is left out: nobody meant
// to say anything by it.
func unknown(header []string, places []int) []string {
	var names []string
	for at, h := range header {
		if h = strings.TrimSpace(h); h != "" && !slices.Contains(places, at) {
			names = append(names, h)
		}
	}
	return names
}

// maxShownColumns bounds what an error or a Report repeats of a header.
const maxShownColumns = 30

// found says what a header holds and what it should.
func found(columns []column, header []string) string {
	var required, optional []string
	for _, c := range columns {
		if c.required {
			required = append(required, c.name)
		} else {
			optional = append(optional, c.name)
		}
	}
	return fmt.Sprintf("it holds %s; required are %s; optional are %s",
		quoted(header), strings.Join(required, ", "), strings.Join(optional, ", "))
}

// quoted returns names for people to read, not all of them if they are very many.
func quoted(names []string) string {
	var shown []string
	for _, name := range names[:min(len(names), maxShownColumns)] {
		shown = append(shown, fmt.Sprintf("%.40q", strings.TrimSpace(name)))
	}
	if len(names) > maxShownColumns {
		shown = append(shown, "...")
	}
	return strings.Join(shown, ", ")
}
