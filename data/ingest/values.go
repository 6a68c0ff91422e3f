package ingest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"limnomap/data"
	"limnomap/data/store"
)

// Values are the observations of a file that is no table, such as one of a satellite.
type Values struct {
	Name    string   // of the file
	Columns []string // those of the observations that only some files have: what is stored of them is replaced
	Rows    iter.Seq2[data.Observation, error]
	// Source is that of all rows, and PixelsFrom the first date whose pixels are kept of it; absent if all are.
	Source     string
	PixelsFrom data.Optional[data.Date]
}

// satelliteHas are the columns that all such observations have.
const satelliteHas = columnSet(1<<obsLake | 1<<obsDate | 1<<obsChl | 1<<obsType | 1<<obsLower | 1<<obsUpper | 1<<obsBelowLimit |
	1<<obsValidPixels | 1<<obsTotalPixels | 1<<obsQuality | 1<<obsFlags | 1<<obsSource | 1<<obsMethod | 1<<obsVersion | 1<<obsPeriodStart | 1<<obsComposite)

// AllValues imports the observations of files in one transaction, as [All] imports tables. Each observation has another lake, date, type or
// source.
func AllValues(ctx context.Context, s Store, files []Values, opts *Options, last func(store.Tx, Report) error) (Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	ctx, cancel := opts.limitTime(ctx)
	defer cancel()
	var names []File
	for _, f := range files {
		names = append(names, File{Name: f.Name})
	}
	im := newImporter[data.Observation](&observationKind{}, names, opts)
	today := opts.today()
	err := s.Import(ctx, func(tx store.Tx) error {
		kept := make(map[string]data.Date) // by source
		for i, f := range files {
			if err := writeValues(ctx, tx, im, i, f, today); err != nil {
				return fmt.Errorf("import: %s: %w", f.Name, err)
			}
			if f.PixelsFrom.Known {
				kept[f.Source] = f.PixelsFrom.Value
			}
		}
		for _, source := range slices.Sorted(maps.Keys(kept)) {
			if err := tx.KeepPixels(ctx, source, kept[source]); err != nil {
				return fmt.Errorf("import: %w", err)
			}
		}
		return opts.finish(im.report.Rejected, func() error { return last(tx, im.report) })
	})
	return im.report.ended(ctx, err)
}

// writeValues writes the observations of a file.
func writeValues(ctx context.Context, tx Tx, im *importer[data.Observation], file int, values Values, today data.Date) error {
	has := satelliteHas
	for c, column := range observationColumns() {
		if slices.Contains(values.Columns, column.name) {
			has |= 1 << c
		}
	}
	batch := make([]parsed[data.Observation], 0, batchRows)
	for o, err := range values.Rows {
		if err != nil {
			return err
		}
		if im.report.Read+len(batch) == maxRows {
			return errTooManyRows
		}
		row := parsed[data.Observation]{origin: origin{file: file}, id: o.LakeID, value: o, has: has}
		if err := cmp.Or(o.CheckImport(), checkLead(&o, today)); err != nil {
			row.reason = err.Error()
		}
		if o.Details.BelowLimit {
			row.censored = 1
		}
		if batch = append(batch, row); len(batch) == batchRows {
			if err := im.write(ctx, tx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return im.write(ctx, tx, batch)
}
