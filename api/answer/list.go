package answer

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"
)

// maxItems is up to how many items a list is made in memory, for lakes some 30 MB. A longer list is written piece by piece
// as it is read: two lists of two million lakes would take nearly a gigabyte for clients that ask without compression,
// which are rare.
const maxItems = 1 << 17

// pieceItems are the items of a piece of a long list, for lakes some 256 kB.
const pieceItems = 1 << 10

// A List is content with an item for each of many things.
type List struct {
	Head    []byte // up to the first item
	Append  func(b []byte, i int) []byte
	Between string // after each item but the last
	Tail    string // after the last item
	Len     int
	Size    int // in bytes, of all items and the separators between them; 0 if unknown
}

// Bytes returns the whole list.
func (l List) Bytes() []byte {
	content := slices.Clip(l.Head)
	for i := range l.Len {
		content = append(l.Append(content, i), l.Between...)
		if i == 0 {
			// The others are about as long as the first; growing step by step would copy the list five times.
			content = slices.Grow(content, cmp.Or(l.Size, (len(content)-len(l.Head))*l.Len*5/4)+len(l.Tail))
		}
	}
	if l.Len > 0 {
		content = content[:len(content)-len(l.Between)]
	}
	return append(content, l.Tail...)
}

// pieces are a list that is too long to hold: each piece is made when it is read, with the same bytes each time. They are
// safe for concurrent use.
type pieces struct {
	list List
	ends []int64 // of the pieces, in bytes from the start
	hash uint64  // of all bytes
}

// newPieces returns the pieces of l. They are written to w too, since the list must be made once to know its length.
func newPieces(l List, w io.Writer) (*pieces, error) {
	p := &pieces{list: l, ends: make([]int64, 0, 1+l.Len/pieceItems)}
	hash := xxhash.New()
	w = io.MultiWriter(hash, w)
	var b []byte
	end := int64(0)
	for i := range 1 + max(l.Len-1, 0)/pieceItems {
		b = p.appendPiece(b[:0], i)
		if _, err := w.Write(b); err != nil {
			return nil, err
		}
		end += int64(len(b))
		p.ends = append(p.ends, end)
	}
	p.hash = hash.Sum64()
	return p, nil
}

// appendPiece appends piece i: the first with the head, the last with the tail.
func (p *pieces) appendPiece(b []byte, i int) []byte {
	if i == 0 {
		b = append(b, p.list.Head...)
	}
	end := min((i+1)*pieceItems, p.list.Len)
	for item := i * pieceItems; item < end; item++ {
		if item > 0 {
			b = append(b, p.list.Between...)
		}
		b = p.list.Append(b, item)
	}
	if end == p.list.Len {
		b = append(b, p.list.Tail...)
	}
	return b
}

func (p *pieces) size() int64 { return p.ends[len(p.ends)-1] }

// reader returns a reader from the start.
func (p *pieces) reader() *piecesReader { return &piecesReader{pieces: p} }

// A piecesReader reads pieces from any offset, as http.ServeContent asks for ranges.
type piecesReader struct {
	pieces *pieces
	offset int64
	piece  []byte // the last one read
	start  int64  // its offset
}

// rest returns the rest of the piece that holds the offset, or nothing at the end.
func (r *piecesReader) rest() []byte {
	if r.offset >= r.pieces.size() {
		return nil
	}
	if r.offset < r.start || r.offset >= r.start+int64(len(r.piece)) {
		i := sort.Search(len(r.pieces.ends), func(i int) bool { return r.pieces.ends[i] > r.offset })
		r.piece = r.pieces.appendPiece(r.piece[:0], i)
		r.start = r.pieces.ends[i] - int64(len(r.piece))
	}
	return r.piece[r.offset-r.start:]
}

// Read reads to the end of a piece at most.
func (r *piecesReader) Read(b []byte) (int, error) {
	rest := r.rest()
	if len(rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, rest)
	r.offset += int64(n)
	return n, nil
}

// WriteTo writes the rest, a piece at a time.
func (r *piecesReader) WriteTo(w io.Writer) (written int64, err error) {
	for {
		rest := r.rest()
		if len(rest) == 0 {
			return written, nil
		}
		n, err := w.Write(rest)
		r.offset += int64(n)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
}

// Seek sets the offset of the next Read.
func (r *piecesReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.offset
	case io.SeekEnd:
		offset += r.pieces.size()
	}
	if offset < 0 {
		return 0, errors.New("seek before the start of an answer")
	}
	r.offset = offset
	return offset, nil
}
