package answer

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"sort"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// heldItems is up to how many items the plain form of a list is held, for lakes some 2 MB. Of a longer one each piece is made when it is read: a client
// that reads slowly would hold the whole for a minute, also when newer ones have been prepared since.
const heldItems = 1 << 13

// pieceItems are the items of a piece of a long list, for lakes some 256 kB.
const pieceItems = 1 << 10

// A List is content with an item for each of many things.
type List struct {
	Head    []byte // up to the first item
	Append  func(b []byte, i int) []byte
	Between string // after each item but the last
	Tail    string // after the last item
	Len     int
	Size    int   // in bytes, of all items and the separators between them; 0 if unknown
	Memory  int64 // bytes that Append needs besides what all requests share
	Sizes   Sizes // about those of the compressed forms
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

// estimate returns about how many bytes a list has that is not empty: all items are about as long as the first.
func (l List) estimate() int { return len(l.Append(nil, 0)) * l.Len }

// pieces are a list that is too long to hold: each piece is made when it is read, with the same bytes each time. They are
// safe for concurrent use.
type pieces struct {
	list    List
	ends    []int64 // of the pieces, in bytes from the start
	longest int     // the length of the longest piece
	hash    uint64  // of all bytes
}

// newPieces returns the pieces of l. They are written to w too, since the list must be made once to know its length. When ctx ends, the error is that of
// ctx.
func newPieces(ctx context.Context, l List, w io.Writer) (*pieces, error) {
	p := &pieces{list: l, ends: make([]int64, 0, 1+l.Len/pieceItems)}
	hash := xxhash.New()
	w = io.MultiWriter(hash, w)
	var b []byte
	end := int64(0)
	for i := range 1 + max(l.Len-1, 0)/pieceItems {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b = p.appendPiece(b[:0], i)
		if _, err := w.Write(b); err != nil {
			return nil, err
		}
		end += int64(len(b))
		p.longest = max(p.longest, len(b))
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

// copyBytes is the buffer through which io.Copy and net/http pass on what is read.
const copyBytes = 32 << 10

// memory returns how many bytes p and one reader of it take.
func (p *pieces) memory() int64 {
	return copyBytes + int64(p.longest) + p.list.Memory + int64(cap(p.ends))*int64(unsafe.Sizeof(p.ends[0]))
}

// An inTurn runs f when the client has a turn to make something, or returns an error.
type inTurn func(f func() error) error

// atOnce is an inTurn without turns.
func atOnce(f func() error) error { return f() }

// A madePieces makes pieces as they are read, each in a turn of its own.
type madePieces struct {
	pieces *pieces
	turn   inTurn
	piece  []byte // the last one that was read
	start  int64  // its offset
	err    error  // of turn, if it ended the reading
}

// reader returns a reader of all pieces from the start, as http.ServeContent asks for ranges.
func (m *madePieces) reader() *io.SectionReader { return io.NewSectionReader(m, 0, m.pieces.size()) }

// ReadAt reads from an offset of 0 or more.
func (m *madePieces) ReadAt(b []byte, offset int64) (n int, err error) {
	for n < len(b) && m.err == nil {
		at := offset + int64(n)
		if at >= m.pieces.size() {
			return n, io.EOF
		}
		if at < m.start || at >= m.start+int64(len(m.piece)) {
			m.err = m.turn(func() error {
				i := sort.Search(len(m.pieces.ends), func(i int) bool { return m.pieces.ends[i] > at })
				m.piece = m.pieces.appendPiece(slices.Grow(m.piece[:0], m.pieces.longest), i)
				m.start = m.pieces.ends[i] - int64(len(m.piece))
				return nil
			})
			continue
		}
		n += copy(b[n:], m.piece[at-m.start:])
	}
	return n, m.err
}

// abortIfIncomplete closes the connection if the list could not be made to its end, so that the client does not take a part for
// the whole.
func (m *madePieces) abortIfIncomplete() {
	if m.err != nil {
		panic(http.ErrAbortHandler)
	}
}
