package ingest

import (
	"context"
	"fmt"
	"iter"

	"limnomap/data"
	"limnomap/data/store"
)

// Values are the observations of a file that is no table, such as one of a satellite.
type Values struct {
	Name string // of the file
	Rows iter.Seq2[data.Observation, error]
}

// satelliteKeep are the columns that such observations do not have.
var satelliteKeep = store.ObservationColumns{Level: true, CellDensity: true, MeasuredAt: true, Secchi: true, WaterTemperature: true}

// AllValues imports the observations of files in one transaction, as [All] imports tables. Each observation has another lake, date, type or
// source.
func AllValues(ctx context.Context, s Store, files []Values, opts *Options, last func(store.Tx, Report) error) (Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	ctx, cancel := opts.limitTime(ctx)
	defer cancel()
	im := valueImport{today: opts.today()}
	err := s.Import(ctx, func(tx store.Tx) error {
		for _, f := range files {
			if err := im.file(ctx, tx, f); err != nil {
				return fmt.Errorf("import: %s: %w", f.Name, err)
			}
		}
		return opts.finish(im.report.Rejected, func() error { return last(tx, im.report) })
	})
	return im.report.ended(ctx, err)
}

// A valueImport is one import of values.
type valueImport struct {
	report Report
	today  data.Date
}

// file writes the observations of a file.
func (im *valueImport) file(ctx context.Context, tx store.Tx, f Values) error {
	batch := make([]data.Observation, 0, batchRows)
	for o, err := range f.Rows {
		if err != nil {
			return err
		}
		if im.report.Read++; im.report.Read > maxRows {
			return errTooManyRows
		}
		err := o.CheckImport()
		if err == nil {
			err = checkLead(o, im.today)
		}
		if err != nil {
			im.reject(f, &o, err.Error())
			continue
		}
		if batch = append(batch, o); len(batch) == batchRows {
			if err := im.write(ctx, tx, f, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return im.write(ctx, tx, f, batch)
}

func (im *valueImport) write(ctx context.Context, tx store.Tx, f Values, batch []data.Observation) error {
	changes, err := tx.PutObservations(ctx, batch, satelliteKeep)
	if err != nil {
		return err
	}
	for i, c := range changes {
		o := &batch[i]
		if im.report.add(c) {
			if o.Details.BelowLimit {
				im.report.Censored++
			}
			continue
		}
		if c == store.UnknownLake {
			im.report.addUnknown(o.LakeID)
		}
		im.reject(f, o, observationKind{}.refusal(*o, c))
	}
	return nil
}

func (im *valueImport) reject(f Values, o *data.Observation, reason string) {
	im.report.reject(BadRow{File: f.Name, ID: string(o.LakeID), Reason: reason}, len(im.report.Bad))
}
