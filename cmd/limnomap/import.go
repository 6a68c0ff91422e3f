package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/schollz/progressbar/v3"

	"limnomap/data/ingest"
	"limnomap/data/store"
)

// importFlags are what both imports are told.
type importFlags struct {
	DB      string `help:"Database: an SQLite file, made where there is none." required:"" placeholder:"FILE"`
	SkipBad bool   `help:"Import the good rows and report the rest. By default one bad row rejects them all."`
}

type importLakesCmd struct {
	Files []string `arg:"" name:"file" help:"CSV files with a header line, or GeoJSON." type:"existingfile"`
	importFlags
}

func (importLakesCmd) Help() string {
	return `Columns, in any order: id, name, lat, lon; optional: external_id (the id if absent), region, area_km2.
An import changes lakes that are there already and removes none; the same file again changes nothing. An optional
column that the file lacks leaves what is stored.

GeoJSON is a FeatureCollection in WGS 84 whose properties are these columns. A Point is the lake's place. A Polygon
or MultiPolygon is its outline, which also gives place and area where the properties do not; "geometry": null takes
a stored outline away, and files without outlines leave it, but may not move the lake out of it.`
}

func (c *importLakesCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, c.Files, ingest.Lakes)
}

type importObservationsCmd struct {
	Files []string `arg:"" name:"file" help:"CSV files with a header line." type:"existingfile"`
	importFlags
}

func (importObservationsCmd) Help() string {
	return `Columns, in any order: lake_id, date, chl (µg/l, empty for a gap), data_type (satellite or ai_forecast);
optional: cell_density_cells_ml, who_level, measured_at. There is one row per lake, date and type. An optional
column that the file lacks leaves what is stored.`
}

func (c *importObservationsCmd) Run(ctx context.Context, con *console) error {
	return c.run(ctx, con, c.Files, ingest.Observations)
}

type importFunc func(context.Context, store.Store, []ingest.File, *ingest.Options) (ingest.Report, error)

func (c *importFlags) run(ctx context.Context, con *console, names []string, imp importFunc) (err error) {
	files, size, closeFiles, err := openFiles(names)
	if err != nil {
		return err
	}
	defer closeFiles()
	_, statErr := os.Stat(c.DB)
	s, err := store.Open(ctx, c.DB, true)
	if err != nil {
		return err
	}
	defer func() {
		revision, rerr := s.Revision(context.WithoutCancel(ctx))
		err = errors.Join(err, s.Close())
		// What this import has made and nobody has written to is not left behind.
		if errors.Is(statErr, fs.ErrNotExist) && rerr == nil && revision.Number == 0 {
			_ = os.Remove(c.DB) // an empty database that cannot be removed does no harm
		}
	}()
	progress, finish := progressOn(con.err, "importing", size, progressbar.OptionShowBytes(true))
	report, err := imp(ctx, s, files, &ingest.Options{SkipBad: c.SkipBad, Progress: progress})
	finish()
	if err != nil {
		if ctx.Err() != nil {
			return errors.New("interrupted, nothing was written")
		}
		return err
	}
	if _, err := report.WriteTo(con.out); err != nil {
		return err
	}
	switch {
	case !report.Written:
		return fmt.Errorf("%d of %d rows rejected, nothing written to %s (--skip-bad imports the others)",
			report.Rejected, report.Read, c.DB)
	case report.Rejected > 0 && report.Rejected == report.Read:
		return fmt.Errorf("all %d rows rejected, nothing written to %s", report.Read, c.DB)
	}
	return nil
}

func openFiles(names []string) (files []ingest.File, size int64, closeAll func(), err error) {
	var opened []*os.File
	closeAll = func() {
		for _, f := range opened {
			f.Close()
		}
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			closeAll()
			return nil, 0, nil, err
		}
		opened = append(opened, f)
		if info, err := f.Stat(); err == nil {
			size += info.Size()
		}
		files = append(files, ingest.File{Name: name, Reader: f})
	}
	return files, size, closeAll, nil
}

// progressOn returns a progress bar's two ends where w is a terminal, and nothing to call elsewhere.
func progressOn(w io.Writer, doing string, size int64, opts ...progressbar.Option) (progress func(int64), finish func()) {
	if !isTerminal(w) {
		return nil, func() {}
	}
	bar := progressbar.NewOptions64(size, append(opts,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(doing),
		progressbar.OptionClearOnFinish(),
	)...)
	// A bar that cannot be drawn is no reason to stop the work.
	return func(n int64) { _ = bar.Set64(n) }, func() { _ = bar.Finish() }
}
