package ingest

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Mapping maps names of columns to the name in a file, or to a value for all rows.
type Mapping map[string]string

// ParseMapping parses `chl=chl_a_ugl,lake_id=lake`: pairs of a column's name and its name in the file or its value, separated
// by commas. A pair with a comma or a quote must be quoted as in CSV: `"chl=chl, µg/l"`.
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
func (m Mapping) columns() []string { return slices.Sorted(maps.Keys(m)) }

// layout returns the layout of files with these columns, as changed by o. It is not nil, also with an error.
func (o *Options) layout(columns []column, id, name int, ids *idMaker) (*layout, error) {
	columns, err := o.apply(columns, id, name, ids)
	format, wrong := o.Table.parse()
	return &layout{columns: columns, id: id, changed: len(o.Map)+len(o.Set) > 0, format: format}, cmp.Or(err, wrong)
}

// apply returns columns as changed by opts.
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
	numbers, err := newNumberFormat(opts.Decimal, opts.Thousands)
	if err != nil {
		return nil, err
	}
	for i := range columns {
		columns[i].numbers = numbers
	}
	if ids == nil {
		return columns, nil
	}
	if c := columns[id]; id != name && (c.mapped != "" || c.constant != "") {
		return nil, fmt.Errorf("%s is made from the %s: want no other column or value for it", c.name, columns[name].name)
	}
	columns[id].ids, columns[id].from = ids, name
	if id != name {
		// The file's own ids are ignored, and reported as an ignored column.
		columns[id].required, columns[id].constant = false, columns[name].constant
	}
	return columns, nil
}

// indexOf returns the index of a column to map or set.
func indexOf(columns []column, name, doing string) (int, error) {
	var all []string
	for i, c := range columns {
		if c.feature {
			continue
		}
		if strings.EqualFold(c.name, name) {
			return i, nil
		}
		all = append(all, c.name)
	}
	return 0, fmt.Errorf("there is no column %.40q to %s: want one of %s", name, doing, strings.Join(all, ", "))
}

// String returns the form that ParseMapping parses.
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
	_ = w.Write(fields) // a strings.Builder returns no errors
	w.Flush()
	return strings.TrimSuffix(line.String(), "\n")
}
