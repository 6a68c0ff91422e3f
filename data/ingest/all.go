package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"limnomap/data/store"
)

// An Openable is a file that is read more than once: to see what it holds, and to import it.
type Openable struct {
	Name string
	// Open returns the file from its beginning. Who opens it closes it.
	Open func() (io.ReadCloser, error)
}

// Reports are what an import of lakes and observations did.
type Reports struct {
	Lakes, Observations Report
}

// Rejected returns how many rows were rejected, of lakes and of observations.
func (r Reports) Rejected() int { return r.Lakes.Rejected + r.Observations.Rejected }

// All imports files of lakes and files of observations in one transaction, the lakes first. Which of the two a file holds
// is told by its columns, whatever its name. Within the transaction, when all is read and nothing stands in the way, it
// calls last, whose error undoes the import too. As with [Lakes], a rejected row is no error; without SkipBad one of
// either kind rejects everything. Map, Set and MakeIDs, which are of one kind of file, are not for it.
func All(ctx context.Context, s store.Store, files []Openable, opts *Options, last func(store.Tx, Reports) error) (Reports, error) {
	if opts == nil {
		opts = &Options{}
	}
	if len(opts.Map)+len(opts.Set) > 0 || opts.MakeIDs {
		return Reports{}, errors.New("import: lakes and observations at once cannot be mapped")
	}
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
		in := within{s, tx}
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
		undone.forget()
		undone.Written = false
	}
	if errors.Is(err, errRejected) {
		return r, nil
	}
	return r, err
}

// within is a store whose imports are part of a transaction that is under way.
type within struct {
	store.Store
	tx store.Tx
}

func (w within) Import(_ context.Context, fn func(store.Tx) error) error { return fn(w.tx) }

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

// holdsLakes reports whether a file holds lakes rather than observations. It is an error unless it can only be one of
// the two.
func holdsLakes(f Openable) (bool, error) {
	notLakes, err := begins(f, lakeColumns(), true)
	if err != nil {
		return false, err
	}
	notObservations, err := begins(f, observationColumns(), false)
	switch {
	case err != nil:
		return false, err
	case notLakes != nil && notObservations != nil:
		return false, fmt.Errorf("it holds neither lakes (%w) nor observations (%w)", notLakes, notObservations)
	case notLakes == nil && notObservations == nil:
		return false, errors.New("it has the columns of lakes and those of observations: want a file for each")
	}
	return notLakes == nil, nil
}

// begins returns why a file does not begin as one with these columns does, beside an error of reading it.
func begins(f Openable, columns []column, features bool) (not, err error) {
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
