package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"limnomap/data"
	"limnomap/data/store"
)

const (
	// maxRows bounds one import: seven times 1.4 million lakes with 104 weekly values.
	maxRows = 1_000_000_000
	// maxFirsts is for how many keys an import remembers the first row, to name its line if another row contradicts it:
	// about 10 MB. The store detects the contradiction.
	maxFirsts = 100_000
	// An import may repeat a key once for each of its files, and maxRepeatsOfKey times more; these are counted for the first
	// maxFirsts keys that are repeated. In all, it may have as many repeated rows as other rows for each of its files, and
	// maxRepeatedRows more. Without a bound a few hundred kilobytes can hold millions of equal rows, each of which is compared
	// with a stored row while other writers wait.
	maxRepeatsOfKey = 10_000
	maxRepeatedRows = 100_000
)

var (
	errRejected = errors.New("rows were rejected") // rolls back a strict import; callers see the Report
	errDryRun   = errors.New("this is a dry run")  // rolls back a dry run
)

// leftOut is the reason why a row is left out, which is not an error. There are few different ones in a file.
type leftOut string

func (l leftOut) Error() string { return "left out: " + string(l) }

// errSea is for bathing waters of the sea.
const errSea = leftOut("coastal and transitional waters are the sea's, and no lakes")

// A kind describes values T with a key K to an importer.
type kind[T any, K comparable] struct {
	columns []column
	parse   func(*row) (T, error)
	key     func(T) K
	id      int // the column of the lake's id
	lake    func(T) data.LakeID
	name    func(T) string // the key without the lake, for error messages
	// put writes values of rows that have these columns.
	put func(ctx context.Context, tx store.Tx, values []T, has columnSet) ([]store.Change, error)
	// refusal says why the store did not write a value, except for contradictions.
	refusal func(T, store.Change) string
	json    jsonForm
	// wqp says how files of results of the Water Quality Portal are read; nil if they are read as others.
	wqp *wqpForm
	// collect is nil, or returns what combines the rows of such files.
	collect func() collector[T]
}

// A wqpForm are the columns of results of the Water Quality Portal, or why they are refused.
type wqpForm struct {
	columns []column
	refuse  error
}

// A collector combines rows of all files of an import.
type collector[T any] interface {
	// add adds a row. Its error is that of the row, or wraps ErrTooLarge and ends the import.
	add(*row, origin) error
	// rows returns what the rows make together, those of each file in one piece.
	rows() iter.Seq[parsed[T]]
}

// An importer does one import.
type importer[T any, K comparable] struct {
	kind[T, K]
	files       []File
	report      Report
	good        []T      // consecutive rows of a batch with the same columns
	badOrigins  []origin // of report.Bad
	firsts      map[K]origin
	firstsLimit int

	repeats      map[K]int // how often a key was repeated; maxFirsts keys at most
	repeatedRows int       // how many rows repeat a key
	otherRows    int       // how many others the store was given
}

// An origin is the row of a file that a value is from.
type origin struct {
	file, number int
	unit         unit // of number
}

// at returns the origin for the beginning of an error message.
func (o origin) at() string {
	return fmt.Sprintf("%s %d", o.unit, o.number)
}

// before reports whether o comes before p in the files.
func (o origin) before(p origin) bool {
	return cmp.Or(cmp.Compare(o.file, p.file), cmp.Compare(o.number, p.number)) < 0
}

func (o origin) String() string {
	if o.unit == ofLines {
		return "on " + o.at()
	}
	return "in " + o.at()
}

func run[T any, K comparable](ctx context.Context, s store.Store, k kind[T, K], files []File, opts *Options) (Report, error) {
	if len(files) == 0 {
		return Report{}, errors.New("import: there is no file to read")
	}
	ctx, cancel := opts.limitTime(ctx)
	defer cancel()
	var report Report
	err := s.Import(ctx, func(tx store.Tx) (err error) {
		if report, err = readInto(ctx, tx, k, files, opts); err != nil {
			return err
		}
		if report.Rejected > 0 && !opts.SkipBad {
			return errRejected
		}
		if opts.DryRun {
			return errDryRun
		}
		return nil
	})
	switch {
	case err == nil:
		report.Written = true
		return report, nil
	case errors.Is(err, errDryRun):
		report.DryRun = true
		return report, nil
	}
	report.clearResults()
	if errors.Is(err, errRejected) {
		return report, nil
	}
	return report, fmt.Errorf("import: %w", explainTime(ctx, err))
}

