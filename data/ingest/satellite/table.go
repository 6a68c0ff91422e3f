package satellite

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"limnomap/data"
)

// columns are those of a table of rows, which the import of observations reads. p10 and p90 are for people.
var columns = []string{"lake_id", "date", "chl", "data_type", "n_inside", "n_valid", "p10", "p90", "uncertainty", "method", "source", "version",
	"quality", "flags", "period_start", "composite"}

// cellColumn is the column of the cells of an index.
const cellColumn = "cell_density_cells_ml"

// A Table writes rows as CSV.
type Table struct {
	csv    *csv.Writer
	more   []string // columns
	fields []string
}

// NewTable returns a table that begins with the names of the columns. more are [Summary.Columns] of the rows.
func NewTable(w io.Writer, more ...string) (*Table, error) {
	t := &Table{csv: csv.NewWriter(w), more: more}
	return t, t.csv.Write(slices.Concat(columns, more))
}

// Write writes a row.
func (t *Table) Write(r *Row) error {
	t.fields = append(t.fields[:0], string(r.Lake), r.Date.String(), "", data.Satellite.String(), strconv.Itoa(r.Inside), strconv.Itoa(r.Valid), "", "", "",
		r.Method, r.Source, r.Version, r.Quality.String(), strings.Join(r.Flags.Names(), " "), "", r.Composite.String())
	if r.PeriodStart.Known {
		t.fields[len(t.fields)-2] = r.PeriodStart.Value.String()
	}
	for _, name := range t.more {
		t.fields = append(t.fields, r.field(name))
	}
	f := t.fields
	if r.HasValue {
		if f[2] = number(r.Value); r.Limit > 0 {
			f[2] = "<" + number(r.Limit)
		}
		f[6], f[7] = number(r.P10), number(r.P90)
		if r.Uncertainty >= 0 {
			f[8] = number(r.Uncertainty)
		}
	}
	return t.csv.Write(f)
}

// field returns a field of one of [Summary.Columns].
func (r *Row) field(column string) string {
	if column == cellColumn && r.HasValue && r.Cells > 0 {
		return strconv.FormatFloat(r.Cells, 'f', -1, 64)
	}
	var number data.Optional[data.Hundredths]
	if column == scumColumn {
		number = r.scumPercent()
	}
	for k := range quantities {
		if column == quantities[k].column {
			number = r.Quantities[k]
		}
	}
	if !number.Known {
		return ""
	}
	return strconv.FormatFloat(number.Value.Float(), 'f', -1, 64)
}

// Flush writes what is buffered.
func (t *Table) Flush() error {
	t.csv.Flush()
	return t.csv.Error()
}

// number formats µg/l with four digits after the decimal point at most: a hundredth is stored.
func number(f float64) string { return strconv.FormatFloat(fourDecimals(f), 'f', -1, 64) }
