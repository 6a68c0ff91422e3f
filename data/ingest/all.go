package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"limnomap/data/store"
)

// An Openable is a file that is read twice: to detect its columns, and to import it.
type Openable struct {
	Name string
	// Open returns the file from its beginning. The caller closes it.
	Open func() (io.ReadCloser, error)
}

// Reports are what an import of lakes and observations did.
type Reports struct {
	Lakes, Observations Report
}

// Rejected returns how many rows were rejected, of lakes and observations together.
func (r Reports) Rejected() int { return r.Lakes.Rejected + r.Observations.Rejected }

// All imports files of lakes and files of observations in one transaction, the lakes first. The columns of a file decide
// which of the two it holds, not its name. When all files are read and nothing has failed, All calls last within the
// transaction; an error of last rolls back the import. As with [Lakes], a rejected row is not an error; without SkipBad a
// rejected row of either kind rejects everything. Map, Set and MakeIDs are not allowed, since they are for one kind of file.
func All(ctx context.Context, s store.Store, files []Openable, opts *Options, last func(store.Tx, Reports) error) (Reports, error) {
	if opts == nil {
		opts = &Options{}
	}
	if len(opts.Map)+len(opts.Set) > 0 || opts.MakeIDs {
		return Reports{}, errors.New("import: map, set and make-ids need lakes or observations only, not both")
	}
	ctx, cancel := opts.limitTime(ctx)
	defer cancel()
	shared := *opts
	shared.expanded = new(int64)
	opts = &shared
	var lakes, observations []Openable
	for _, f := range files {
		ofLakes, err := holdsLakes(f)
		switch {
		case err != nil:
			return Reports{}, fmt.Errorf("import: %s: %w", f.Name, err)
		case ofLakes:
			lakes = append(lakes, f)
		default:
			observations = append(observations, f)
		}
	}
	var r Reports
	err := s.Import(ctx, func(tx store.Tx) (err error) {
		in := txStore{s, tx}
		if r.Lakes, err = each(ctx, in, lakes, opts, Lakes); err != nil {
			return err
		}
		if r.Observations, err = each(ctx, in, observations, opts, Observations); err != nil {
			return err
		}
		if r.Rejected() > 0 && !opts.SkipBad {
			return errRejected
		}
		if err := last(tx, r); err != nil {
			return err
		}
		if opts.DryRun {
			return errDryRun
		}
		return nil
	})
	if err == nil || errors.Is(err, errDryRun) {
		return r, nil
	}
	for _, undone := range []*Report{&r.Lakes, &r.Observations} {
		undone.clearResults()
		undone.Written = false
	}
	if errors.Is(err, errRejected) {
		return r, nil
	}
	return r, explainTime(ctx, err)
}

// txStore is a store whose imports are part of a transaction in progress.
type txStore struct {
	store.Store
	tx store.Tx
}

func (s txStore) Import(_ context.Context, fn func(store.Tx) error) error { return fn(s.tx) }

// An importOf imports files of one kind.
type importOf func(context.Context, store.Store, []File, *Options) (Report, error)

// each imports files of one kind, of which there may be none.
func each(ctx context.Context, s store.Store, files []Openable, opts *Options, imp importOf) (Report, error) {
	if len(files) == 0 {
		return Report{}, nil
	}
	var open []File
	for _, f := range files {
		r, err := f.Open()
		if err != nil {
			return Report{}, fmt.Errorf("import: %s: %w", f.Name, err)
		}
		defer r.Close()
		open = append(open, File{Name: f.Name, Reader: r})
	}
	return imp(ctx, s, open, opts)
}

// holdsLakes reports whether a file holds lakes rather than observations. It is an error if it can be neither or both.
func holdsLakes(f Openable) (bool, error) {
	notLakes, err := checkHeader(f, lakeColumns(), true)
	if err != nil {
		return false, err
	}
	notObservations, err := checkHeader(f, observationColumns(), false)
	switch {
	case err != nil:
		return false, err
	case notLakes != nil && notObservations != nil:
		return false, fmt.Errorf("it holds neither lakes (%w) nor observations (%w)", notLakes, notObservations)
	case notLakes == nil && notObservations == nil:
		return false, errors.New("it has the columns of lakes and of observations: want one file for each")
	}
	return notLakes == nil, nil
}

// checkHeader returns in not why a file is not one with these columns. An error of reading it is in err.
func checkHeader(f Openable, columns []column, features bool) (not, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	_, end, not := open(r, columns, features)
	if not == nil {
		end()
	}
	return not, nil
}
