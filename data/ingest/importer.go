package ingest

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"limnomap/data/store"
)

const (
	// batchRows is how many rows are handed to the store at once: enough that the hand-over costs nothing.
	batchRows = 2000
	// batchBytes of a file are as many at the most, because outlines are large and wait in memory.
	batchBytes = 8 << 20
	// maxRows bounds one import, because it remembers every key.
	maxRows = 10_000_000
	// progressBytes is how often progress is told.
	progressBytes = 256 << 10
)

var (
	errRejected    = errors.New("rows were rejected") // undoes a strict import; callers see the Report
	errTooManyRows = fmt.Errorf("an import takes at most %d rows: divide the files among several imports", maxRows)
)

// A kind is what an importer must know of the values T that it reads, each of which has a key K.
type kind[T, K comparable] struct {
	columns []column
	parse   func(*row) (T, error)
	key     func(T) K
	id      int            // the column that names the row's lake
	name    func(T) string // in words, what the key says beside that
	// put writes values of rows that have these columns.
	put func(ctx context.Context, tx store.Tx, values []T, has columnSet) ([]store.Change, error)
	// refusal says why the store did not write a value.
	refusal func(T, store.Change) string
	// features reports whether GeoJSON is read beside CSV.
	features bool
}

// An importer does one import.
type importer[T, K comparable] struct {
	kind[T, K]
	files      []File
	ofFeatures []bool // of each file so far, whether its rows are counted as features, not lines
	report     Report
	batch      []parsed[T]
	good       []T // of the batch, as many in a row as have the same columns
	seed       maphash.Seed
	seen       map[K]origin
}

// A parsed row is a value, or the reason why there is none. Bad rows wait in the batch with the good ones, because
// the store rejects some too and the report is in the order of lines.
type parsed[T any] struct {
	file, number int    // which row of which file
	id           string // of the row's lake, if it can be read
	value        T
	has          columnSet
	censored     int
	reason       string
}

// An origin is where a key came first, and with what.
type origin struct {
	value        uint64 // the value's hash: that two different values of one key share it will not happen
	file, number uint32 // small, because there is one for each row
}

func run[T, K comparable](ctx context.Context, s store.Store, k kind[T, K], files []File, opts *Options) (Report, error) {
	if len(files) == 0 {
		return Report{}, errors.New("import: there is no file to read")
	}
	if opts == nil {
		opts = &Options{}
	}
	im := importer[T, K]{kind: k, files: files, seed: maphash.MakeSeed(), seen: make(map[K]origin)}
	tell := opts.Progress
	if tell == nil {
		tell = func(int64) {}
	}
	input := countingReader{ctx: ctx, tell: tell}
	err := s.Import(ctx, func(tx store.Tx) error {
		for i, f := range files {
			input.Reader = f.Reader
			if err := im.readFile(ctx, tx, i, &input); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		tell(input.bytes)
		if im.report.Rejected > 0 && !opts.SkipBad {
			return errRejected
		}
		return nil
	})
	if err != nil {
		im.report.Added, im.report.Changed, im.report.Unchanged, im.report.Censored = 0, 0, 0, 0
		if errors.Is(err, errRejected) {
			return im.report, nil
		}
		return im.report, fmt.Errorf("import: %w", err)
	}
	im.report.Written = true
	return im.report, nil
}

func (im *importer[T, K]) readFile(ctx context.Context, tx store.Tx, file int, input *countingReader) error {
	t, err := openRows(input, im.columns, im.features)
	if err != nil {
		return err
	}
	_, features := t.(*collection)
	im.ofFeatures = append(im.ofFeatures, features)
	flushed := input.bytes
	for {
		r, err := t.next()
		var bad badRow
		if err != nil && !errors.As(err, &bad) {
			// Of a broken file too: the rows before the break may tell what is wrong.
			im.report.ignore(t.unknown())
			if err := im.flush(ctx, tx); err != nil {
				return err
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
		if im.report.Read == maxRows {
			return errTooManyRows
		}
		im.report.Read++
		p := parsed[T]{file: file, number: t.number(), reason: string(bad)}
		if r != nil {
			p.id = r.lakeID(im.id)
		}
		if err == nil {
			im.take(r, &p)
		}
		im.batch = append(im.batch, p)
		if len(im.batch) == batchRows || input.bytes-flushed >= batchBytes {
			if err := im.flush(ctx, tx); err != nil {
				return err
			}
			flushed = input.bytes
		}
	}
}

// take parses a row into p.
func (im *importer[T, K]) take(r *row, p *parsed[T]) {
	value, err := im.parse(r)
	if err != nil {
		p.reason = err.Error()
		return
	}
	key := im.key(value)
	here := origin{maphash.Comparable(im.seed, value), uint32(p.file), uint32(p.number)}
	if first, ok := im.seen[key]; !ok {
		im.seen[key] = here
	} else if first.value != here.value {
		p.reason = fmt.Sprintf("%s stands %s of %s with other values: want one row for it",
			im.name(value), im.place(first), im.files[first.file].Name)
		return
	}
	p.value, p.has, p.censored = value, r.has, r.censored
}

// place says where in its file an origin is.
func (im *importer[T, K]) place(o origin) string {
	if im.ofFeatures[o.file] {
		return fmt.Sprintf("in feature %d", o.number)
	}
	return fmt.Sprintf("on line %d", o.number)
}

// flush writes the batch and reports on it.
func (im *importer[T, K]) flush(ctx context.Context, tx store.Tx) error {
	for rest := im.batch; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, has := im.alike(rest)
		changes, err := im.put(ctx, tx, im.good, has)
		if err != nil {
			return err
		}
		for _, p := range rest[:n] {
			if p.reason == "" {
				p.reason = im.count(p, changes[0])
				changes = changes[1:]
			}
			if p.reason != "" {
				im.reject(p)
			}
		}
		rest = rest[n:]
	}
	im.batch = im.batch[:0]
	return nil
}

// alike puts the values of the first rows in good, up to a row whose columns are not those of the ones before.
func (im *importer[T, K]) alike(rows []parsed[T]) (n int, has columnSet) {
	im.good = im.good[:0]
	for i, p := range rows {
		if p.reason != "" {
			continue
		}
		if len(im.good) > 0 && p.has != has {
			return i, has
		}
		im.good, has = append(im.good, p.value), p.has
	}
	return len(rows), has
}

func (im *importer[T, K]) reject(p parsed[T]) {
	bad := BadRow{File: im.files[p.file].Name, ID: p.id, Reason: p.reason}
	if im.ofFeatures[p.file] {
		bad.Feature = p.number
	} else {
		bad.Line = p.number
	}
	im.report.reject(bad)
}

// count counts what became of a good row. The store may still find a reason to reject it.
func (im *importer[T, K]) count(p parsed[T], c store.Change) (reason string) {
	switch c {
	case store.Added:
		im.report.Added++
	case store.Changed:
		im.report.Changed++
	case store.Unchanged:
		im.report.Unchanged++
	default:
		return im.refusal(p.value, c)
	}
	im.report.Censored += p.censored
	return ""
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
	before := c.bytes
	c.bytes += int64(n)
	if c.bytes/progressBytes > before/progressBytes {
		c.tell(c.bytes)
	}
	return n, err
}
