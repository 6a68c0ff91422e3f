package refresh

import (
	"context"
	"errors"
	"slices"

	"limnomap/data"
	"limnomap/data/ingest"
	"limnomap/data/store"
)

// input is what is at the source.
type input struct {
	files     fileSet     // tables; not all of them if unchanged
	unchanged bool        // the tables are those of the last complete refresh
	rasters   [][]*raster // satellite files, by source
	skipped   int64       // older satellite files that were left out already
}

// settingsDigits are enough of a hash to tell the settings of a source from those that it had before.
const settingsDigits = 16

// addRasters adds the satellite files of a source.
func (in *input) addRasters(p source, rasters ...*raster) {
	settings := p.satellite.Settings()
	if settings != "" {
		settings = " " + keyOf(settings)[:settingsDigits]
	}
	for _, f := range rasters {
		f.opts, f.settings = p.satellite, settings
	}
	if len(rasters) > 0 {
		in.rasters = append(in.rasters, rasters)
	}
}

// update imports the present source for the holder of c. The import of the tables and the end of the refresh are one transaction, unless
// there are satellite files, which are imported one by one between them.
func (r *Refresher) update(c *claim, force bool) (Result, error) {
	known, err := r.store.RefreshFiles(c.ctx)
	if err != nil {
		return Result{}, err
	}
	in, err := r.collect(c.ctx, known)
	if err != nil {
		return Result{}, err
	}
	defer in.files.close()
	work, err := r.planRasters(c.ctx, in, force)
	if err != nil {
		return Result{}, err
	}
	same := in.unchanged || in.files.sameContent(known)
	if !same && work == nil {
		return r.importFiles(c, in.files, c.endImport)
	}
	result := Result{Unchanged: same}
	var end data.RefreshResult
	switch {
	case !same:
		later := func(_ store.Tx, ended data.RefreshResult) error {
			end = ended
			return nil
		}
		if result, err = r.importFiles(c, in.files, later); err != nil {
			return result, err
		}
	case !in.unchanged: // the server does not answer 304, or has new tags for the same content
		end.Files = in.files.known()
	}
	if work != nil {
		if result.Rasters, err = r.takeRasters(c, work); err != nil {
			return result, err
		}
		addRasters(&result, &end, work)
	}
	if err := c.release(); err != nil {
		return result, err
	}
	if err := r.store.EndRefresh(c.ctx, c.holder, end); err != nil {
		return result, err
	}
	if work != nil && work.passing != nil {
		return result, partial{work.passing}
	}
	return result, nil
}

// addRasters adds what became of the satellite files to the result of a refresh.
func addRasters(result *Result, end *data.RefreshResult, work *rasterWork) {
	for _, f := range result.Rasters {
		if f.Err != nil {
			continue
		}
		result.Unchanged = false
		if end.Rows == nil {
			end.Rows = new(data.RefreshRows)
		}
		end.Rows.Added += int64(f.Report.Added)
		end.Rows.Changed += int64(f.Report.Changed)
		end.Rows.Unchanged += int64(f.Report.Unchanged)
		end.Rows.Rejected += int64(f.Report.Rejected)
	}
	end.Rasters = &work.counts
	if work.passing != nil {
		end.Error = reasonOf(work.passing)
	}
}

