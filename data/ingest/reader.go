package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"

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

// A reader reads files into values.
type reader[T any] struct {
	columns []column
	parse   func(*row) (T, error)
	id      int
	json    jsonForm
	wqp     *wqpForm
	// collected combines the rows of files of the Water Quality Portal; or nil.
	collected collector[T]
	input     countingReader
	rows      int    // in all files
	maxBytes  int64  // of all files, expanded; 0 means no bound
	expanded  *int64 // bytes of all files so far; nil means 0
	batches   chan<- batch[T]
	written   <-chan []parsed[T] // the rows of batches that are written, to use their memory again
}

// A batch holds consecutive rows of one file.
type batch[T any] struct {
	file    int
	rows    []parsed[T]
	ignored []string // the unknown columns, in the last batch of a file
	err     error    // that ended the file
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

// read reads all files, or until an error, which is in the last batch.
func (r *reader[T]) read(ctx context.Context, files []File) {
	if r.expanded == nil {
		r.expanded = new(int64)
	}
	for i, f := range files {
		if r.readFile(ctx, i, f) != nil {
			return
		}
	}
	if r.collected != nil && r.sendCollected(ctx) != nil {
		return
	}
	r.input.progress(r.input.bytes)
}

// readFile sends the batches of a file. After an error there are no more.
func (r *reader[T]) readFile(ctx context.Context, file int, f File) error {
	send := func(b batch[T]) error {
		b.file = file
		return r.send(ctx, b)
	}
	opened, err := f.Open()
	if err != nil {
		return send(batch[T]{err: err})
	}
	defer opened.Close()
	r.input.Reader = opened
	t, end, err := open(&r.input, r.columns, r.json, r.wqp)
	if err != nil {
		return send(batch[T]{err: err})
	}
	defer end()
	before := *r.expanded
	for from := t.offset(); ; from = t.offset() {
		b := batch[T]{rows: r.emptyRows()}
		var waiting []waitingRow
		for b.err == nil && len(b.rows) < batchRows && t.offset()-from < batchBytes {
			n := len(b.rows)
			b.rows = append(b.rows, parsed[T]{})
			p := &b.rows[n]
			var ambiguous *row
			if ambiguous, b.err = r.next(p, t, file); ambiguous != nil {
				waiting = append(waiting, waitingRow{n, ambiguous})
			}
			if b.err != nil || p.rows == isCollected {
				b.rows = b.rows[:n]
			}
		}
		if err := r.decide(b.rows, waiting); err != nil {
			b.err = err
		}
		if *r.expanded = before + t.offset(); r.maxBytes > 0 && *r.expanded > r.maxBytes {
			b.err = tooLarge("the files expand to more than %d bytes, all together: leave out some of them", r.maxBytes)
		}
		ended := b.err == io.EOF
		if b.err != nil { // for a damaged file too: unknown columns may explain the error
			b.ignored = t.unknown()
		}
		if ended {
			b.err = nil
		}
		if err := send(b); err != nil || ended {
			return err
		}
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

func (r *reader[T]) send(ctx context.Context, b batch[T]) error {
	select {
	case r.batches <- b:
		return b.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sendCollected sends what the collected rows of all files make together.
func (r *reader[T]) sendCollected(ctx context.Context) error {
	var b batch[T]
	for p := range r.collected.rows() {
		if len(b.rows) == batchRows || len(b.rows) > 0 && p.file != b.file {
			if err := r.send(ctx, b); err != nil {
				return err
			}
			b.rows = r.emptyRows()
		}
		b.file, b.rows = p.file, append(b.rows, p)
	}
	return r.send(ctx, b)
}

// isCollected are the rows of a row that a collector has.
const isCollected = -1

// next reads the next row, good or bad, into p. If it has a number with two readings, next returns the row to parse again.
func (r *reader[T]) next(p *parsed[T], t rows, file int) (ambiguous *row, err error) {
	fields, err := t.next()
	bad, isBad := errors.AsType[badRow](err)
	if err != nil && !isBad {
		return nil, err
	}
	if r.rows++; r.rows > maxRows {
		return nil, errTooManyRows
	}
	p.file, p.number, p.unit, p.reason = file, t.number(), t.unit(), string(bad)
	switch {
	case err == nil:
		if fields.evidence != nil {
			fields.known = fields.evidence.changes
		}
		if err := r.fill(p, fields); err != nil {
			return nil, err
		}
		if fields.ambiguous { // also if it is bad: another reading may be good
			if err := fields.proveAll(); err != nil {
				p.reason = err.Error()
				return nil, fmt.Errorf("%s: %w", p.at(), err)
			}
			return fields.keep(), nil
		}
	case fields != nil:
		r.name(p, fields)
	}
	return nil, nil
}

// fill parses a row. It returns only errors of the whole file.
func (r *reader[T]) fill(p *parsed[T], fields *row) error {
	var err error
	if fields.ofWQP {
		if err = r.collected.add(fields, p.origin); err == nil {
			p.rows = isCollected
			return nil
		}
	} else if p.value, err = r.parse(fields); err == nil {
		p.has, p.censored = fields.has&^fields.derived, fields.censored
		return nil
	}
	if errors.Is(err, errMarks) || errors.Is(err, ErrTooLarge) {
		p.reason = err.Error()
		return fmt.Errorf("%s: %w", p.at(), err)
	}
	var isLeftOut bool
	if p.leftOut, isLeftOut = errors.AsType[leftOut](err); isLeftOut {
		return nil
	}
	p.reason = err.Error()
	r.name(p, fields)
	return nil
}

// name sets the id of a bad row's lake. An invalid id may be any text, so only the reason quotes it.
func (r *reader[T]) name(p *parsed[T], fields *row) { p.id, _ = fields.lakeID(r.id, "") }

// A waitingRow waits for the rest of its batch, which may decide between two readings of a number, also in another way than
// the rows before it.
type waitingRow struct {
	index  int // in the batch
	fields *row
}

// decide parses waiting rows again, with the evidence of the whole batch, unless it would change nothing. Those that it does not decide become bad rows: the
// batch is to be written next, and the file may be too large to keep them until its end.
func (r *reader[T]) decide(rows []parsed[T], waiting []waitingRow) error {
	for _, w := range waiting {
		if w.fields.settled() {
			continue
		}
		p := &rows[w.index]
		p.id, p.leftOut, p.reason = "", "", ""
		w.fields.evidence.line, w.fields.evidence.last = p.number, true
		err := r.fill(p, w.fields)
		w.fields.evidence.last = false
		if err != nil {
			return err
		}
	}
	return nil
}
