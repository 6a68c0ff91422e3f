package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// A row is repeated if an earlier row of the import has its key. Each is compared with a stored row while other writers wait, and a few
	// hundred kilobytes can hold millions of equal rows. So there are two bounds:
	//
	//   - on all repeated rows: maxRepeatedRows, and as many for each file as the import has other rows;
	//   - on those of one key: maxRepeatsOfKey, and one for each file. These are counted for the first maxFirsts keys that are repeated.
	//
	// For example, 2 files with 50 different rows may have 100,100 repeated ones, of which 10,002 have the same key.
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

// A kind is a kind of rows: lakes, observations or official statements.
type kind[T any] interface {
	// form returns what files look like.
	form() *layout
	parse(*row) (T, error)
	// key returns what identifies a value. It keeps no memory of the row.
	key(T) string
	lake(T) data.LakeID
	name(T) string // the key without the lake, for error messages
	// put writes values of rows that have these columns.
	put(ctx context.Context, tx Tx, values []T, has columnSet) ([]store.Change, error)
	// refusal says why the store did not write a value, except for contradictions.
	refusal(T, store.Change) string
}

// A converter is a kind that reads some files in its own way.
type converter[T any] interface {
	// sources returns the sources of all files.
	sources(*input, []File) []source[T]
}

// An importer does one import.
type importer[T any] struct {
	kind[T]
	files       []File
	report      Report
	good        []T      // consecutive rows of a batch with the same columns
	origins     []origin // of good
	badOrigins  []origin // of report.Bad
	firsts      map[string]origin
	firstsLimit int

	repeats      map[string]int // how often a key was repeated; maxFirsts keys at most
	repeatedRows int            // how many rows repeat a key
	otherRows    int            // how many others the store was given
}

func newImporter[T any](k kind[T], files []File, opts *Options) *importer[T] {
	return &importer[T]{kind: k, files: files, firsts: make(map[string]origin), firstsLimit: cmp.Or(opts.firsts, maxFirsts), repeats: make(map[string]int)}
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

func run[T any](ctx context.Context, s Store, k kind[T], files []File, opts *Options) (Report, error) {
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
		return opts.finish(report.Rejected, nil)
	})
	report, err = report.ended(ctx, err)
	return report, prefixed(err)
}

// prefixed returns an error of an import, or nil.
func prefixed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("import: %w", err)
}

// finish calls last, if not nil, when everything is read and written. It returns an error that rolls back the import, or nil.
func (o *Options) finish(rejected int, last func() error) error {
	if rejected > 0 && !o.SkipBad {
		return errRejected
	}
	if last != nil {
		if err := last(); err != nil {
			return err
		}
	}
	if o.DryRun {
		return errDryRun
	}
	return nil
}

// ended returns the report and the error of an import whose transaction returned err.
func (r Report) ended(ctx context.Context, err error) (Report, error) {
	r.Written, r.DryRun = err == nil, errors.Is(err, errDryRun)
	if err == nil || r.DryRun {
		return r, nil
	}
	r.clearResults()
	if errors.Is(err, errRejected) {
		return r, nil
	}
	return r, explainTime(ctx, err)
}

// readInto imports files in a transaction.
func readInto[T any](ctx context.Context, tx Tx, k kind[T], files []File, opts *Options) (Report, error) {
	im := newImporter(k, files, opts)
	// One core reads rows while another writes the batch before.
	reading, stop := context.WithCancel(ctx)
	r := newReader(k, newInput(reading, opts), files)
	go r.read() // ends with the files or after stop; the loop below waits for it
	defer func() {
		stop()
		for range r.batches {
		}
	}()
	for b := range r.batches {
		if err := im.write(ctx, tx, b.rows); err != nil {
			return im.report, fmt.Errorf("%s: %w", files[b.rows[0].file].Name, err)
		}
		im.report.ignore(b.found.ignored)
		im.report.addEncodings(b.found.encodings)
		if b.err != nil {
			return im.report, b.err
		}
		r.reuse(b.rows)
	}
	return im.report, ctx.Err()
}

// write writes a batch and adds it to the report.
func (im *importer[T]) write(ctx context.Context, tx Tx, rows []parsed[T]) error {
	for i := range rows { // by pointer, here and below: to copy a row costs as much as to count it
		p := &rows[i]
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
		for i := range rows[:n] {
			switch p := &rows[i]; {
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
func (im *importer[T]) countRepeats(repeated []int, rows []parsed[T]) error {
	im.repeatedRows, im.otherRows = im.repeatedRows+len(repeated), im.otherRows+len(im.good)-len(repeated)
	if most := len(im.files)*im.otherRows + maxRepeatedRows; im.repeatedRows > most {
		return tooManyRepeats("%s: %d rows so far repeat the key of an earlier row: want at most %d, since there are %d other rows; remove the repeated ones",
			rows[len(rows)-1].at(), im.repeatedRows, most, im.otherRows)
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
				im.origins[i].at(), strings.TrimSuffix(im.name(im.good[i]), ","), im.lake(im.good[i]), most)
		}
	}
	return nil
}

// sameColumns puts the values of the first n rows, up to one with different columns, into good.
func (im *importer[T]) sameColumns(rows []parsed[T]) (n int, has columnSet) {
	im.good, im.origins = im.good[:0], im.origins[:0]
	for i := range rows {
		p := &rows[i]
		if p.leftOut != "" || p.reason != "" {
			continue
		}
		if len(im.good) > 0 && p.has != has {
			return i, has
		}
		im.good, im.origins, has = append(im.good, p.value), append(im.origins, p.origin), p.has
	}
	return len(rows), has
}

// count adds a good row to the report, by what the store did with it.
func (im *importer[T]) count(p *parsed[T], c store.Change) {
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
func (im *importer[T]) remember(p *parsed[T]) {
	if len(im.firsts) == im.firstsLimit {
		return
	}
	key := im.key(p.value)
	if _, came := im.firsts[key]; !came {
		im.firsts[key] = p.origin
	}
}

// reasonFor says why the store did not write a value.
func (im *importer[T]) reasonFor(value T, c store.Change) string {
	if c == store.Contradicts {
		return im.contradiction(value)
	}
	return im.refusal(value, c)
}

// contradiction says that another row of the import has the same key, and where it is.
func (im *importer[T]) contradiction(value T) string {
	name := im.name(value)
	if first, ok := im.firsts[im.key(value)]; ok {
		return fmt.Sprintf("%s is already %s of %s with other values: want one row for it", name, first, im.files[first.file].Name)
	}
	return fmt.Sprintf("%s is already in an earlier row of this import with other values: want one row for it (search the files for %s)",
		name, im.lake(value))
}

func (im *importer[T]) reject(p *parsed[T]) {
	bad := BadRow{File: im.files[p.file].Name, Number: p.number, ID: string(p.id), Reason: p.reason, unit: p.unit}
	// Rows of the store's batches may come later than bad ones after them in the file.
	at := len(im.badOrigins)
	for at > 0 && p.before(im.badOrigins[at-1]) {
		at--
	}
	if im.report.reject(bad, at); at < maxBadRows {
		im.badOrigins = slices.Insert(im.badOrigins, at, p.origin)[:len(im.report.Bad)]
	}
}
