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
	batchRows = 20_000
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

// An openFile is a file that is being read.
type openFile struct {
	rows
	name   string
	in     *input
	offset int64 // of the last row
	close  func()
}

// open opens a file. The caller closes it.
func (in *input) open(f File, l *layout) (*openFile, error) {
	rs, closeFile, err := in.openRows(f, l, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	if t, ok := rs.(*table); ok {
		t.marks = sync.OnceValue(func() *marks {
			m, err := in.findMarks(f, l)
			if t.failed = err; err != nil {
				m = &marks{columns: make([]decimalMark, len(t.columns))}
			}
			return m
		})
	}
	return &openFile{rows: rs, name: f.Name, in: in, close: closeFile}, nil
}

func (in *input) openRows(f File, l *layout, quiet bool) (rs rows, closeFile func(), err error) {
	r, err := f.Open()
	if err != nil {
		return nil, nil, err
	}
	rs, end, err := open(&countingReader{r, in, quiet}, l)
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

// next returns the next row. A badRow error is of one row, any other of the file, and names it.
func (f *openFile) next() (*row, error) {
	r, err := f.rows.next()
	_, isBad := errors.AsType[badRow](err)
	if err != nil && !isBad {
		if err != io.EOF {
			err = fmt.Errorf("%s: %w", f.name, err)
		}
		return nil, err
	}
	if f.in.rows++; f.in.rows > maxRows {
		return nil, fmt.Errorf("%s: %w", f.name, errTooManyRows)
	}
	offset := f.rows.offset()
	*f.in.expanded += offset - f.offset
	f.offset = offset
	if f.in.maxBytes > 0 && *f.in.expanded > f.in.maxBytes {
		return nil, fmt.Errorf("%s: %w", f.name, tooLarge("the files expand to more than %d bytes, all together: leave out some of them", f.in.maxBytes))
	}
	return r, err
}

// A source yields the parsed rows of one or several files.
type source[T any] interface {
	// next reads the next row. io.EOF ends the source; any other error ends the import and names the file.
	next(*parsed[T]) error
	// unknown returns the names so far that are not columns.
	unknown() []string
	close()
}

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

// A fileSource is the source of one file.
type fileSource[T any] struct {
	kind   kind[T]
	in     *input
	number int
	file   File
	open   *openFile // nil before the first row
}

func (s *fileSource[T]) next(p *parsed[T]) (err error) {
	if s.open == nil {
		if s.open, err = s.in.open(s.file, s.kind.form()); err != nil {
			return err
		}
	}
	r, err := s.open.next()
	_, isBad := errors.AsType[badRow](err)
	if err != nil && !isBad {
		return err
	}
	p.origin = origin{s.number, s.open.number(), s.open.unit()}
	if err == nil {
		if p.value, err = s.kind.parse(r); err == nil {
			p.has, p.censored = r.has&^r.derived, r.censored
			return nil
		}
	}
	if err = p.refuse(err, r, s.kind.form().id); err != nil {
		return fmt.Errorf("%s: %w", s.file.Name, err)
	}
	return nil
}

func (s *fileSource[T]) unknown() []string {
	if s.open == nil {
		return nil
	}
	return s.open.unknown()
}

func (s *fileSource[T]) close() {
	if s.open != nil {
		s.open.close()
	}
}

// A reader reads sources into batches.
type reader[T any] struct {
	in      *input
	sources []source[T]
	batches chan batch[T]
	written chan []parsed[T] // the rows of batches that are written, to use their memory again
}

// A batch holds consecutive rows of one source.
type batch[T any] struct {
	rows    []parsed[T]
	ignored []string // the unknown columns, in the last batch of a source
	err     error    // that ended the reading
}

func newReader[T any](k kind[T], in *input, files []File) *reader[T] {
	r := &reader[T]{in: in, batches: make(chan batch[T]), written: make(chan []parsed[T], 1)}
	if c, ok := k.(converter[T]); ok {
		r.sources = c.sources(in, files)
		return r
	}
	for i, f := range files {
		r.sources = append(r.sources, &fileSource[T]{kind: k, in: in, number: i, file: f})
	}
	return r
}

// read sends the batches of all sources, or until an error, which is in the last batch.
func (r *reader[T]) read() {
	defer close(r.batches)
	for _, s := range r.sources {
		if r.readSource(s) != nil {
			return
		}
	}
	r.in.progress(r.in.bytes)
}

func (r *reader[T]) readSource(s source[T]) error {
	defer s.close()
	for ended := false; !ended; {
		b := batch[T]{rows: r.emptyRows()}
		for from := *r.in.expanded; b.err == nil && len(b.rows) < batchRows && *r.in.expanded-from < batchBytes; {
			b.rows = append(b.rows, parsed[T]{})
			if b.err = s.next(&b.rows[len(b.rows)-1]); b.err != nil {
				b.rows = b.rows[:len(b.rows)-1]
			}
		}
		if b.err != nil { // for a damaged file too: unknown columns may explain the error
			b.ignored = s.unknown()
		}
		if ended = b.err == io.EOF; ended {
			b.err = nil
		}
		select {
		case r.batches <- b:
			if b.err != nil {
				return b.err
			}
		case <-r.in.ctx.Done():
			return r.in.ctx.Err()
		}
	}
	return nil
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
