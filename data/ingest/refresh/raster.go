package refresh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"limnomap/data"
	"limnomap/data/ingest"
	"limnomap/data/ingest/rangefile"
	"limnomap/data/ingest/satellite"
	"limnomap/data/linetext"
	"limnomap/data/store"
)

const (
	// maxRasters bounds the satellite files of a source that one refresh reads.
	maxRasters = 10_000
	// A file that cannot be used is read again after a time that doubles from the first to the second of these, or when it changes.
	firstRasterRetry = time.Hour
	lastRasterRetry  = 30 * 24 * time.Hour
	// quickStarts is how often a file is read again at once after a process that has ended while it read the file. It may have been
	// the file's fault, and a server must not end again and again.
	quickStarts = 2
)

// rasterRetry returns how long a file that cannot be used is not read again.
func rasterRetry(failures int) time.Duration {
	return min(firstRasterRetry<<min(max(failures-1, 0), 12), lastRasterRetry)
}

// A raster is a satellite file of a source that may have to be read.
type raster struct {
	key   string
	name  string    // of the file, without folder and address
	label string    // for operators
	date  data.Date // of the values, or of the file; 0 if it is not known
	stamp string    // empty if it is not known before the file is opened
	host  string    // empty for a file in a folder
	opts  *satellite.Options
	// settings ends the stamp that is stored: with other settings, the values may be others. It is empty for the defaults.
	settings string
	// open opens the file. If its stamp is unless, it may return one that cannot be read.
	open func(ctx context.Context, unless string) (*openRaster, error)
}

// stored returns a stamp as it is stored, which is empty if it is not known.
func (f *raster) stored(stamp string) string {
	if stamp == "" {
		return ""
	}
	return stamp + f.settings
}

// An openRaster is a satellite file that is being read.
type openRaster struct {
	io.ReaderAt
	size  int64
	stamp string
	// read returns how many bytes were fetched from the source; nil if each read is from there.
	read func() int64
	// explain makes an error of a read one for operators, without secrets; nil for a file on disk.
	explain func(error) error
	// unchanged returns an error if the file is not the same as when it was opened; nil if each read says so.
	unchanged func() error
	close     func() error
	// beside opens the mask beside the file.
	beside func(ending string) (satellite.Beside, error)
}

// fetched returns how many bytes were fetched from the source so far.
func (o *openRaster) fetched(from *countingReaderAt) int64 {
	if o.read != nil {
		return o.read()
	}
	return from.bytes.Load()
}

// A RasterResult is what a refresh did with one satellite file.
type RasterResult struct {
	Name             string
	Product, Version string
	Date             data.Date
	Lakes, Gaps      int // lakes with a value, and lakes without
	Report           ingest.Report
	Bytes            int64
	Err              error // why its values were not imported
}

// A passing is an error that ends by itself, such as that of a server that does not answer: the refresh is repeated soon.
type passing struct{ error }

func (p passing) Unwrap() error { return p.error }

// partial is the error of a refresh that has ended, and has imported all that it could.
type partial struct{ error }

func (p partial) Unwrap() error { return p.error }

// newest returns the rasters of the newest dates, in descending order of date and then of name, which has the version of many products.
// Those without a date count as one date each, older than the others. At most maxRasters are returned.
func newest(rasters []*raster, dates int) []*raster {
	slices.SortStableFunc(rasters, newestFirst)
	kept := 0
	for i, f := range rasters {
		if i == 0 || f.date == 0 || f.date != rasters[i-1].date {
			if dates--; dates < 0 {
				break
			}
		}
		kept++
	}
	return rasters[:min(kept, maxRasters)]
}

func newestFirst(a, b *raster) int {
	return cmp.Or(cmp.Compare(b.date, a.date), strings.Compare(b.name, a.name), strings.Compare(a.key, b.key))
}

// rasterWork are the satellite files of one refresh, and what became of them.
type rasterWork struct {
	files   []*raster // newest first
	records map[string]data.RasterRecord
	counts  data.RasterCounts
	force   bool            // read files that cannot be used again, however soon
	away    map[string]bool // hosts that do not answer
	passing error           // the first of them
}

