package refresh

import (
	"context"
	"errors"
	"slices"

	"limnomap/data"
	"limnomap/data/ingest"
	"limnomap/data/store"
)

// take takes the source as it is now into the database, for the holder of c. All of it and that it was done are one transaction.
func (r *Refresher) take(c *claim) (Result, error) {
	known, err := r.store.RefreshFiles(c.ctx)
	if err != nil {
		return Result{}, err
	}
	files, unchanged, err := r.collect(c.ctx, known)
	if err != nil {
		return Result{}, err
	}
	defer files.close()
	if !unchanged && !files.same(known) {
		return r.bring(c, files)
	}
	var end data.RefreshResult
	if !unchanged { // a server that knows no 304, or has new tags for old bytes
		end.Files = files.known()
	}
	if err := c.release(); err != nil {
		return Result{}, err
	}
	return Result{Unchanged: true}, r.store.EndRefresh(c.ctx, c.holder, end)
}

// collect returns all files of the source. It reports unchanged, with not all of them, if some servers say that theirs is
// the one that is known, and the others are too.
func (r *Refresher) collect(ctx context.Context, known []data.RefreshFile) (files set, unchanged bool, err error) {
	defer func() {
		if err != nil {
			files.close()
		}
	}()
	var same []place // as their servers say
	others := slices.Clone(known)
	for _, p := range r.from {
		if p.url == nil {
			inFolder, err := r.folder(ctx, p.folder)
			if err != nil {
				return files, false, err
			}
			files = append(files, inFolder...)
			continue
		}
		ofPlace := func(f data.RefreshFile) bool { return f.Key == p.key() }
		var before data.RefreshFile
		if i := slices.IndexFunc(known, ofPlace); i >= 0 {
			before = known[i]
		}
		f, err := r.fetch(ctx, p, before)
		switch {
		case err != nil:
			return files, false, err
		case f == nil:
			same = append(same, p)
			others = slices.DeleteFunc(others, ofPlace)
		default:
			files = append(files, f)
		}
	}
	if len(same) > 0 && files.same(others) {
		return files, true, nil
	}
	// The rows of the same file may be good or bad by what the others say now.
	for _, p := range same {
		f, err := r.fetch(ctx, p, data.RefreshFile{})
		if err != nil {
			return files, false, err
		}
		files = append(files, f)
	}
	return files, false, nil
}

// bring imports files and ends the refresh, both or neither.
func (r *Refresher) bring(c *claim, files set) (Result, error) {
	s := &witness{Store: r.store}
	last := func(tx store.Tx, reports ingest.Reports) error {
		for _, f := range files {
			if err := f.unchanged(c.ctx); err != nil {
				return err
			}
		}
		rows := rowsOf(reports)
		end := data.RefreshResult{Rows: &rows, Files: files.known()}
		if rows.Rejected > 0 {
			end.Files = []data.RefreshFile{} // the same files may be good another time
		}
		if err := c.release(); err != nil {
			return err
		}
		return tx.EndRefresh(c.ctx, c.holder, end)
	}
	reports, err := ingest.All(c.ctx, s, files.openable(), &ingest.Options{SkipBad: r.opts.SkipBad, Now: r.now}, last)
	_, known := errors.AsType[*Fault](err)
	switch {
	case err != nil && !known && s.fault == nil:
		err = fault(formReason, "%w", err)
	case err == nil && reports.Rejected() > 0 && !r.opts.SkipBad:
		err = fault(rowsReason, "%d of %d rows rejected", reports.Rejected(), reports.Lakes.Read+reports.Observations.Read)
	}
	return Result{Reports: reports}, err
}

// A witness is a store that remembers whether an error was its own, and not that of a file.
type witness struct {
	store.Store
	fault error
}

func (w *witness) Import(ctx context.Context, fn func(store.Tx) error) error {
	var inner error
	err := w.Store.Import(ctx, func(tx store.Tx) error {
		inner = fn(witnessTx{tx, w})
		return inner
	})
	if inner == nil {
		w.saw(err)
	}
	return err
}

func (w *witness) saw(err error) {
	if err != nil {
		w.fault = err
	}
}

type witnessTx struct {
	store.Tx
	*witness
}

func (t witnessTx) PutLakes(ctx context.Context, lakes []data.Lake, keep store.LakeColumns) ([]store.Change, error) {
	changes, err := t.Tx.PutLakes(ctx, lakes, keep)
	t.saw(err)
	return changes, err
}

func (t witnessTx) PutObservations(ctx context.Context, observations []data.Observation, keep store.ObservationColumns) ([]store.Change, error) {
	changes, err := t.Tx.PutObservations(ctx, observations, keep)
	t.saw(err)
	return changes, err
}

func (t witnessTx) EndRefresh(ctx context.Context, holder string, result data.RefreshResult) error {
	err := t.Tx.EndRefresh(ctx, holder, result)
	t.saw(err)
	return err
}
