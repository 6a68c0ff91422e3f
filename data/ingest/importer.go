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
	// put writes values of a file that lacks some columns.
	put func(ctx context.Context, tx store.Tx, values []T, lacks func(column int) bool) ([]store.Change, error)
}

// An importer does one import.
type importer[T, K comparable] struct {
	kind[T, K]
	files  []File
	report Report
	batch  []parsed[T]
	good   []T // of the batch
	seed   maphash.Seed
	seen   map[K]origin
}

// A parsed row is a value, or the reason why there is none. Bad rows wait in the batch with the good ones, because
// the store rejects some too and the report is in the order of lines.
type parsed[T any] struct {
	file, line int
	id         string // of the row's lake, if it can be read
	value      T
	censored   int
	reason     string
}

// An origin is where a key came first, and with what.
type origin struct {
	value      uint64 // the value's hash: that two different values of one key share it will not happen
	file, line uint32 // small, because there is one for each row
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

func (im *importer[T, K]) readFile(ctx context.Context, tx store.Tx, file int, r io.Reader) error {
	t, err := openTable(r, im.columns)
	if err != nil {
		return err
	}
	im.report.ignore(t.ignored)
	for {
		fields, err := t.next()
		var bad badRow
		if err != nil && !errors.As(err, &bad) {
			// Of a broken file too: the rows before the break may tell what is wrong.
			if err := im.flush(ctx, tx, t); err != nil {
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
		p := parsed[T]{file: file, line: t.line, reason: string(bad)}
		if err == nil {
			im.take(&row{table: t, columns: im.columns, fields: fields}, &p)
		}
		im.batch = append(im.batch, p)
		if len(im.batch) == batchRows {
			if err := im.flush(ctx, tx, t); err != nil {
				return err
			}
		}
	}
}

// take parses a row into p.
func (im *importer[T, K]) take(r *row, p *parsed[T]) {
	p.id = r.lakeID(im.id)
	value, err := im.parse(r)
	if err != nil {
		p.reason = err.Error()
		return
	}
	key := im.key(value)
	here := origin{maphash.Comparable(im.seed, value), uint32(p.file), uint32(p.line)}
	if first, ok := im.seen[key]; !ok {
		im.seen[key] = here
	} else if first.value != here.value {
		p.reason = fmt.Sprintf("%s stands on line %d of %s with other values: want one row for it",
			im.name(value), first.line, im.files[first.file].Name)
		return
	}
	p.value, p.censored = value, r.censored
}

// flush writes the batch, all of one table, and reports on it.
func (im *importer[T, K]) flush(ctx context.Context, tx store.Tx, t *table) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	im.good = im.good[:0]
	for _, p := range im.batch {
		if p.reason == "" {
			im.good = append(im.good, p.value)
		}
	}
	changes, err := im.put(ctx, tx, im.good, t.lacks)
	if err != nil {
		return err
	}
	for _, p := range im.batch {
		if p.reason == "" {
			p.reason = im.count(changes[0], p.censored)
			changes = changes[1:]
		}
		if p.reason != "" {
			im.report.reject(BadRow{im.files[p.file].Name, p.line, p.id, p.reason})
		}
	}
	im.batch = im.batch[:0]
	return nil
}

// count counts what became of a good row. The store may still find a reason to reject it.
func (im *importer[T, K]) count(c store.Change, censored int) (reason string) {
	switch c {
	case store.Added:
		im.report.Added++
	case store.Changed:
		im.report.Changed++
	case store.Unchanged:
		im.report.Unchanged++
	case store.LosesReport:
		return "chl is missing, while the database holds a who_level or cell_density_cells_ml of its own for this day: " +
			"want a value, or these columns too, which may be empty to take them back"
	default:
		return "the database does not hold this lake: import the lakes first"
	}
	im.report.Censored += censored
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
