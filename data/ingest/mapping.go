package ingest

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
)

// A Mapping gives columns by their names here something else to be: the name that a file has for it, or a value that is
// the same in all rows.
type Mapping map[string]string

// ParseMapping reads `chl=chl_a_ugl,lake_id=lake`: a column's name here, an equals sign, and what it is to be, several
// of them with commas between. One with a comma or a quote stands in quotes, as in CSV: `"chl=chl, µg/l"`.
func ParseMapping(s string) (Mapping, error) {
	const want = `want pairs such as chl=chl_a_ugl,lake_id=lake, each column once; one with a comma in quotes, as in "chl=chl, µg/l"`
	fields, err := csv.NewReader(strings.NewReader(s)).Read()
	if err != nil || strings.ContainsAny(s, "\r\n") {
		return nil, fmt.Errorf("%.80q: %s", s, want)
	}
	m := make(Mapping)
	for _, field := range fields {
		column, is, ok := strings.Cut(field, "=")
		column, is = strings.ToLower(strings.TrimSpace(column)), strings.TrimSpace(is)
		if _, twice := m[column]; !ok || twice || column == "" || is == "" {
			return nil, fmt.Errorf("%.80q: %s", field, want)
		}
		m[column] = is
	}
	return m, nil
}

// columns returns the names of the columns that m maps, in order.
func (m Mapping) columns() []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// apply returns the columns as files have them by opts.
func (opts *Options) apply(columns []column, id, name int, ids *idMaker) ([]column, error) {
	for _, ours := range opts.Map.columns() {
		i, err := indexOf(columns, ours, "map")
		if err != nil {
			return nil, err
		}
		theirs := opts.Map[ours]
		for _, c := range columns {
			if strings.EqualFold(c.mapped, theirs) {
				return nil, fmt.Errorf("the column %.40q is mapped to %s and to %s: want each column of a file once", theirs, c.name, ours)
			}
		}
		columns[i].mapped = theirs
	}
	for _, ours := range opts.Set.columns() {
		i, err := indexOf(columns, ours, "set")
		if err != nil {
			return nil, err
		}
		if columns[i].mapped != "" {
			return nil, fmt.Errorf("%s is set to %.40q and mapped to the column %.40q: want one of the two", ours, opts.Set[ours], columns[i].mapped)
		}
		columns[i].constant = opts.Set[ours]
	}
	if ids == nil {
		return columns, nil
	}
	if c := columns[id]; id != name && (c.mapped != "" || c.constant != "") {
		return nil, fmt.Errorf("%s is to be made of the %s: want no other column or value for it", c.name, columns[name].name)
	}
	columns[id].ids, columns[id].from = ids, name
	if id != name {
		// What the file calls an id is not one here, and is named among the columns that are ignored.
		columns[id].required, columns[id].constant = false, columns[name].constant
	}
	return columns, nil
}

// indexOf returns the column of that name, which is to be mapped or set.
func indexOf(columns []column, name, doing string) (int, error) {
	var all []string
	for i, c := range columns {
		if c.feature {
			continue
		}
		if c.name == name {
			return i, nil
		}
		all = append(all, c.name)
	}
	return 0, fmt.Errorf("there is no column %.40q to %s: want one of %s", name, doing, strings.Join(all, ", "))
}

// String writes m as ParseMapping reads it.
func (m Mapping) String() string {
	var fields []string
	for _, column := range m.columns() {
		fields = append(fields, column+"="+m[column])
	}
	if len(fields) == 0 {
		return ""
	}
	var line strings.Builder
	w := csv.NewWriter(&line)
	_ = w.Write(fields) // a strings.Builder takes everything
	w.Flush()
	return strings.TrimSuffix(line.String(), "\n")
}
