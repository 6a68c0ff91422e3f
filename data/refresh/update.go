package refresh

import (
	"context"
	"errors"
	"slices"

	"limnomap/data"
	"limnomap/data/ingest"
	"limnomap/data/store"
)

// update imports the present source for the holder of c. The import and the end of the refresh are one transaction.
func (r *Refresher) update(c *claim) (Result, error) {
	known, err := r.store.RefreshFiles(c.ctx)
	if err != nil {
		return Result{}, err
	}
	files, unchanged, err := r.collect(c.ctx, known)
	if err != nil {
		return Result{}, err
	}
	defer files.close()
	if !unchanged && !files.sameContent(known) {
		return r.importFiles(c, files)
	}
	var end data.RefreshResult
	if !unchanged { // the server does not answer 304, or has new tags for the same content
		end.Files = files.known()
	}
	if err := c.release(); err != nil {
		return Result{}, err
	}
	return Result{Unchanged: true}, r.store.EndRefresh(c.ctx, c.holder, end)
}

// collect returns all files of the source. If servers answer that their files are the known ones and all other files are
// unchanged too, it reports unchanged, and not all files.
func (r *Refresher) collect(ctx context.Context, known []data.RefreshFile) (files fileSet, unchanged bool, err error) {
	defer func() {
		if err != nil {
			files.close()
		}
	}()
	var same []source // unchanged according to their servers
	others := slices.Clone(known)
	for _, p := range r.from {
		if p.url == nil {
			inFolder, err := r.folder(ctx, p.folder, r.opts.MaxTotal-files.bytes())
			if err != nil {
				return files, false, err
			}
			files = append(files, inFolder...)
			continue
		}
		ofSource := func(f data.RefreshFile) bool { return f.Key == p.key() }
		var before data.RefreshFile
		if i := slices.IndexFunc(known, ofSource); i >= 0 {
			before = known[i]
		}
		f, err := r.fetch(ctx, p, before, r.opts.MaxTotal-files.bytes())
		switch {
		case err != nil:
			return files, false, err
		case f == nil:
			same = append(same, p)
			others = slices.DeleteFunc(others, ofSource)
		default:
			files = append(files, f)
		}
	}
	if len(same) > 0 && files.sameContent(others) {
		return files, true, nil
	}
	// Their rows may be valid or not depending on the other files.
	for _, p := range same {
		f, err := r.fetch(ctx, p, data.RefreshFile{}, r.opts.MaxTotal-files.bytes())
		if err != nil {
			return files, false, err
		}
		files = append(files, f)
	}
	return files, false, nil
}

// tooMuch is the error for a source with which the files of a refresh are larger than allowed.
func (r *Refresher) tooMuch(source string) error {
	return fault(sizeReason, "with %s, the files of this refresh have more than %d bytes together: raise max-total, or leave out files", source, r.opts.MaxTotal)
}

// importFiles imports files and ends the refresh in one transaction.
func (r *Refresher) importFiles(c *claim, files fileSet) (Result, error) {
	last := func(tx store.Tx, reports ingest.Reports) error {
		for _, f := range files {
			if err := f.unchanged(c.ctx); err != nil {
				return err
			}
		}
		rows := rowsOf(reports)
		end := data.RefreshResult{Rows: &rows, Files: files.known()}
		if rows.Rejected > 0 {
			end.Files = []data.RefreshFile{} // so that the next refresh reads the same files again
		}
		if err := c.release(); err != nil {
			return err
		}
		return tx.EndRefresh(c.ctx, c.holder, end)
	}
	if err := store.CheckSpace(r.store, files.bytes()); err != nil {
		return Result{}, err
	}
	reports, err := ingest.All(c.ctx, r.store, files.openable(), &ingest.Options{SkipBad: r.opts.SkipBad, Now: r.now,
		Timeout: r.opts.ImportTimeout, MaxBytes: maxExpansion * r.opts.MaxTotal}, last)
	switch {
	case errors.Is(err, ingest.ErrTimeout):
		err = fault(slowReason, "%w", err)
	case errors.Is(err, ingest.ErrTooLarge):
		err = fault(sizeReason, "%w", err)
	case errors.Is(err, ingest.ErrRepeats):
		err = fault(repeatsReason, "%w", err)
	case err != nil && !hasReason(err):
		err = fault(formReason, "%w", err)
	case err == nil && reports.Rejected() > 0 && !r.opts.SkipBad:
		err = fault(rowsReason, "%d of %d rows rejected", reports.Rejected(), reports.Read())
	}
	return Result{Reports: reports}, err
}

// hasReason reports whether reasonOf knows the reason of err. Otherwise err is about the content of a file.
func hasReason(err error) bool {
	_, isFault := errors.AsType[*Fault](err)
	_, isStore := errors.AsType[*store.Error](err)
	return isFault || isStore || errors.Is(err, store.ErrClaimLost)
}
