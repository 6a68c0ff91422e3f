package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"limnomap/data"
	"limnomap/data/store"
)

const (
	// maxRows bounds one import: seven times 1.4 million lakes with 104 weekly values.
	maxRows = 1_000_000_000
	// maxFirsts is of how many keys an import remembers where they came first, to name the line beside one that
	// contradicts: about 10 MB. Whether one does is for the store to say.
	maxFirsts = 100_000
)

var (
	errRejected = errors.New("rows were rejected")  // undoes a strict import; callers see the Report
	errDryRun   = errors.New("nothing is to stay")  // undoes a dry run
	errLeftOut  = errors.New("the row is left out") // which is no fault of it
)

// A kind is what an importer must know of the values T that it reads, each of which has a key K.
type kind[T any, K comparable] struct {
	columns []column
	parse   func(*row) (T, error)
	key     func(T) K
	id      int // the column that names the row's lake
	lake    func(T) data.LakeID
	name    func(T) string // in words, what the key says beside that
	// put writes values of rows that have these columns.
	put func(ctx context.Context, tx store.Tx, values []T, has columnSet) ([]store.Change, error)
	// refusal says why the store did not write a value that contradicts no other.
	refusal func(T, store.Change) string
	// features reports whether GeoJSON is read beside CSV.
	features bool
}

// An importer does one import.
type importer[T any, K comparable] struct {
	kind[T, K]
	files  []File
	report Report
	good   []T // of a batch, as many in a row as have the same columns
	firsts map[K]origin
	most   int // of firsts
}

// An origin is which row of which file a value is from.
type origin struct {
	file, number int
	feature      bool // whether rows of that file are counted as features, not lines
}

func (o origin) String() string {
	if o.feature {
		return fmt.Sprintf("in feature %d", o.number)
	}
	return fmt.Sprintf("on line %d", o.number)
}

func run[T any, K comparable](ctx context.Context, s store.Store, k kind[T, K], files []File, opts *Options) (Report, error) {
	if len(files) == 0 {
		return Report{}, errors.New("import: there is no file to read")
	}
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
	report.forget()
	if errors.Is(err, errRejected) {
		return report, nil
	}
	return report, fmt.Errorf("import: %w", err)
}

// readInto reads files into a transaction.
func readInto[T any, K comparable](ctx context.Context, tx store.Tx, k kind[T, K], files []File, opts *Options) (Report, error) {
	im := importer[T, K]{kind: k, files: files, firsts: make(map[K]origin), most: cmp.Or(opts.firsts, maxFirsts)}
	tell := opts.Progress
	if tell == nil {
		tell = func(int64) {}
	}
	// One core reads rows while the other writes those before them.
	reading, stop := context.WithCancel(ctx)
	batches := make(chan batch[T], 1)
	r := reader[T]{columns: k.columns, parse: k.parse, id: k.id, features: k.features, batches: batches,
		input: countingReader{ctx: reading, tell: tell}}
	go func() { // ends with the files, or when stop is called, which this function waits for
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
	}
	return im.report, ctx.Err()
}

// write writes a batch and reports on it.
func (im *importer[T, K]) write(ctx context.Context, tx store.Tx, rows []parsed[T]) error {
	im.report.Read += len(rows)
	for len(rows) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, has := im.alike(rows)
		changes, err := im.put(ctx, tx, im.good, has)
		if err != nil {
			return err
		}
		for _, p := range rows[:n] {
			switch {
			case p.leftOut:
				im.report.LeftOut++
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

// alike puts the values of the first rows in good, up to a row whose columns are not those of the ones before.
func (im *importer[T, K]) alike(rows []parsed[T]) (n int, has columnSet) {
	im.good = im.good[:0]
	for i, p := range rows {
		if p.leftOut || p.reason != "" {
			continue
		}
		if len(im.good) > 0 && p.has != has {
			return i, has
		}
		im.good, has = append(im.good, p.value), p.has
	}
	return len(rows), has
}

// count counts what became of a good row. The store may still find a reason to reject it.
func (im *importer[T, K]) count(p parsed[T], c store.Change) {
	if c != store.UnknownLake && c != store.Contradicts {
		im.remember(p)
	}
	switch c {
	case store.Added:
		im.report.Added++
	case store.Changed:
		im.report.Changed++
	case store.Unchanged:
		im.report.Unchanged++
	default:
		p.id, p.reason = im.lake(p.value), im.whyNot(p.value, c)
		if c == store.UnknownLake {
			im.report.lack(p.id)
		}
		im.reject(p)
		return
	}
	im.report.Censored += p.censored
}

// remember keeps where a key came first, as long as there is room.
func (im *importer[T, K]) remember(p parsed[T]) {
	if len(im.firsts) == im.most {
		return
	}
	key := im.key(p.value)
	if _, came := im.firsts[key]; !came {
		im.firsts[key] = p.origin
	}
}

// whyNot says why the store did not write a value.
func (im *importer[T, K]) whyNot(value T, c store.Change) string {
	if c == store.Contradicts {
		return im.contradiction(value)
	}
	return im.refusal(value, c)
}

// contradiction says of a value that another row of the import has its key, and where, or how to find it.
func (im *importer[T, K]) contradiction(value T) string {
	name := im.name(value)
	if first, ok := im.firsts[im.key(value)]; ok {
		return fmt.Sprintf("%s stands %s of %s with other values: want one row for it", name, first, im.files[first.file].Name)
	}
	return fmt.Sprintf("%s stands in an earlier row of this import with other values: want one row for it (look for %s in the files)",
		name, im.lake(value))
}

func (im *importer[T, K]) reject(p parsed[T]) {
	bad := BadRow{File: im.files[p.file].Name, ID: string(p.id), Reason: p.reason}
	if p.feature {
		bad.Feature = p.number
	} else {
		bad.Line = p.number
	}
	im.report.reject(bad)
}

// A countingReader tells now and then how many bytes were read, of one file after the other. It ends with its
// context, as a file need not.
type countingReader struct {
	io.Reader
	ctx   context.Context
	tell  func(int64)
	bytes int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.Reader.Read(p)
	if err != nil && c.ctx.Err() != nil {
		return n, c.ctx.Err() // most likely the reason
	}
	before := c.bytes
	c.bytes += int64(n)
	if c.bytes/progressBytes > before/progressBytes {
		c.tell(c.bytes)
	}
	return n, err
}
