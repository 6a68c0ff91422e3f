package ingest

import (
	"context"
	"io"
	"time"

	"limnomap/data"
	"limnomap/data/store"
)

// Options are the optional parameters of an import. Nil means all defaults.
type Options struct {
	// SkipBad imports the good rows and reports the rest; by default one bad row rejects the whole import.
	SkipBad bool
	// Progress is called now and then with the bytes read so far, of all files together.
	Progress func(bytes int64)
	// Now tells the time, from which observations may not lie far ahead. Nil means time.Now.
	Now func() time.Time
}

// today returns the day in UTC.
func (o *Options) today() data.Date {
	now := time.Now
	if o != nil && o.Now != nil {
		now = o.Now
	}
	return data.DateOf(now())
}

// A File is one input of an import.
type File struct {
	Name string
	io.Reader
}

// Lakes imports lakes from files, CSV and GeoJSON, in one transaction. A rejected row is no error: it is in the Report.
//
// The columns are id, name, lat and lon, and if they are there external_id, region or state, and area_km2. A lake that
// is stored keeps what it has in a column that is not there; a new one has its id for an external_id. Line breaks and
// other runs of white space in a text become one space.
func Lakes(ctx context.Context, s store.Store, files []File, opts *Options) (Report, error) {
	return run(ctx, s, lakeKind(), files, opts)
}

// Observations imports observations from CSV files in one transaction, like Lakes.
//
// The columns are lake_id, date, chl and data_type, and if they are there cell_density_cells_ml, who_level and
// measured_at, of which the same holds. The lakes must be in the store. A satellite's observation may be of tomorrow at
// the latest, a forecast of the coming year.
func Observations(ctx context.Context, s store.Store, files []File, opts *Options) (Report, error) {
	return run(ctx, s, observationKind(opts.today()), files, opts)
}