// collect returns all files of the source. If servers answer that their files are the known ones and all other files are
// unchanged too, it reports unchanged, and not all tables. Lists of satellite files are requested each time: their files may have to be
// read again.
func (r *Refresher) collect(ctx context.Context, known []data.RefreshFile) (in *input, err error) {
	in = new(input)
	defer func() {
		if err != nil {
			in.files.close()
		}
	}()
	var same []source // unchanged according to their servers
	others := slices.Clone(known)
	for _, p := range r.from {
		switch {
		case p.url == nil:
			files, rasters, err := r.folder(ctx, p.folder, r.opts.MaxTotal-in.files.bytes())
			if err != nil {
				return in, err
			}
			in.addRasters(p, rasters...)
			if err := r.addFiles(in, p, files...); err != nil {
				return in, err
			}
			continue
		case isRasterURL(p.url):
			in.addRasters(p, r.urlRaster(p.url, p.key(), "", r.client))
			continue
		}
		ofSource := func(f data.RefreshFile) bool { return f.Key == p.tableKey(p.key()) }
		var before data.RefreshFile
		if i := slices.IndexFunc(known, ofSource); i >= 0 {
			before = known[i]
		}
		f, err := r.fetch(ctx, p, before, r.opts.MaxTotal-in.files.bytes())
		switch {
		case err != nil:
			return in, err
		case f == nil:
			same = append(same, p)
			others = slices.DeleteFunc(others, ofSource)
		default:
			if err := r.addFiles(in, p, f); err != nil {
				return in, err
			}
		}
	}
	if len(same) > 0 && in.files.sameContent(others) {
		in.unchanged = true
		return in, nil
	}
	// Their rows may be valid or not depending on the other files.
	for _, p := range same {
		f, err := r.fetch(ctx, p, data.RefreshFile{}, r.opts.MaxTotal-in.files.bytes())
		if err != nil {
			return in, err
		}
		if err := r.addFiles(in, p, f); err != nil {
			return in, err
		}
	}
	return in, nil
}

// addFiles adds open files of a source: tables, or the satellite files of lists. It closes what it does not add.
func (r *Refresher) addFiles(in *input, p source, files ...*file) error {
	var first error
	for _, f := range files {
		is, err := isCatalogue(f)
		if err == nil && !is {
			f.table, f.Key = p.table, p.tableKey(f.Key)
			in.files = append(in.files, f)
			continue
		}
		if err == nil && first == nil {
			var rasters []*raster
			var skipped int64
			rasters, skipped, err = r.readCatalogue(p, f)
			in.addRasters(p, rasters...)
			in.skipped += skipped
		}
		f.Close()
		if err != nil && first == nil {
			first = err
		}
	}
	return first
}

// tooMuch is the error for a source with which the files of a refresh are larger than allowed.
func (r *Refresher) tooMuch(source string) error {
	return fault(sizeReason, "with %s, the files of this refresh have more than %d bytes together: leave out files, or import them with limnomap import", source, r.opts.MaxTotal)
}

// endImport ends the refresh with an import.
func (c *claim) endImport(tx store.Tx, end data.RefreshResult) error {
	if err := c.release(); err != nil {
		return err
	}
	return tx.EndRefresh(c.ctx, c.holder, end)
}

// importFiles imports files in one transaction, which end is a part of.
func (r *Refresher) importFiles(c *claim, files fileSet, end func(store.Tx, data.RefreshResult) error) (Result, error) {
	last := func(tx store.Tx, reports ingest.Reports) error {
		for _, f := range files {
			if err := f.unchanged(c.ctx); err != nil {
				return err
			}
		}
		rows := rowsOf(reports)
		result := data.RefreshResult{Rows: &rows, Files: files.known()}
		if rows.Rejected > 0 {
			result.Files = []data.RefreshFile{} // so that the next refresh reads the same files again
		}
		return end(tx, result)
	}
	if err := r.store.CheckSpace(files.bytes()); err != nil {
		return Result{}, err
	}
	reports, err := ingest.All(c.ctx, r.store, files.inputs(), &ingest.Options{SkipBad: r.opts.SkipBad, Now: r.now,
		Timeout: r.opts.ImportTimeout, MaxBytes: maxExpansion * r.opts.MaxTotal}, last)
	switch {
	case errors.Is(err, ingest.ErrTimeout):
		err = fault(slowReason, "%w", err)
	case errors.Is(err, ingest.ErrTooLarge):
		err = fault(sizeReason, "%w", err)
	case errors.Is(err, ingest.ErrRepeats):
		err = fault(repeatsReason, "%w", err)
	case err != nil && !isFault(err) && !isStore(err): // it is about the content of a file
		err = fault(formReason, "%w", err)
	case err == nil && reports.Rejected() > 0 && !r.opts.SkipBad:
		err = fault(rowsReason, "%d of %d rows rejected", reports.Rejected(), reports.Read())
	}
	return Result{Reports: reports}, err
}
