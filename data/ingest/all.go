package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"limnomap/data/store"
)

// Reports are what an import of files of all kinds did.
type Reports struct {
	Lakes, Observations, Advisories Report
}

// Read and Rejected return how many rows were read and rejected, of all kinds together.
func (r Reports) Read() int { return r.Lakes.Read + r.Observations.Read + r.Advisories.Read }
func (r Reports) Rejected() int {
	return r.Lakes.Rejected + r.Observations.Rejected + r.Advisories.Rejected
}

// A fileKind is one of the kinds of files that [All] imports.
type fileKind struct {
	name    string // of its rows
	command string // that imports only this kind
	form    *layout
	portal  bool // whether results of the Water Quality Portal are of this kind
	imp     func(context.Context, Tx, []File, *Options) (Report, error)
	report  *Report
	files   []File
}

const (
	lakeRows        = "lakes"
	observationRows = "observations"
	statementRows   = "official statements"
)

// fileKinds returns all kinds, in the order of their import: the lakes first, which the others need.
func fileKinds(r *Reports) []fileKind {
	return []fileKind{
		{name: lakeRows, command: "lakes", form: &layout{columns: lakeColumns(), json: featureCollection}, imp: importOf(newLakeKind), report: &r.Lakes},
		{name: observationRows, command: "observations", form: &layout{columns: observationColumns()}, portal: true, imp: importOf(newObservationKind), report: &r.Observations},
		{name: statementRows, command: "advisories", form: &layout{columns: advisoryColumns(), json: statementList}, imp: importOf(newAdvisoryKind), report: &r.Advisories},
	}
}

// importOf returns a function that imports files of a kind in a transaction.
func importOf[T any](newKind func(*Options, *idMaker) (kind[T], error)) func(context.Context, Tx, []File, *Options) (Report, error) {
	return func(ctx context.Context, tx Tx, files []File, opts *Options) (Report, error) {
		if len(files) == 0 {
			return Report{}, nil
		}
		k, err := newKind(opts, nil)
		if err != nil {
			return Report{}, err
		}
		return readInto(ctx, tx, k, files, opts)
	}
}

// All imports files of lakes, observations and official statements in one transaction, the lakes first. The columns of a file
// decide what it holds, not its name. When all files are read and nothing has failed, All calls last within the
// transaction; an error of last rolls back the import. As with [Lakes], a rejected row is not an error; without SkipBad a
// rejected row of any kind rejects everything. Map, Set and MakeIDs are not allowed, since they are for one kind of file.
func All(ctx context.Context, s Store, files []File, opts *Options, last func(store.Tx, Reports) error) (Reports, error) {
	if opts == nil {
		opts = &Options{}
	}
	if len(opts.Map)+len(opts.Set) > 0 || opts.MakeIDs {
		return Reports{}, errors.New("import: map, set and make-ids need files of one kind only")
	}
	ctx, cancel := opts.limitTime(ctx)
	defer cancel()
	shared := *opts
	shared.expanded = new(int64)
	opts = &shared
	var r Reports
	kinds := fileKinds(&r)
	for _, f := range files {
		k, err := kindOf(f, kinds)
		if err != nil {
			return Reports{}, fmt.Errorf("import: %s: %w", f.Name, err)
		}
		k.files = append(k.files, f)
	}
	err := s.Import(ctx, func(tx store.Tx) (err error) {
		for _, k := range kinds {
			if *k.report, err = k.imp(ctx, tx, k.files, opts); err != nil {
				return fmt.Errorf("import: %w", err)
			}
		}
		return opts.finish(r.Rejected(), func() error { return last(tx, r) })
	})
	for _, k := range kinds {
		if len(k.files) > 0 {
			*k.report, _ = k.report.ended(ctx, err)
		}
	}
	_, err = Report{}.ended(ctx, err)
	return r, err
}

// kindOf returns the kind of a file. It is an error if it is of none or of several.
func kindOf(f File, kinds []fileKind) (found *fileKind, err error) {
	var others []error
	for i := range kinds {
		k := &kinds[i]
		not, err := checkHeader(f, k.form)
		if k.portal && errors.Is(not, errPortal) {
			not = nil
		}
		switch {
		case err != nil:
			return nil, err
		case not != nil:
			others = append(others, fmt.Errorf("%s (%w)", k.name, not))
		case found != nil:
			return nil, fmt.Errorf("it has the columns of %s and of %s: want one file for each", found.name, k.name)
		default:
			found = k
		}
	}
	if found == nil {
		return nil, fmt.Errorf("it holds neither %w nor %w nor %w", others[0], others[1], others[2])
	}
	return found, nil
}

// checkHeader returns in not why a file does not look like l. An error of opening it is in err.
func checkHeader(f File, l *layout) (not, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	_, end, not := open(r, f, l, func(again io.Reader) io.Reader { return again })
	if not == nil {
		end()
	}
	return not, nil
}