// readInto imports files in a transaction.
func readInto[T any, K comparable](ctx context.Context, tx store.Tx, k kind[T, K], files []File, opts *Options) (Report, error) {
	im := importer[T, K]{kind: k, files: files, firsts: make(map[K]origin), firstsLimit: cmp.Or(opts.firsts, maxFirsts), repeats: make(map[K]int)}
	progress := opts.Progress
	if progress == nil {
		progress = func(int64) {}
	}
	// One core reads rows while another writes the batch before.
	reading, stop := context.WithCancel(ctx)
	batches := make(chan batch[T])
	written := make(chan []parsed[T], 1)
	r := reader[T]{columns: k.columns, parse: k.parse, id: k.id, json: k.json, wqp: k.wqp, batches: batches, written: written,
		input: countingReader{ctx: reading, progress: progress}, maxBytes: opts.MaxBytes, expanded: opts.expanded}
	if k.collect != nil {
		r.collected = k.collect()
	}
	go func() { // ends with the files or after stop; the loop below waits for it
		defer close(batches)
		r.read(reading, files)
	}()
	defer func() {
		stop()
		for range batches {
		}
	}()
	for b := range batches {
		if err := im.write(ctx, tx, b.rows); err != nil {
			return im.report, fmt.Errorf("%s: %w", files[b.file].Name, err)
		}
		im.report.ignore(b.ignored)
		if b.err != nil {
			return im.report, fmt.Errorf("%s: %w", files[b.file].Name, b.err)
		}
		clear(b.rows) // its outlines may be large
		select {
		case written <- b.rows[:0]:
		default:
		}
	}
	return im.report, ctx.Err()
}

// write writes a batch and adds it to the report.
func (im *importer[T, K]) write(ctx context.Context, tx store.Tx, rows []parsed[T]) error {
	for _, p := range rows {
		im.report.Read += max(p.rows, 1)
		im.report.Combined += max(p.rows, 1) - 1
		im.report.Untimed += p.unzoned
	}
	for len(rows) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, has := im.sameColumns(rows)
		changes, err := im.put(ctx, tx, im.good, has)
		if err != nil {
			return err
		}
		if err := im.countRepeats(tx.Repeated(), rows[:n]); err != nil {
			return err
		}
		for _, p := range rows[:n] {
			switch {
			case p.leftOut != "":
				im.report.leaveOut(string(p.leftOut))
			case p.reason != "":
				im.reject(p)
			default:
				im.count(p, changes[0])
				changes = changes[1:]
			}
		}
		rows = rows[n:]
	}
	return nil
}

// countRepeats returns an error if rows repeat the keys of earlier ones too often. The repeated ones are given by their index
// among the good rows.
func (im *importer[T, K]) countRepeats(repeated []int, rows []parsed[T]) error {
	im.repeatedRows, im.otherRows = im.repeatedRows+len(repeated), im.otherRows+len(im.good)-len(repeated)
	if most := len(im.files)*im.otherRows + maxRepeatedRows; im.repeatedRows > most {
		return tooManyRepeats("%s: %d rows so far repeat the key of an earlier row: want at most %d, since there are %d other rows; remove the repeated ones",
			im.lastOf(rows), im.repeatedRows, most, im.otherRows)
	}
	for _, i := range repeated {
		key := im.key(im.good[i])
		n, counted := im.repeats[key]
		if !counted && len(im.repeats) == maxFirsts {
			continue
		}
		im.repeats[key] = n + 1
		if most := len(im.files) + maxRepeatsOfKey; n == most {
			return tooManyRepeats("%s: %s of lake %.80q is repeated more than %d times in this import: want one row for it",
				im.goodRow(rows, i), strings.TrimSuffix(im.name(im.good[i]), ","), im.lake(im.good[i]), most)
		}
	}
	return nil
}

