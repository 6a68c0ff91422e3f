package refresh

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"time"

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
	lists     []source    // lists of satellite files at URLs, which are requested with the satellite files

	// Tables that are left out, since their servers do not give them now, or not yet.
	left int
	kept []data.RefreshFile // those of them that the database has, as it has them
	away error              // why the first one of them cannot be received; nil if it is only late
}

// settingsDigits are enough of a hash to tell the settings of a source from those that it had before.
const settingsDigits = 16

// bulk reports whether there is more than tables.
func (in *input) bulk() bool { return len(in.rasters)+len(in.lists) > 0 }

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
// there are satellite files, which are imported one by one between them. Meanwhile the tables are imported again when they are due by the
// schedule, so that an official statement does not wait for a slow satellite file, and when a table has come that was late.
func (r *Refresher) update(c *claim, force bool, every Schedule) (Result, error) {
	in, result, end, err := r.updateTables(c, time.Time{})
	if err != nil {
		return result, err
	}
	if !in.bulk() && len(c.late.of) == 0 {
		if in.away != nil {
			return result, partial{in.away}
		}
		return result, nil
	}
	work := new(rasterWork)
	done := make(chan struct{})
	go func() { // ends with its files, or with the claim
		defer close(done)
		if !in.bulk() {
			return
		}
		if work, err = r.planRasters(c.ctx, in, force); err == nil {
			result.Rasters, err = r.takeRasters(c, work)
		}
	}()
	again, reports, failed := r.tablesBeside(c, every, done, in.away)
	if again != nil {
		end, result.Reports, result.Unchanged = *again, reports, false
	}
	if err != nil {
		return result, err
	}
	end.Files, end.Continues, end.Late, end.Began = nil, false, "", time.Time{}
	r.late = ""
	if work.passing != nil {
		r.late = reasonOf(work.passing)
	} else if failed != nil {
		r.late = reasonOf(failed)
	}
	if in.bulk() {
		addRasters(&result, &end, work)
	}
	if failed != nil {
		end.Error = reasonOf(failed)
	}
	if err := c.release(); err != nil {
		return result, err
	}
	if err := r.store.EndRefresh(c.ctx, c.holder, end); err != nil {
		return result, err
	}
	if failed = errors.Join(failed, work.passing); failed != nil {
		return result, partial{failed}
	}
	return result, nil
}

// tablesBeside imports the tables when they are due, until the satellite files are done and no table is late. It returns the result of the last such import
// that has read any, nil if none has, and why the last import failed or left out a table, if it did.
func (r *Refresher) tablesBeside(c *claim, every Schedule, done <-chan struct{}, before error) (last *data.RefreshResult, reports ingest.Reports, failed error) {
	failed = before
	wait := time.Duration(0)
	for done != nil || len(c.late.of) > 0 && c.ctx.Err() == nil {
		timer := time.NewTimer(min(wait, pollInterval))
		select {
		case <-done:
			done = nil
		case <-c.ctx.Done():
			if done != nil {
				<-done
			}
			done = nil
		case <-c.late.arrived:
		case <-timer.C:
		}
		timer.Stop()
		if c.ctx.Err() != nil || done == nil && len(c.late.of) == 0 {
			continue
		}
		state, err := r.store.Refresh(c.ctx)
		if err != nil {
			wait = pause
			continue
		}
		state.LeasedUntil = time.Time{} // it is the lease of this process
		if wait = r.due(state, every).Sub(r.now()); wait > 0 && !c.late.ready() {
			continue
		}
		began := r.now()
		in, result, end, err := r.updateTables(c, began)
		failed = err
		if err == nil {
			failed = in.away
		}
		if err != nil && c.ctx.Err() == nil {
			end = failure(reasonOf(err), result)
			end.Continues, end.Began = true, began
			if err := r.store.EndRefresh(c.ctx, c.holder, end); err != nil {
				wait = pause
			}
		}
		r.logResult(c.ctx, result, err, r.now().Sub(began))
		if err == nil && end.Rows != nil {
			last, reports = &end, result.Reports
		}
	}
	return last, reports, failed
}