// fail notes an error that ends by itself. The refresh ends with the first one.
func (w *rasterWork) fail(err error) {
	if w.passing == nil {
		w.passing = err
	}
}

// planRasters returns the satellite files that a refresh has to look at. It requests the lists.
func (r *Refresher) planRasters(ctx context.Context, in *input, force bool) (*rasterWork, error) {
	records, err := r.store.RasterRecords(ctx)
	if err != nil {
		return nil, err
	}
	w := &rasterWork{records: make(map[string]data.RasterRecord), away: make(map[string]bool)}
	for _, record := range records {
		w.records[record.Key] = record
	}
	w.force = force
	for _, p := range in.lists {
		if err := r.fetchList(ctx, in, p); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			w.fail(passing{err})
		}
	}
	seen := make(map[string]bool) // a file may be in two catalogues
	for _, ofSource := range in.rasters {
		kept := newest(ofSource, r.opts.Newest)
		for _, f := range kept {
			if !seen[f.key] {
				seen[f.key] = true
				w.files = append(w.files, f)
			}
		}
		for _, f := range ofSource[len(kept):] {
			if record, ok := w.records[f.key]; !ok || !record.Taken() {
				w.counts.Skipped++
			}
		}
	}
	w.counts.Skipped += in.skipped
	slices.SortStableFunc(w.files, newestFirst)
	return w, nil
}

// unchanged reports whether a file with that stamp is not to be read again. If it cannot be used it is counted.
func (w *rasterWork) unchanged(f *raster, stamp string, now time.Time) bool {
	record, known := w.records[f.key]
	if !known || stamp == "" || f.stored(stamp) != record.Stamp || w.retry(record, now) {
		return false
	}
	if !record.Taken() {
		w.counts.Failing++
	}
	return true
}

// retry reports whether a file is to be read again although it has not changed.
func (w *rasterWork) retry(record data.RasterRecord, now time.Time) bool {
	return !record.Taken() && (w.force || !now.Before(record.RetryAt))
}

// takeRasters reads the satellite files and imports their values, each file in one transaction with its record. A file that cannot be used
// does not stop the others. The returned error does.
func (r *Refresher) takeRasters(c *claim, w *rasterWork) ([]RasterResult, error) {
	var results []RasterResult
	withoutLakes := sync.OnceValues(func() (bool, error) { return r.withoutLakes(c.ctx) })
	for _, f := range w.files {
		if w.unchanged(f, f.stamp, r.now()) {
			continue
		}
		noLakes, err := withoutLakes()
		if err != nil {
			return results, err
		}
		if noLakes {
			w.fail(passing{fault(noLakesReason, "the database has no lakes: %s and all other satellite files wait until it has some", f.label)})
		}
		if noLakes || w.away[f.host] {
			w.counts.Waiting++
			continue
		}
		result, err := r.takeRaster(c, f, w)
		if err != nil {
			return results, err
		}
		if result == nil {
			continue
		}
		results = append(results, *result)
		r.logRaster(*result)
		if _, isPassing := errors.AsType[passing](result.Err); isPassing {
			w.counts.Waiting++
			w.away[f.host] = f.host != "" && reasonOf(result.Err) != changingReason
			w.fail(result.Err)
		} else if result.Err != nil {
			w.counts.Failing++
		}
	}
	return results, nil
}

