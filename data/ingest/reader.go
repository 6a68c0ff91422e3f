package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"limnomap/data"
)

const (
	// batchRows is how many rows are passed to the store at once: enough to be efficient, also with PostgreSQL's COPY.
	batchRows = 16_000
	// batchBytes bounds the size of a batch in the file, because outlines are large and two batches are in memory: one being read and
	// one being written.
	batchBytes = 8 << 20
	// progressBytes is how often progress is reported.
	progressBytes = 256 << 10
)

var errTooManyRows = tooLarge("an import takes at most %d rows: divide the files among several imports", maxRows)

// An input is what the files of an import have in common.
type input struct {
	ctx      context.Context
	progress func(int64)
	bytes    int64  // read so far, as stored
	rows     int    // so far
	maxBytes int64  // expanded; 0 means no bound
	expanded *int64 // bytes so far
}

func newInput(ctx context.Context, opts *Options) *input {
	in := &input{ctx: ctx, progress: opts.Progress, maxBytes: opts.MaxBytes, expanded: opts.expanded}
	if in.progress == nil {
		in.progress = func(int64) {}
	}
	if in.expanded == nil {
		in.expanded = new(int64)
	}
	return in
}

// A countingReader reports now and then how many bytes were read, of all files of an input together, unless it is told not to. It fails
// when the import ends, since a file need not end.
type countingReader struct {
	io.Reader
	in    *input
	quiet bool
}

func (c *countingReader) Read(p []byte) (int, error) {
	if err := c.in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.Reader.Read(p)
	if err != nil && c.in.ctx.Err() != nil {
		return n, c.in.ctx.Err() // most likely the cause
	}
	if c.quiet {
		return n, err
	}
	before := c.in.bytes
	c.in.bytes += int64(n)
	if c.in.bytes/progressBytes > before/progressBytes {
		c.in.progress(c.in.bytes)
	}
	return n, err
}