// updateTables imports the tables, if they have changed, and stores the result. It ends the refresh if that is all. A refresh that continues
// with another import of them began at a time that is not zero.
func (r *Refresher) updateTables(c *claim, began time.Time) (in *input, result Result, end data.RefreshResult, err error) {
	known, err := r.store.RefreshFiles(c.ctx)
	if err != nil {
		return in, result, end, err
	}
	if in, err = r.collect(c.ctx, known, c.late); err != nil {
		return in, result, end, err
	}
	defer in.files.close()
	continues, late := in.bulk() || len(c.late.of) > 0 || !began.IsZero(), ""
	if continues {
		late = r.late
	}
	failed := ""
	if in.away != nil {
		failed = reasonOf(in.away)
	}
	if in.changed(known) {
		put := func(tx store.Tx, ended data.RefreshResult) error {
			end = ended
			end.Continues, end.Late, end.Began, end.Error = continues, late, began, failed
			return c.endImport(tx, end)
		}
		if result, err = r.importFiles(c, in, put); err != nil && in.away != nil {
			err = errors.Join(in.away, err) // what is missing may be why rows are rejected
		}
		return in, result, end, err
	}
	result.Unchanged = true
	if in.left > 0 && len(in.files) == 0 && !in.unchanged { // there is nothing yet
		return in, result, end, in.away
	}
	end.Continues, end.Late, end.Began, end.Error = continues, late, began, failed
	if !in.unchanged { // the server does not answer 304, or has new tags for the same content
		end.Files = in.known()
	}
	if !continues {
		if err := c.release(); err != nil {
			return in, result, end, err
		}
	}
	return in, result, end, r.store.EndRefresh(c.ctx, c.holder, end)
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
// unchanged too, it reports unchanged, and not all tables. Lists of satellite files at URLs are left for later: of a list that is not known as
// one yet, only the first line is read. They are requested each time, as their files may have to be read again. A table that its server does not give now, or
// that is late, is left out.
func (r *Refresher) collect(ctx context.Context, known []data.RefreshFile, late *lateTables) (in *input, err error) {
	in = new(input)
	defer func() {
		if err != nil {
			in.files.close()
		}
	}()
	var same []source // unchanged according to their servers
	others := slices.Clone(known)
	for _, p := range r.inOrder() {
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
		case r.isList(p):
			in.lists = append(in.lists, p)
			continue
		}
		ofSource := func(f data.RefreshFile) bool { return f.Key == p.tableKey(p.key()) }
		var before data.RefreshFile
		if i := slices.IndexFunc(known, ofSource); i >= 0 {
			before = known[i]
		}
		f, err := late.fetch(p, before, r.opts.MaxTotal-in.files.bytes())
		r.away[p.key()] = r.isAway(err)
		switch {
		case r.away[p.key()]:
			in.leave(before, err)
			others = slices.DeleteFunc(others, ofSource)
		case errors.Is(err, errList):
			r.lists.Store(p.key(), true)
			in.lists = append(in.lists, p)
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
		f, err := late.fetch(p, data.RefreshFile{}, r.opts.MaxTotal-in.files.bytes())
		if r.isAway(err) {
			in.leave(known[slices.IndexFunc(known, func(f data.RefreshFile) bool { return f.Key == p.tableKey(p.key()) })], err)
			continue
		}
		if err != nil {
			return in, err
		}
		if err := r.addFiles(in, p, f); err != nil {
			return in, err
		}
	}
	return in, nil
}

// errList is returned for a list of satellite files where a table was expected.
var errList = errors.New("it is a list of satellite files")

// isList reports whether the URL had a list of satellite files when it was last requested.
func (r *Refresher) isList(p source) bool {
	_, is := r.lists.Load(p.key())
	return is
}

// fetchList adds the satellite files of a list at a URL.
func (r *Refresher) fetchList(ctx context.Context, in *input, p source) error {
	f, err := r.fetch(ctx, p, data.RefreshFile{}, r.opts.MaxTotal, false)
	if err != nil {
		return err
	}
	if is, err := isCatalogue(f); !is || err != nil {
		r.lists.Delete(p.key())
		f.Close()
		return fault(formReason, "%s is not a list of satellite files any more: the next refresh reads it as a table", p)
	}
	return r.addFiles(in, p, f)
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

// endImport ends the refresh with an import, or lets it continue.
func (c *claim) endImport(tx store.Tx, end data.RefreshResult) error {
	if !end.Continues {
		if err := c.release(); err != nil {
			return err
		}
	}
	return tx.EndRefresh(c.ctx, c.holder, end)
}

// latest returns the time after which rows lie in the future.
func (r *Refresher) latest(ctx context.Context) func() time.Time {
	return func() time.Time { return r.store.Latest(ctx, r.now()) }
}

// importedBy is who imported, in the list of imports.
const importedBy = "refresh"

// importFiles imports the tables in one transaction, which end is a part of.
func (r *Refresher) importFiles(c *claim, in *input, end func(store.Tx, data.RefreshResult) error) (Result, error) {
	files := in.files
	last := func(tx store.Tx, reports ingest.Reports) error {
		for _, f := range files {
			if err := f.unchanged(c.ctx); err != nil {
				return err
			}
		}
		from := store.ImportInfo{By: importedBy}
		for _, f := range files {
			from.Files = append(from.Files, store.ImportFile{Name: f.name, SHA256: hex.EncodeToString(f.SHA256[:])})
		}
		tx.Describe(from)
		rows := rowsOf(reports)
		result := data.RefreshResult{Rows: &rows, Files: in.known()}
		if rows.Rejected > 0 {
			result.Files = []data.RefreshFile{} // so that the next refresh reads the same files again
		}
		return end(tx, result)
	}
	if err := r.store.CheckSpace(files.bytes()); err != nil {
		return Result{}, err
	}
	reports, err := ingest.All(c.ctx, r.store, files.inputs(), &ingest.Options{SkipBad: r.opts.SkipBad, Now: r.latest(c.ctx),
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