// takeRaster reads one file. The result is nil if the file has not changed. An error that is not about the file is returned, others are
// stored and in the result.
func (r *Refresher) takeRaster(c *claim, f *raster, w *rasterWork) (*RasterResult, error) {
	known, now := w.records[f.key], r.now()
	result := &RasterResult{Name: f.label}
	record := data.RasterRecord{Key: f.key, Name: f.name, Stamp: f.stored(f.stamp)}
	unless, same := strings.CutSuffix(known.Stamp, f.settings)
	if !same || w.retry(known, now) {
		unless = ""
	}
	opened, err := f.open(c.ctx, unless)
	if err == nil {
		defer opened.close()
		record.Stamp = f.stored(opened.stamp)
		if w.unchanged(f, opened.stamp, now) {
			return nil, nil
		}
	}
	record.Failures = 1
	if known.Stamp == record.Stamp {
		record.Failures += known.Failures
	}
	if opened != nil {
		if err := r.beginRaster(c, record); err != nil {
			return nil, err
		}
		err = r.readRaster(c, f, opened, &record, result)
	}
	switch {
	case err == nil:
		return result, nil
	case c.ctx.Err() != nil:
		if opened != nil {
			r.interruptRaster(c, record)
		}
		return nil, context.Cause(c.ctx)
	case isStore(err):
		return nil, err
	}
	result.Err = err
	if record.Stamp == "" && known.Key != "" && known.Taken() {
		return result, nil // it may still be the file that was taken
	}
	record.Error, record.TriedAt, record.Bytes = describe(err, f.label), r.now(), result.Bytes
	record.RetryAt = record.TriedAt
	if _, isPassing := errors.AsType[passing](err); !isPassing {
		record.RetryAt = record.TriedAt.Add(rasterRetry(record.Failures))
	}
	return result, r.store.PutRaster(c.ctx, c.holder, record)
}

// beginRaster stores that a file is being read.
func (r *Refresher) beginRaster(c *claim, record data.RasterRecord) error {
	record.Error, record.TriedAt = "the process ended while it read the file", r.now()
	record.RetryAt = record.TriedAt
	if record.Failures > quickStarts {
		record.RetryAt = record.TriedAt.Add(rasterRetry(record.Failures - quickStarts))
	}
	return r.store.BeginRaster(c.ctx, c.holder, record)
}

// interruptRaster stores that the process is being stopped, which is not the file's fault.
func (r *Refresher) interruptRaster(c *claim, record data.RasterRecord) {
	record.Failures--
	record.Error, record.TriedAt = interruptedReason, r.now()
	record.RetryAt = record.TriedAt
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), endTimeout)
	defer cancel()
	if err := r.store.BeginRaster(ctx, c.holder, record); err != nil {
		r.log.Warn("refresh: cannot store that a satellite file was interrupted", slog.String("file", record.Name), slog.Any("error", err))
	}
}

// readRaster imports the values of an open file, and explains why they cannot be.
func (r *Refresher) readRaster(c *claim, f *raster, opened *openRaster, record *data.RasterRecord, result *RasterResult) error {
	from := &countingReaderAt{ReaderAt: opened.ReaderAt, size: opened.size}
	err := r.importRaster(c, f, opened, from, record, result)
	result.Bytes = opened.fetched(from)
	failed := from.failure() // it counts, whatever the reader of a format has made of it
	switch {
	case err == nil, isStore(err):
		return err
	case errors.Is(err, rangefile.ErrChanged), errors.Is(failed, rangefile.ErrChanged):
		return passing{fault(changingReason, "%s changed while it was read", f.label)}
	case failed != nil && opened.explain != nil:
		return passing{fault(readReason(failed), "%w", opened.explain(failed))}
	case failed != nil:
		return fault(folderReason, "%s: %w", f.label, failed)
	case isFault(err):
		return err
	}
	return fmt.Errorf("%s: %w", f.label, err)
}