// goodRow says where good row i is.
func (im *importer[T, K]) goodRow(rows []parsed[T], i int) string {
	for _, p := range rows {
		if p.leftOut != "" || p.reason != "" {
			continue
		}
		if i--; i < 0 {
			return p.at()
		}
	}
	panic("ingest: the store names a repeated row that it was not given")
}

// lastOf says where the last row is.
func (im *importer[T, K]) lastOf(rows []parsed[T]) string { return rows[len(rows)-1].at() }

// sameColumns puts the values of the first n rows, up to one with different columns, into good.
func (im *importer[T, K]) sameColumns(rows []parsed[T]) (n int, has columnSet) {
	im.good = im.good[:0]
	for i, p := range rows {
		if p.leftOut != "" || p.reason != "" {
			continue
		}
		if len(im.good) > 0 && p.has != has {
			return i, has
		}
		im.good, has = append(im.good, p.value), p.has
	}
	return len(rows), has
}

// count adds a good row to the report, by what the store did with it.
func (im *importer[T, K]) count(p parsed[T], c store.Change) {
	if c != store.UnknownLake && c != store.Contradicts && c != store.OlderVersion && c != store.WorseThanStored {
		im.remember(p)
	}
	if !im.report.add(c) {
		p.id, p.reason = im.lake(p.value), im.reasonFor(p.value, c)
		if c == store.UnknownLake {
			im.report.addUnknown(p.id)
		}
		im.reject(p)
		return
	}
	im.report.Censored += p.censored
}

// remember stores the origin of the first row with a key, as long as there is room.
func (im *importer[T, K]) remember(p parsed[T]) {
	if len(im.firsts) == im.firstsLimit {
		return
	}
	key := im.key(p.value)
	if _, came := im.firsts[key]; !came {
		im.firsts[key] = p.origin
	}
}

// reasonFor says why the store did not write a value.
func (im *importer[T, K]) reasonFor(value T, c store.Change) string {
	if c == store.Contradicts {
		return im.contradiction(value)
	}
	return im.refusal(value, c)
}

// contradiction says that another row of the import has the same key, and where it is.
func (im *importer[T, K]) contradiction(value T) string {
	name := im.name(value)
	if first, ok := im.firsts[im.key(value)]; ok {
		return fmt.Sprintf("%s is already %s of %s with other values: want one row for it", name, first, im.files[first.file].Name)
	}
	return fmt.Sprintf("%s is already in an earlier row of this import with other values: want one row for it (search the files for %s)",
		name, im.lake(value))
}

func (im *importer[T, K]) reject(p parsed[T]) {
	bad := BadRow{File: im.files[p.file].Name, ID: string(p.id), Reason: p.reason}
	switch p.unit {
	case ofLines:
		bad.Line = p.number
	case ofFeatures:
		bad.Feature = p.number
	case ofStatements:
		bad.Statement = p.number
	}
	// Rows of the store's batches may come later than bad ones after them in the file.
	at := len(im.badOrigins)
	for at > 0 && p.before(im.badOrigins[at-1]) {
		at--
	}
	if im.report.reject(bad, at); at < maxBadRows {
		im.badOrigins = slices.Insert(im.badOrigins, at, p.origin)[:len(im.report.Bad)]
	}
}

// A countingReader reports now and then how many bytes were read, of all files together. It fails when its context ends,
// since a file need not end.
type countingReader struct {
	io.Reader
	ctx      context.Context
	progress func(int64)
	bytes    int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.Reader.Read(p)
	if err != nil && c.ctx.Err() != nil {
		return n, c.ctx.Err() // most likely the cause
	}
	before := c.bytes
	c.bytes += int64(n)
	if c.bytes/progressBytes > before/progressBytes {
		c.progress(c.bytes)
	}
	return n, err
}
