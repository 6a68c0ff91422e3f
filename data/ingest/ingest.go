package ingest

import (
	"context"
	"fmt"
	"io"
	"time"

	"limnomap/data"
	"limnomap/data/store"
)

// Options are the optional parameters of an import. Nil means all defaults.
type Options struct {
	// SkipBad imports the good rows and reports the rest; by default one bad row rejects the whole import.
	SkipBad bool
	// Map names columns of the files as they stand there: of {"chl": "chl_a_ugl"} the second is the file's. Only what is
	// mapped counts then: a column chl beside it would be ignored.
	Map Mapping
	// Set gives columns that the files lack one value for all rows, such as {"data_type": "satellite"}.
	Set Mapping
	// MakeIDs makes the ids of lakes of their names, in small letters, digits and underscores: for files that know
	// lakes by nothing else. Of observations lake_id is the name then. Two names that give one id are rejected, also if
	// one of them is in the store.
	MakeIDs bool
	// DryRun tells what an import would do, and undoes it.
	DryRun bool
	// Progress is called now and then with the bytes read so far, of all files together, as they are, compressed or
	// not. One call has returned before the next is made.
	Progress func(bytes int64)
	// Now tells the time, from which observations may not lie far ahead. Nil means time.Now.
	Now func() time.Time

	firsts int // of how many keys it is remembered where they came first; zero means maxFirsts
}

// today returns the day in UTC.
func (o *Options) today() data.Date {
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	return data.DateOf(now())
}

// A File is one input of an import.
type File struct {
	Name string
	io.Reader
}

// start makes sense of the options and runs the import.
func start[T any, K comparable](ctx context.Context, s store.Store, kindOf func(*Options, *idMaker) (kind[T, K], error), files []File, opts *Options) (Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	var ids *idMaker
	if opts.MakeIDs {
		var err error
		if ids, err = newIDMaker(ctx, s); err != nil {
			return Report{}, fmt.Errorf("import: %w", err)
		}
	}
	k, err := kindOf(opts, ids)
	if err != nil {
		return Report{}, fmt.Errorf("import: %w", err)
	}
	return run(ctx, s, k, files, opts)
}

// Lakes imports lakes from files, CSV and GeoJSON, in one transaction. A rejected row is no error: it is in the Report.
//
// The columns are id, name, lat and lon, and if they are there external_id, region or state, and area_km2, or those of the
// EEA's list. A lake that
// is stored keeps what it has in a column that is not there; a new one has its id for an external_id. Line breaks and
// other runs of white space in a text become one space.
func Lakes(ctx context.Context, s store.Store, files []File, opts *Options) (Report, error) {
	return start(ctx, s, lakeKind, files, opts)
}

// Observations imports observations from CSV files in one transaction, like Lakes.
//
// The columns are lake_id, date, chl and data_type, and if they are there cell_density_cells_ml, who_level and
// measured_at, of which the same holds. The lakes must be in the store. A satellite's observation may be of tomorrow at
// the latest, a forecast of the coming year.
func Observations(ctx context.Context, s store.Store, files []File, opts *Options) (Report, error) {
	return start(ctx, s, observationKind, files, opts)
}
