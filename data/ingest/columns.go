package ingest

import (
	"fmt"
	"slices"
	"strings"
)

// A column is one that an importer knows.
type column struct {
	name     string
	aliases  []string // other names, each of which counts where those before it are not there
	required bool
	feature  bool // whether only a feature may have it

	// What [Options] say of it:
	mapped   string // its name in the file, in the place of all others; or empty
	constant string // its value in all rows of a file, which must not have it; or empty
	ids      *idMaker
	from     int // where ids is set, the column that stands in for this one
}

// names returns what the column may be called, the first choice first.
func (c column) names() []string {
	if c.mapped != "" {
		return []string{c.mapped}
	}
	return append([]string{c.name}, c.aliases...)
}

// plain reports whether no option says what the column is.
func (c column) plain() bool { return c.mapped == "" && c.constant == "" && c.ids == nil }

func sameColumn(header, name string) bool { return strings.EqualFold(strings.TrimSpace(header), name) }

// known returns how many fields of a header are names of columns.
func known(columns []column, header []string) int {
	n := 0
	for _, h := range header {
		if slices.ContainsFunc(columns, func(c column) bool {
			return slices.ContainsFunc(c.names(), func(name string) bool { return sameColumn(h, name) })
		}) {
			n++
		}
	}
	return n
}

// A clash is a name in a header that must not be there, or not again.
type clash struct{ name, is string }

// find returns where in the header each column stands, -1 for one that is not there; or what is wrong with the header.
func find(columns []column, header []string) ([]int, *clash) {
	places := make([]int, len(columns))
	for i, c := range columns {
		places[i] = -1
		for _, name := range c.names() {
			if places[i] >= 0 {
				break
			}
			for at, h := range header {
				if !sameColumn(h, name) {
					continue
				}
				if places[i] >= 0 {
					return nil, &clash{strings.TrimSpace(h), "twice"}
				}
				places[i] = at
			}
		}
		if c.constant != "" && places[i] >= 0 {
			return nil, &clash{strings.TrimSpace(header[places[i]]), fmt.Sprintf("itself, while %s is set to %.40q", c.name, c.constant)}
		}
	}
	for i, c := range columns {
		if c.ids != nil {
			places[i] = places[c.from]
		}
	}
	return places, nil
}

// locate is find for the first line of a table, in which all required columns must be, and all that are mapped.
func locate(columns []column, header []string) ([]int, error) {
	places, clash := find(columns, header)
	if clash != nil {
		return nil, fmt.Errorf("line 1 names the column %.40q %s; %s", clash.name, clash.is, found(columns, header))
	}
	var missing []string
	for i, c := range columns {
		switch {
		case places[i] >= 0 || c.constant != "":
		case c.mapped != "":
			missing = append(missing, fmt.Sprintf("%.40q, which is to be %s", c.mapped, c.name))
		case c.required:
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

func setOf(columns []column, places []int) columnSet {
	var s columnSet
	for i, at := range places {
		if at >= 0 || columns[i].constant != "" {
			s = s.with(i)
		}
	}
	return s
}

func (s columnSet) with(column int) columnSet { return s | 1<<column }

func (s columnSet) without(column int) columnSet { return s &^ (1 << column) }

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
		switch {
		case c.feature || c.ids != nil && c.name != columns[c.from].name: // which is made of a column that is named here
		case c.required:
			required = append(required, c.name)
		default:
			optional = append(optional, c.name)
		}
	}
	return fmt.Sprintf("it holds %s; required are %s; optional are %s",
		quoted(header), strings.Join(required, ", "), strings.Join(optional, ", "))
}

// quoted returns names for people to read, not all of them if they are very many.
func quoted[S ~string](names []S) string {
	var shown []string
	for _, name := range names[:min(len(names), maxShownColumns)] {
		shown = append(shown, fmt.Sprintf("%.40q", strings.TrimSpace(string(name))))
	}
	if len(names) > maxShownColumns {
		shown = append(shown, "...")
	}
	return strings.Join(shown, ", ")
}
