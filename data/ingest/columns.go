package ingest

import (
	"fmt"
	"slices"
	"strings"
)

// A column is a column of lakes or observations.
type column struct {
	name     string
	aliases  []string // other names; each one counts only if those before it are missing
	required bool
	feature  bool // whether it is for GeoJSON only
	unread   bool // whether its values are not used
	in       span // of a column of numbers, in the unit of the file
	of       *dimension
	bases    []string // names that count only with a unit of the dimension, as plainName returns them

	// Set by [Options]:
	mapped   string // its only name in the file; or empty
	constant string // its value in all rows of a file, which must not have the column; or empty
	ids      *idMaker
	from     int // if ids is set, the column that is used for this one
	numbers  numberFormat

	// Set by the header or a row of a table:
	inUnit string     // the unit in its name in the file; or empty
	factor unitFactor // of the file's unit; zero if that is the column's own
	own    span       // in, in the column's own unit
}

// names returns the names of the column, the preferred one first.
func (c column) names() []string {
	if c.mapped != "" {
		return []string{c.mapped}
	}
	return append([]string{c.name}, c.aliases...)
}

// called reports whether a field of a header names the column.
func (c column) called(header string) bool {
	if c.mapped != "" {
		return sameColumn(header, c.mapped)
	}
	return sameColumn(header, c.name) || slices.ContainsFunc(c.aliases, func(name string) bool { return sameColumn(header, name) })
}

// plain reports whether no option changes the column.
func (c column) plain() bool { return c.mapped == "" && c.constant == "" && c.ids == nil }

// setUnits makes the numbers of columns those of the units in the names of a header.
func setUnits(columns []column, header []string, positions []int) error {
	for i, at := range positions {
		if c := &columns[i]; at >= 0 && c.of != nil {
			if err := c.setUnitOf(header[at]); err != nil {
				return fmt.Errorf("%.40q, which is %s, %w", strings.TrimSpace(header[at]), c.name, err)
			}
		}
	}
	return nil
}

func sameColumn(header, name string) bool { return strings.EqualFold(strings.TrimSpace(header), name) }

// known returns how many fields of a header are names of columns.
func known(columns []column, header []string) int {
	n := 0
	for _, h := range header {
		if slices.ContainsFunc(columns, func(c column) bool { return c.called(h) }) {
			n++
		}
	}
	return n
}

// A clash is a name in a header that must not be there, or that is repeated.
type clash struct{ name, is string }

// find returns the position of each column in the header, -1 for a missing one; or the clash.
func find(columns []column, header []string) ([]int, *clash) {
	positions := make([]int, len(columns))
	for i, c := range columns {
		positions[i] = -1
		for _, name := range c.names() {
			if positions[i] >= 0 {
				break
			}
			for at, h := range header {
				if !sameColumn(h, name) {
					continue
				}
				if positions[i] >= 0 {
					return nil, &clash{strings.TrimSpace(h), "twice: want it once"}
				}
				positions[i] = at
			}
		}
		for at, h := range header {
			if positions[i] >= 0 || !c.calledWithUnit(h) {
				continue
			}
			if second := slices.IndexFunc(header[at+1:], c.calledWithUnit); second >= 0 {
				return nil, &clash{strings.TrimSpace(h), fmt.Sprintf("and %.40q, which are both %s: want one of them, or --map %s=NAME", strings.TrimSpace(header[at+1+second]), c.name, c.name)}
			}
			positions[i] = at
		}
		if c.constant != "" && positions[i] >= 0 {
			return nil, &clash{strings.TrimSpace(header[positions[i]]), fmt.Sprintf("although %s is set to %.40q: want one of the two", c.name, c.constant)}
		}
	}
	for i, c := range columns {
		if c.ids != nil {
			positions[i] = positions[c.from]
		}
	}
	return positions, nil
}

// locate is find for the first line of a table, which must have all required and all mapped columns.
func locate(columns []column, header []string) ([]int, error) {
	positions, clash := find(columns, header)
	if clash != nil {
		return nil, fmt.Errorf("line 1 names the column %.40q %s; %s", clash.name, clash.is, found(columns, header))
	}
	var missing []string
	for i, c := range columns {
		switch {
		case positions[i] >= 0 || c.constant != "":
		case c.mapped != "":
			missing = append(missing, fmt.Sprintf("%.40q, which is mapped to %s", c.mapped, c.name))
		case c.required:
			missing = append(missing, c.name)
		}
	}
	if len(missing) > 0 {
		return nil, lacksColumns(fmt.Sprintf("line 1 lacks the column %s; %s", strings.Join(missing, ", "), found(columns, header)))
	}
	return positions, nil
}

// lacksColumns is an error about a table without a required column.
type lacksColumns string

func (e lacksColumns) Error() string { return string(e) }

// A columnSet has one bit for each column that a row has. The stored values of missing columns are kept.
type columnSet uint64

func setOf(columns []column, positions []int) columnSet {
	var s columnSet
	for i, at := range positions {
		if at >= 0 || columns[i].constant != "" {
			s = s.with(i)
		}
	}
	return s
}

func (s columnSet) with(column int) columnSet { return s | 1<<column }

func (s columnSet) without(column int) columnSet { return s &^ (1 << column) }

func (s columnSet) lacks(column int) bool { return s&(1<<column) == 0 }

// unknown returns the names in a header that are not at any of positions. Columns without a name are left out.
func unknown(header []string, positions []int) []string {
	var names []string
	for at, h := range header {
		if h = strings.TrimSpace(h); h != "" && !slices.Contains(positions, at) {
			names = append(names, h)
		}
	}
	return names
}

// maxShownColumns bounds how many names of a header an error or a Report repeats.
const maxShownColumns = 30

// found lists the columns that a header has and those that it may have.
func found(columns []column, header []string) string {
	var required, optional []string
	for _, c := range columns {
		switch {
		case c.feature || c.unread || c.ids != nil && c.name != columns[c.from].name: // made from another column
		case c.required:
			required = append(required, c.name)
		default:
			optional = append(optional, c.name)
		}
	}
	return fmt.Sprintf("it holds %s; required are %s; optional are %s",
		quoted(header), strings.Join(required, ", "), strings.Join(optional, ", "))
}

// quoted returns the first maxShownColumns names in quotes.
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