// importRaster imports the values of an open file, and its record.
func (r *Refresher) importRaster(c *claim, f *raster, opened *openRaster, from *countingReaderAt, record *data.RasterRecord, result *RasterResult) error {
	most := r.opts.ImportTimeout
	if opened.explain != nil { // it is read from a server
		most = min(most, r.rasterTimeout())
	}
	ctx, cancel := context.WithTimeout(c.ctx, most)
	defer cancel()
	values, err := r.extract(ctx, satellite.File{Name: f.name, ReaderAt: from, Size: opened.size, Beside: opened.beside}, f.opts)
	if err == nil && opened.unchanged != nil {
		err = opened.unchanged()
	}
	if err != nil {
		if ctx.Err() != nil && c.ctx.Err() == nil {
			if err = fault(slowReason, "%s: it took longer than %s", f.label, most); opened.explain != nil {
				err = passing{err} // the other files of the server wait for the next refresh
			}
		}
		return err
	}
	result.Product, result.Version, result.Date, result.Lakes = values.Source, values.Version, values.Date, values.Summary.Lakes
	for _, n := range values.Gaps {
		result.Gaps += n
	}
	record.Product, record.Version, record.Date = result.Product, result.Version, result.Date
	record.Lakes, record.Gaps = int64(result.Lakes), int64(result.Gaps)
	record.Bytes = opened.fetched(from)
	if err := r.store.CheckSpace(int64(values.Len()) * rowBytes); err != nil {
		return err
	}
	put := func(tx store.Tx, rows ingest.Report) error {
		tx.Describe(store.ImportInfo{By: importedBy, Files: []store.ImportFile{{Name: f.name}}})
		taken := *record
		taken.Failures, taken.Written, taken.TriedAt = 0, int64(rows.Added+rows.Changed), r.now()
		return tx.PutRaster(ctx, c.holder, taken)
	}
	result.Report, err = ingest.AllValues(ctx, r.store, []ingest.Values{{Name: f.name, Columns: values.Columns, Rows: values.Observations(), Source: values.Source, PixelsFrom: values.PixelsFrom}},
		&ingest.Options{SkipBad: r.opts.SkipBad, Now: r.latest(ctx), Timeout: r.opts.ImportTimeout}, put)
	if err == nil && result.Report.Rejected > 0 && !r.opts.SkipBad {
		err = fault(rowsReason, "%s: %d of %d rows rejected", f.label, result.Report.Rejected, result.Report.Read)
	}
	return err
}

// rowBytes is about how many bytes the row of a satellite takes in a database.
const rowBytes = 200

// extract returns the values of a file. A file that makes its reader panic must not end the server, which would read it again.
func (r *Refresher) extract(ctx context.Context, f satellite.File, opts *satellite.Options) (_ *satellite.Values, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("refresh: the reader of satellite files failed", slog.String("file", f.Name), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("the reader failed: %v", p)
		}
	}()
	lakes, err := satellite.LakesOf(ctx, r.store.Scan)
	if err != nil {
		return nil, err
	}
	return r.extractFile(ctx, f, lakes, opts)
}

// rasterErrors returns an error that names the files that could not be used.
func rasterErrors(results []RasterResult) error {
	var errs []error
	for _, f := range results {
		if f.Err != nil {
			errs = append(errs, f.Err)
		}
	}
	return errors.Join(errs...)
}

// logRaster logs what a refresh did with one file.
func (r *Refresher) logRaster(f RasterResult) {
	log := r.log.With(slog.String("file", f.Name), slog.Int64("bytes", f.Bytes))
	for _, bad := range f.Report.Bad {
		log.Warn("refresh: row rejected", slog.String("row", bad.String()))
	}
	if f.Err != nil {
		log.Warn("refresh: satellite file was not imported", slog.Any("error", f.Err))
		return
	}
	log.Info("refresh: satellite file imported", slog.String("product", f.Product), slog.String("date", f.Date.String()), slog.String("version", f.Version),
		slog.Int("lakes", f.Lakes), slog.Int("gaps", f.Gaps), slog.Int("added", f.Report.Added), slog.Int("changed", f.Report.Changed),
		slog.Int("unchanged", f.Report.Unchanged), slog.Int("rejected", f.Report.Rejected))
}

// withoutLakes reports whether the database has no lakes. A file that is read then would not be read again for later ones.
func (r *Refresher) withoutLakes(ctx context.Context) (bool, error) {
	found := errors.New("there is a lake")
	_, err := r.store.Scan(ctx, func(data.Lake) error { return found }, func(data.Observation) error { return found })
	if errors.Is(err, found) {
		return false, nil
	}
	return err == nil, err
}

// isStore reports whether err is about the database, so that other files would fail in the same way.
func isStore(err error) bool {
	_, is := errors.AsType[*store.Error](err)
	return is || errors.Is(err, data.ErrLeaseLost)
}

func isFault(err error) bool {
	_, is := errors.AsType[*Fault](err)
	return is
}

// describe returns what the database stores of an error: no address, path or password.
func describe(err error, label string) string {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Reason
	}
	// The text of package satellite quotes the file, and the database is read with a terminal too.
	return linetext.Escape(strings.TrimPrefix(err.Error(), label+": "))
}
