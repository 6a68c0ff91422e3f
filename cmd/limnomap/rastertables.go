package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"limnomap/data"
	"limnomap/data/diskspace"
	"limnomap/data/ingest"
	"limnomap/data/ingest/satellite"
)

// valueTables are the values of several satellite files, in one temporary file.
type valueTables struct {
	temp   *diskspace.Temp
	header int64 // bytes of the names of the columns, with which each table begins
	end    int64
	tables []valueTable
}

// A valueTable is the CSV table of one satellite file.
type valueTable struct {
	name       string // of the satellite file
	day        productDay
	start, end int64 // in the temporary file
}

// A productDay is the date and the source of a satellite file.
type productDay struct {
	date   data.Date
	source string
}

func newValueTables() (*valueTables, error) {
	var header strings.Builder
	table, err := satellite.NewTable(&header)
	if err := errors.Join(err, table.Flush()); err != nil {
		return nil, err
	}
	temp, err := diskspace.CreateTemp("limnomap-rasters-*")
	return &valueTables{temp: temp, header: int64(header.Len())}, err
}

func (t *valueTables) close() { t.temp.Close() }

// add adds the table of a file, which write writes. Nothing remains of one that cannot be written.
func (t *valueTables) add(name string, write func(io.Writer) (satellite.Summary, error)) error {
	summary, err := write(t.temp)
	if err != nil {
		return errors.Join(err, t.truncate())
	}
	start := t.end
	if t.end, err = t.temp.Seek(0, io.SeekCurrent); err != nil {
		return fmt.Errorf("%w: %w", errOutput, err)
	}
	t.tables = append(t.tables, valueTable{name, productDay{summary.Date, summary.Source}, start, t.end})
	return nil
}

// truncate removes what is after the last table.
func (t *valueTables) truncate() error {
	err := t.temp.Truncate(t.end)
	if err == nil {
		_, err = t.temp.Seek(t.end, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errOutput, err)
	}
	return nil
}

// open reads a table from its byte offset on.
func (t *valueTables) open(table valueTable, offset int64) io.Reader {
	return io.NewSectionReader(t.temp, table.start+offset, table.end-table.start-offset)
}

// openables returns the tables that have rows for an import, or one without rows if there is no other.
func (t *valueTables) openables() []ingest.File {
	var files []ingest.File
	for i, table := range t.tables {
		if table.end-table.start > t.header || len(files) == 0 && i == len(t.tables)-1 {
			files = append(files, ingest.File{Name: table.name, Open: func() (io.ReadCloser, error) { return io.NopCloser(t.open(table, 0)), nil }})
		}
	}
	return files
}

// sources returns the sources of the files.
func (t *valueTables) sources() []string {
	var names []string
	for _, table := range t.tables {
		if !slices.Contains(names, table.day.source) {
			names = append(names, table.day.source)
		}
	}
	return names
}

// writeTo writes all tables as one.
func (t *valueTables) writeTo(w io.Writer) error {
	offset := int64(0)
	for _, table := range t.tables {
		if _, err := io.Copy(w, t.open(table, offset)); err != nil {
			return err
		}
		offset = t.header
	}
	return nil
}

// merge leaves one row of each lake, date and source. Rows of different dates or sources cannot be the same, so it merges the files of one day
// after those of another: it needs about 110 bytes for each lake, however many files there are, and nothing if no files are of one day.
func (t *valueTables) merge(ctx context.Context, lakes []satellite.Lake, report io.Writer) error {
	days := make(map[productDay][]int)
	var order []productDay
	for i, table := range t.tables {
		if days[table.day] = append(days[table.day], i); len(days[table.day]) == 2 {
			order = append(order, table.day)
		}
	}
	if len(order) == 0 {
		return nil
	}
	best := newBestRows(lakes)
	for _, day := range order {
		several, err := t.mergeDay(ctx, days[day], best)
		if err != nil {
			return err
		}
		if several > 0 {
			fmt.Fprintf(report, "%s of %s: %s in several of these files: the newest version counts, then a value before a gap, then the most pixels\n",
				day.source, day.date, isOrAre(several, "lake"))
		}
	}
	return nil
}

// isOrAre returns "1 lake is" or "2 lakes are".
func isOrAre(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}

// mergeDay leaves one row of each lake in tables of one date and source. It returns how many lakes had several.
func (t *valueTables) mergeDay(ctx context.Context, tables []int, best *bestRows) (several int, err error) {
	best.clear()
	for _, i := range tables {
		rows, err := t.rows(t.tables[i])
		if err != nil {
			return 0, err
		}
		err = rows.each(ctx, func(n int, record []string) error {
			repeats, err := best.add(rowAt{int32(i), int32(n)}, rows, record)
			if repeats {
				several++
			}
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	if several == 0 {
		return 0, nil
	}
	for _, i := range tables {
		if err := t.keep(ctx, i, best); err != nil {
			return 0, err
		}
	}
	return several, nil
}

// keep replaces a table by the rows of it that count.
func (t *valueTables) keep(ctx context.Context, i int, best *bestRows) error {
	rows, err := t.rows(t.tables[i])
	if err != nil {
		return err
	}
	buffer := bufio.NewWriterSize(t.temp, tableBuffer)
	out := csv.NewWriter(buffer)
	if err := out.Write(rows.columns); err != nil {
		return err
	}
	err = rows.each(ctx, func(n int, record []string) error {
		if best.of(data.LakeID(record[rows.lake])) != (rowAt{int32(i), int32(n)}) {
			return nil
		}
		return out.Write(record)
	})
	if err != nil {
		return err
	}
	out.Flush()
	if err := errors.Join(out.Error(), buffer.Flush()); err != nil {
		return err
	}
	start := t.end
	t.end, err = t.temp.Seek(0, io.SeekCurrent)
	t.tables[i].start, t.tables[i].end = start, t.end
	return err
}

// tableRows are the rows of a table.
type tableRows struct {
	csv                                  *csv.Reader
	columns                              []string
	lake, value, valid, version, quality int // indexes of columns
}

func (t *valueTables) rows(table valueTable) (*tableRows, error) {
	r := &tableRows{csv: csv.NewReader(bufio.NewReaderSize(t.open(table, 0), tableBuffer))}
	var err error
	if r.columns, err = r.csv.Read(); err != nil {
		return nil, fmt.Errorf("%s: %w", table.name, err)
	}
	r.csv.ReuseRecord = true
	for name, to := range map[string]*int{"lake_id": &r.lake, "chl": &r.value, "n_valid": &r.valid, "version": &r.version, "quality": &r.quality} {
		if *to = slices.Index(r.columns, name); *to < 0 {
			return nil, fmt.Errorf("%s: its table has no column %s", table.name, name)
		}
	}
	return r, nil
}

// each calls f with each row. The record is valid during the call.
func (r *tableRows) each(ctx context.Context, f func(n int, record []string) error) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		record, err := r.csv.Read()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f(n, record)
		}
		if err != nil {
			return err
		}
	}
}
