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

// locate returns where in the header each column stands, -1 for one that is not there.
func locate(columns []column, header []string) ([]int, error) {
	places := make([]int, len(columns))
	var missing []string
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
					return nil, fmt.Errorf("line 1 names the column %q twice; %s", strings.TrimSpace(h), found(columns, header))
				}
				places[i] = at
			}
		}
		if c.required && places[i] < 0 {
			missing = append(missing, c.name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("line 1 lacks the column %s; %s", strings.Join(missing, ", "), found(columns, header))
	}
	return places, nil
}

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
