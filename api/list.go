package api

import (
	"errors"
	"io"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"
)

// maxHeldLakes is up to how many records an answer is made in memory, some 30 MB of them. A longer one is written piece
// by piece as it is read: the two lists of two million lakes would hold nearly a gigabyte for clients that ask without
// compression, who are rare.
const maxHeldLakes = 1 << 17

// pieceLakes are the records of a piece of a long answer, some 256 kB of them.
const pieceLakes = 1 << 10

// listTail ends each JSON answer that is a list of lakes.
const listTail = "]}\n"

// A list is what an answer is made of that has a record for each lake: a head up to the first record, how the record of
// a lake is appended, and what stands between records and behind the last.
type list struct {
	head    []byte
	record  func(b []byte, lake int) []byte
	between string
	tail    string
}

// jsonList returns a list of JSON records, whose head opens an array in an object.
func jsonList(head []byte, record func(b []byte, lake int) []byte) list {
	return list{head: head, record: record, between: ",", tail: listTail}
}

// records are the records of all lakes in one piece, so that any run of them is a slice, inside the answer that has
// them all.
type records struct {
	list
	bytes  []byte
	starts []int // of each record, and behind the comma of the last, had it one
}

// records returns the list of n lakes.
func (l list) records(n int) *records {
	r := &records{list: l, bytes: l.head, starts: make([]int, 1, n+1)}
	r.starts[0] = len(l.head)
	for i := range n {
		r.bytes = append(l.record(r.bytes, i), l.between...)
		r.starts = append(r.starts, len(r.bytes))
		if i == 0 {
			// The others are about as long as the first; growing step by step would copy all of them five times.
			r.bytes = slices.Grow(r.bytes, (r.starts[1]-r.starts[0])*n*5/4+len(l.tail))
		}
	}
	if n > 0 {
		r.bytes = r.bytes[:len(r.bytes)-len(l.between)]
	}
	r.bytes = append(r.bytes, l.tail...)
	return r
}

// appendSome appends the records of those lakes, in ascending order, neighbours in one go, and what ends the list.
func (r *records) appendSome(b []byte, lakes []int32) []byte {
	size := 0
	for _, lake := range lakes {
		size += r.starts[lake+1] - r.starts[lake]
	}
	b = slices.Grow(b, size+len(r.tail))
	for len(lakes) > 0 {
		run := 1
		for run < len(lakes) && lakes[run] == lakes[run-1]+1 {
			run++
		}
		first := int(lakes[0])
		b = append(b, r.bytes[r.starts[first]:r.starts[first+run]-len(r.between)]...)
		if lakes = lakes[run:]; len(lakes) > 0 {
			b = append(b, r.between...)
		}
	}
	return append(b, r.tail...)
}

// A text is a list too long to be held: its pieces are made when they are read, the same bytes each time. It is safe for
// concurrent use.
type text struct {
	list
	lakes []int32 // which ones; nil: the first n
	n     int
	ends  []int64 // of the pieces, in bytes from the start
	hash  uint64  // of all bytes
}

// newText makes the text of n lakes, the given ones or, with nil, all up to the n-th. Everything is written to w on the
// way, since it takes one reading to know the length.
func newText(l list, lakes []int32, n int, w io.Writer) (*text, error) {
	t := &text{list: l, lakes: lakes, n: n, ends: make([]int64, 0, 1+n/pieceLakes)}
	hash := xxhash.New()
	w = io.MultiWriter(hash, w)
	var b []byte
	end := int64(0)
	for i := range 1 + max(n-1, 0)/pieceLakes {
		b = t.appendPiece(b[:0], i)
		if _, err := w.Write(b); err != nil {
			return nil, err
		}
		end += int64(len(b))
		t.ends = append(t.ends, end)
	}
	t.hash = hash.Sum64()
	return t, nil
}

// appendPiece appends piece i: the first with the head, the last with the tail.
func (t *text) appendPiece(b []byte, i int) []byte {
	if i == 0 {
		b = append(b, t.head...)
	}
	end := min((i+1)*pieceLakes, t.n)
	for k := i * pieceLakes; k < end; k++ {
		if k > 0 {
			b = append(b, t.between...)
		}
		lake := k
		if t.lakes != nil {
			lake = int(t.lakes[k])
		}
		b = t.record(b, lake)
	}
	if end == t.n {
		b = append(b, t.tail...)
	}
	return b
}

func (t *text) size() int64 { return t.ends[len(t.ends)-1] }

// reader returns a reader of the text from its start.
func (t *text) reader() *textReader { return &textReader{text: t} }

// A textReader reads a text from any place, as http.ServeContent asks for ranges of it.
type textReader struct {
	text  *text
	at    int64
	piece []byte // the one that was read last
	start int64  // where it stands
}

// rest returns what is left of the piece that the reader is in, or nothing at the end.
func (r *textReader) rest() []byte {
	if r.at >= r.text.size() {
		return nil
	}
	if r.at < r.start || r.at >= r.start+int64(len(r.piece)) {
		i := sort.Search(len(r.text.ends), func(i int) bool { return r.text.ends[i] > r.at })
		r.piece = r.text.appendPiece(r.piece[:0], i)
		r.start = r.text.ends[i] - int64(len(r.piece))
	}
	return r.piece[r.at-r.start:]
}

// Read reads to the end of a piece at most.
func (r *textReader) Read(b []byte) (int, error) {
	rest := r.rest()
	if len(rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, rest)
	r.at += int64(n)
	return n, nil
}

// WriteTo writes what is left, a piece at a time.
func (r *textReader) WriteTo(w io.Writer) (written int64, err error) {
	for {
		rest := r.rest()
		if len(rest) == 0 {
			return written, nil
		}
		n, err := w.Write(rest)
		r.at += int64(n)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
}

// Seek moves to where the next Read begins.
func (r *textReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.text.size()
	}
	if offset < 0 {
		return 0, errors.New("seek before the start of an answer")
	}
	r.at = offset
	return offset, nil
}
