package ingest

import (
	"context"
	"errors"
	"io"
	"time"

	"limnomap/data"
)

const (
	// batchRows is how many rows are passed to the store at once: enough to be efficient, also with PostgreSQL's COPY.
	batchRows = 20_000
	// batchBytes bounds the size of a batch in the file, because outlines are large and up to three batches are in memory:
	// one being read, one being written and one in between.
	batchBytes = 8 << 20
	// progressBytes is how often progress is reported.
	progressBytes = 256 << 10
)

var errTooManyRows = tooLarge("an import takes at most %d rows: divide the files among several imports", maxRows)

// A reader reads files into values.
type reader[T any] struct {
	columns  []column
	parse    func(*row) (T, error)
	id       int
	features bool
	input    countingReader
	rows     int    // in all files
	maxBytes int64  // of all files, expanded; 0 means no bound
	expanded *int64 // bytes of all files so far; nil means 0
	batches  chan<- batch[T]
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
	leftOut  bool
	reason   string
}

// read reads all files, or until an error, which is in the last batch.
func (r *reader[T]) read(ctx context.Context, files []File) {
	if r.expanded == nil {
		r.expanded = new(int64)
	}
	for i, f := range files {
		r.input.Reader = f.Reader
		if r.readFile(ctx, i) != nil {
			return
		}
	}
	r.input.progress(r.input.bytes)
}

// readFile sends the batches of a file. After an error there are no more.
func (r *reader[T]) readFile(ctx context.Context, file int) error {
	send := func(b batch[T]) error {
		b.file = file
		select {
		case r.batches <- b:
			return b.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if d, ok := r.input.Reader.(interface{ SetReadDeadline(time.Time) error }); ok {
		// A read from a pipe may block for ever. A regular file has no deadlines and needs none.
		stop := context.AfterFunc(ctx, func() { _ = d.SetReadDeadline(time.Unix(0, 0)) })
		defer stop()
	}
	t, end, err := open(&r.input, r.columns, r.features)
	if err != nil {
		return send(batch[T]{err: err})
	}
	defer end()
	before := *r.expanded
	for from := t.offset(); ; from = t.offset() {
		var b batch[T]
		for b.err == nil && len(b.rows) < batchRows && t.offset()-from < batchBytes {
			var p parsed[T]
			if p, b.err = r.next(t, file); b.err == nil {
				b.rows = append(b.rows, p)
			}
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

// next returns the next row, good or bad.
func (r *reader[T]) next(t rows, file int) (p parsed[T], err error) {
	fields, err := t.next()
	var bad badRow
	if err != nil && !errors.As(err, &bad) {
		return p, err
	}
	if r.rows++; r.rows > maxRows {
		return p, errTooManyRows
	}
	p.file, p.number, p.feature, p.reason = file, t.number(), t.ofFeatures(), string(bad)
	if err == nil {
		if p.value, err = r.parse(fields); err == nil {
			p.has, p.censored = fields.has, fields.censored
			return p, nil
		}
		if p.leftOut = errors.Is(err, errLeftOut); p.leftOut {
			return p, nil
		}
		p.reason = err.Error()
	}
	if fields != nil {
		// An invalid id may be any text, so only the reason quotes it.
		p.id, _ = fields.lakeID(r.id, "")
	}
	return p, nil
}
