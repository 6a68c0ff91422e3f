package ingest

import (
	"cmp"
	"context"
	"errors"
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
	// Map maps columns to their names in the files: {"chl": "chl_a_ugl"} reads chl from the file's column chl_a_ugl. A
	// column chl is then ignored.
	Map Mapping
	// Set gives columns that the files do not have a value for all rows, such as {"data_type": "satellite"}.
	Set Mapping
	// MakeIDs makes the ids of lakes from their names, in small letters, digits and underscores: for files without other
	// ids. For observations and statements, lake_id is then the name. Names that give the same id as another name, in the files or in the
	// store, are rejected.
	MakeIDs bool
	// Decimal is the decimal mark of the numbers in tables, "." or ",". Empty means that it is detected, or follows from
	// Thousands. If only Decimal is set, the other mark may separate thousands.
	Decimal string
	// Thousands separates groups of three digits of the numbers in tables: ".", ",", "'", " " (also those that do not
	// break a line) or "space", or "none". Empty means that it is detected, or follows from Decimal.
	Thousands string
	// Table says how the files write what their content does not show.
	Table TableFormat
	// ValidDays is the number of days, 1 to 365, after which a warning of a Swim Guide document ends without a next record of its
	// location and substance. Zero means 7.
	ValidDays int
	// DryRun reports what an import would do, and rolls it back.
	DryRun bool
	// Progress is called now and then with the number of bytes read so far, of all files together, as stored in the files.
	// Calls do not overlap.
	Progress func(bytes int64)
	// Now returns the present time, for the limits on observations and statements in the future. Nil means time.Now.
	Now func() time.Time

	// Timeout bounds an import: reading all its files and writing them, with the wait for other writers. Until it ends,
	// other writers to SQLite wait for it. Zero means [DefaultTimeout].
	Timeout time.Duration

	// MaxBytes bounds the files of an import after decompression, all together. Zero means no bound.
	MaxBytes int64

	expanded *int64 // bytes so far, if several imports share MaxBytes

	firsts int // overrides maxFirsts in tests, if not zero
}

// DefaultTimeout is ten times as long as 104 weeks of 1.4 million lakes take on a slow disk.
const DefaultTimeout = 12 * time.Hour

// ErrTimeout is the beginning of the error of an import that takes too long.
var ErrTimeout = errors.New("the import takes longer than allowed")

// The limits on files, which errors wrap whose text names the file and the limit.
var (
	ErrTooLarge = errors.New("the files are larger than allowed") // in bytes after decompression, or in rows
	ErrRepeats  = errors.New("too many rows are repeated")
)

// A limitError is the error of files beyond a limit. Its text says all, so that it does not repeat that of the limit.
type limitError struct {
	limit error
	text  string
}

func (e *limitError) Error() string { return e.text }

func (e *limitError) Unwrap() error { return e.limit }

// tooLarge returns an error that wraps ErrTooLarge.
func tooLarge(format string, args ...any) error {
	return &limitError{ErrTooLarge, fmt.Sprintf(format, args...)}
}

// tooManyRepeats returns an error that wraps ErrRepeats.
func tooManyRepeats(format string, args ...any) error {
	return &limitError{ErrRepeats, fmt.Sprintf(format, args...)}
}

// limitTime returns a context that ends when the import has taken too long.
func (o *Options) limitTime(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := cmp.Or(o.Timeout, DefaultTimeout)
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w, %v, and nothing was written: divide the files among several imports, or allow more time", ErrTimeout, limit))
}

// explainTime returns the error of limitTime if the import took too long, and otherwise err.
func explainTime(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
		return cause
	}
	return err
}

// now returns the present time.
func (o *Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

// today returns the day in UTC.
func (o *Options) today() data.Date { return data.DateOf(o.now()) }

// A File is one input of an import, which may read it several times.
type File struct {
	Name string
	// Open returns the file from its beginning. The caller closes it.
	Open func() (io.ReadCloser, error)
	// Table replaces that of [Options], unless it is nil.
	Table *TableFormat
}

// NewFile returns a File with the first size bytes of r, which the caller closes after the import.
func NewFile(name string, r io.ReaderAt, size int64) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(r, 0, size)), nil }}
}

// A Store is what an import needs of a database.
type Store interface {
	Import(context.Context, func(store.Tx) error) error
	Scan(context.Context, func(data.Lake) error, func(data.Observation) error) (data.Revision, error)
}

// A Tx is what an import needs of a transaction; see [store.Tx].
type Tx interface {
	PutLakes(context.Context, []data.Lake, store.LakeColumns) ([]store.Change, error)
	PutObservations(context.Context, []data.Observation, store.ObservationColumns) ([]store.Change, error)
	PutAdvisories(context.Context, []data.Advisory, store.AdvisoryColumns) ([]store.Change, error)
	Advisories(context.Context) ([]data.Advisory, error)
	Repeated() []int
}

// start prepares the options and runs the import of files that hold rows of that name. A table of another kind is called so.
func start[T any](ctx context.Context, s Store, rows string, newKind func(*Options, *idMaker) (kind[T], error), files []File, opts *Options) (Report, error) {
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
	k, err := newKind(opts, ids)
	if err != nil {
		return Report{}, fmt.Errorf("import: %w", err)
	}
	report, err := run(ctx, s, k, files, opts)
	if errors.As(err, new(lacksColumns)) {
		err = cmp.Or(otherKind(files, rows), err)
	}
	return report, err
}

// otherKind returns an error about the first file that holds rows of another kind; nil if there is none.
func otherKind(files []File, rows string) error {
	kinds := fileKinds(new(Reports))
	for _, f := range files {
		if k, err := kindOf(f, kinds); err == nil && k.name != rows {
			return fmt.Errorf("import: %s holds %s, not %s: limnomap import %s imports it", f.Name, k.name, rows, k.command)
		}
	}
	return nil
}

// Lakes imports lakes from files, CSV and GeoJSON, in one transaction. A rejected row is not an error: it is in the Report.
//
// The columns are id, name, lat and lon, and optionally external_id, region or state, and area_km2, or those of the EEA's
// list. A lake without a name has its id as name. A stored lake keeps its value in a column that is missing; the external_id of a new lake is then its id. Line breaks
// and other runs of white space in a text become one space.
func Lakes(ctx context.Context, s Store, files []File, opts *Options) (Report, error) {
	return start(ctx, s, lakeRows, newLakeKind, files, opts)
}

// Observations imports observations from CSV files in one transaction, like Lakes.
//
// The columns are lake_id, date, chl and data_type, and optionally cell_density_cells_ml, who_level and measured_at, which
// are kept if they are missing, and those that say what the value of a row is: unit, parameter, sign and depth. The lakes must be in the store. A satellite's observation may be dated tomorrow at the
// latest, a forecast within the coming year.
func Observations(ctx context.Context, s Store, files []File, opts *Options) (Report, error) {
	return start(ctx, s, observationRows, newObservationKind, files, opts)
}