// eachRow passes the rows of a file to do, each as a row or as the badRow error of one that cannot be read, until do returns an error, which
// ends the import. Errors name the file.
func (in *input) eachRow(f File, number int, l *layout, do func(r *row, from origin, bad error) error) (found findings, err error) {
	rs, closeFile, err := in.openRows(f, l, false)
	if err != nil {
		return findings{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	defer closeFile()
	defer func() {
		found.ignored = rs.unknown()
		if name := rs.encodedIn(); name != "" {
			found.encodings = []Encoding{{f.Name, name}}
		}
	}()
	if t, ok := rs.(*table); ok && !l.points {
		t.marks = sync.OnceValue(func() *marks {
			m, err := in.findMarks(f, l)
			if t.failed = err; err != nil {
				m = &marks{columns: make([]decimalMark, len(t.columns))}
			}
			return m
		})
	}
	for before := int64(0); ; before = rs.offset() {
		r, bad := rs.next()
		_, isBad := errors.AsType[badRow](bad)
		switch {
		case bad == io.EOF:
			return found, nil
		case bad != nil && !isBad:
			err = bad
		default:
			if err = in.count(rs.offset() - before); err == nil {
				err = do(r, origin{number, rs.number(), rs.unit()}, bad)
			}
		}
		if err != nil {
			return found, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
}

// count counts a row of that size.
func (in *input) count(size int64) error {
	if in.rows++; in.rows > maxRows {
		return errTooManyRows
	}
	if *in.expanded += size; in.maxBytes > 0 && *in.expanded > in.maxBytes {
		return tooLarge("the files expand to more than %d bytes, all together: leave out some of them", in.maxBytes)
	}
	return nil
}

// openRows opens a file. Without an error, the caller must call closeFile.
func (in *input) openRows(f File, l *layout, quiet bool) (rs rows, closeFile func(), err error) {
	r, err := f.Open()
	if err != nil {
		return nil, nil, err
	}
	rs, end, err := open(&countingReader{r, in, quiet}, f, l, func(again io.Reader) io.Reader { return &countingReader{again, in, true} })
	if err != nil {
		r.Close()
		return nil, nil, err
	}
	return rs, func() { end(); r.Close() }, nil
}

// findMarks reads a table a second time.
func (in *input) findMarks(f File, l *layout) (*marks, error) {
	rs, closeFile, err := in.openRows(f, l, true)
	if err != nil {
		return nil, err
	}
	defer closeFile()
	t, ok := rs.(*table)
	if !ok {
		return nil, errors.New("the file changed while it was read")
	}
	return findMarks(t, in)
}

// findings are what a Report says about whole files.
type findings struct {
	ignored   []string // names in the files that are not columns
	encodings []Encoding
}

// A source reads one or several files, and passes their parsed rows on. An error ends the import.
type source[T any] func(in *input, pass func(parsed[T]) error) (findings, error)

// A parsed row is a value, or the reason why there is none. A batch holds bad rows too, because the store may reject more
// rows and the report is in the order of lines.
type parsed[T any] struct {
	origin
	id       data.LakeID // of a bad row's lake, if it can be read
	value    T
	has      columnSet
	censored int
	leftOut  leftOut
	reason   string
	rows     int // how many rows of the files it stands for; 0 means 1
	unzoned  int // how many of them have a time without a zone that is known
}

// refuse notes why a row is bad or left out. It returns an error if that ends the import.
func (p *parsed[T]) refuse(err error, r *row, id int) error {
	if errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("%s: %w", p.at(), err)
	}
	if p.leftOut, _ = errors.AsType[leftOut](err); p.leftOut != "" {
		return nil
	}
	p.reason = err.Error()
	if r != nil { // an invalid id may be any text, so only the reason quotes it
		r.err = nil
		p.id = r.lakeID(id, "")
	}
	return nil
}

// fileSource returns the source of one file.
func fileSource[T any](k kind[T], number int, f File) source[T] {
	return func(in *input, pass func(parsed[T]) error) (findings, error) {
		return in.eachRow(f, number, k.form(), func(r *row, from origin, err error) error {
			p := parsed[T]{origin: from}
			if err == nil {
				if p.value, err = k.parse(r); err == nil {
					p.has, p.censored = r.has&^r.derived, r.censored
					return pass(p)
				}
			}
			if err = p.refuse(err, r, k.form().id); err != nil {
				return err
			}
			return pass(p)
		})
	}
}

// A reader reads sources into batches.
type reader[T any] struct {
	in      *input
	sources []source[T]
	rows    []parsed[T] // of the next batch
	from    int64       // expanded bytes before it
	batches chan batch[T]
	written chan []parsed[T] // the rows of batches that are written, to use their memory again
}

// A batch holds consecutive rows of one source.
type batch[T any] struct {
	rows  []parsed[T]
	found findings // in the last batch of a source
	err   error    // that ended the reading
}

func newReader[T any](k kind[T], in *input, files []File) *reader[T] {
	r := &reader[T]{in: in, from: *in.expanded, batches: make(chan batch[T]), written: make(chan []parsed[T], 1)}
	if c, ok := k.(converter[T]); ok {
		r.sources = c.sources(in, files)
		return r
	}
	for i, f := range files {
		r.sources = append(r.sources, fileSource(k, i, f))
	}
	return r
}

// read sends the batches of all sources, or until an error, which is in the last batch.
func (r *reader[T]) read() {
	defer close(r.batches)
	for _, s := range r.sources {
		found, err := s(r.in, r.add)
		if r.send(found, err) != nil || err != nil { // for a damaged file too: unknown columns may explain the error
			return
		}
	}
	r.in.progress(r.in.bytes)
}

// add adds a row to the next batch, and sends the batch if it is full.
func (r *reader[T]) add(p parsed[T]) error {
	r.rows = append(r.rows, p)
	if len(r.rows) < batchRows && *r.in.expanded-r.from < batchBytes {
		return nil
	}
	return r.send(findings{}, nil)
}

// send sends the rows so far.
func (r *reader[T]) send(found findings, err error) error {
	select {
	case r.batches <- batch[T]{r.rows, found, err}:
		r.rows, r.from = r.emptyRows(), *r.in.expanded
		return nil
	case <-r.in.ctx.Done():
		return r.in.ctx.Err()
	}
}

// emptyRows returns a slice for the rows of a batch. Growing a new one for each batch would take longer than to parse its rows.
func (r *reader[T]) emptyRows() []parsed[T] {
	select {
	case rows := <-r.written:
		return rows
	default:
		return nil
	}
}

// reuse takes rows for emptyRows.
func (r *reader[T]) reuse(rows []parsed[T]) {
	clear(rows) // its outlines may be large
	select {
	case r.written <- rows[:0]:
	default:
	}
}
