package answer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// smallBytes is the size up to which compressing saves no packet.
const smallBytes = 1024

// The codings that are offered, the preferred one first.
var (
	compressedNow    = []Coding{Zstd, Gzip, Brotli, Identity} // the quickest first
	compressedBefore = []Coding{Brotli, Zstd, Gzip, Identity} // the smallest result first
	compressedLong   = []Coding{Zstd, Gzip, Identity}         // the same for a list that is too long to hold
	small            = []Coding{Identity, Zstd, Gzip, Brotli}
	storedGzip       = []Coding{Gzip, Identity}
)

// A variant is the content of an answer in one coding, with the values of its header fields.
type variant struct {
	coding  Coding
	content []byte
	pieces  *pieces // instead of content, for a list that is too long to hold
	etag    []string
	length  []string // nil: computed when it is sent
}

func (v *variant) size() int64 {
	if v.pieces != nil {
		return v.pieces.size()
	}
	return int64(len(v.content))
}

// memory returns how many bytes a variant takes that was made for one request.
func (v *variant) memory() int64 {
	if v.pieces != nil {
		return v.pieces.memory()
	}
	return int64(cap(v.content))
}

// newVariant returns content in that coding with an entity tag of its own.
func newVariant(coding Coding, content []byte) *variant {
	return &variant{
		coding:  coding,
		content: content,
		etag:    []string{etagOf(xxhash.Sum64(content), Identity)},
		length:  []string{strconv.Itoa(len(content))},
	}
}

// A Body is content that was compressed in advance. It is immutable, except for SetBrotli.
type Body struct {
	variants [codings]*variant // nil if it was not worth compressing
}

// Prepare compresses the content of answers of kind k in advance. Content that is too small to gain by it, or of a type
// that is compressed already, has only the plain form.
func (s *Sender) Prepare(k Kind, content []byte) (*Body, error) {
	b := &Body{}
	b.variants[Identity] = newVariant(Identity, content)
	if len(content) < smallBytes || !k.compress {
		return b, nil
	}
	how := thorough
	if len(content) > thoroughBytes {
		how = quick
	}
	forms, err := s.compress(compressedBefore, how, len(content), Sizes{}, writing(content))
	b.add(forms)
	return b, err
}

// writing returns a function that writes content.
func writing(content []byte) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}

// add adds the compressed forms that there are.
func (b *Body) add(forms [codings][]byte) {
	for coding, content := range forms {
		if content != nil {
			b.variants[coding] = newVariant(Coding(coding), content)
		}
	}
}

// PrepareList is Prepare for a list. A long one is compressed while it is read once, and its plain form is not held. A very long one has no Brotli
// form: in the time that there is, that is larger than the one of gzip, and each form of a million lakes takes some 40 MB.
func (s *Sender) PrepareList(k Kind, l List) (*Body, error) {
	if s.HoldsList(l.Len) {
		return s.Prepare(k, l.Bytes())
	}
	b, offer, how := &Body{}, compressedBefore, thorough
	if l.estimate() > thoroughBytes {
		offer, how = compressedLong, quick
	}
	forms, err := s.compress(offer, how, l.estimate(), l.Sizes, func(w io.Writer) error {
		p, err := newPieces(context.Background(), l, w)
		if err != nil {
			return err
		}
		b.variants[Identity] = &variant{
			pieces: p,
			etag:   []string{etagOf(p.hash, Identity)},
			length: []string{strconv.FormatInt(p.size(), 10)},
		}
		return nil
	})
	b.add(forms)
	return b, err
}

// compress returns the forms of a body in the codings of offer except Identity. The function write writes the plain form, which has about size
// bytes. If the sizes of the forms are known, no memory is taken for more, and a large one is not copied to fit.
func (s *Sender) compress(offer []Coding, how effort, size int, sizes Sizes, write func(w io.Writer) error) (forms [codings][]byte, err error) {
	var all []*compression
	var writers []io.Writer
	for _, coding := range offer {
		if coding == Identity {
			continue
		}
		room := roomFor(size)
		if n := sizes[coding]; n > 0 {
			room = n + n/32 + 512
		}
		z, err := s.compressor.begin(coding, how, room)
		if err != nil {
			return forms, err
		}
		all, writers = append(all, z), append(writers, z)
	}
	if err := write(io.MultiWriter(writers...)); err != nil {
		return forms, err
	}
	for _, z := range all {
		content, err := z.finish()
		if err != nil {
			return forms, err
		}
		forms[z.coding] = clip(content)
		z.out = bytes.Buffer{} // the memory of a large copy is free before the next one is made
	}
	return forms, nil
}

// SetBrotli replaces the Brotli form, if the body has one, with content that was compressed elsewhere. It must be called
// before the body is used.
func (b *Body) SetBrotli(content []byte) {
	if b.variants[Brotli] != nil {
		b.variants[Brotli] = newVariant(Brotli, content)
	}
}

// Sizes are the numbers of bytes of the compressed forms of a body; zero is unknown.
type Sizes [codings]int

// Sizes returns those of b.
func (b *Body) Sizes() (sizes Sizes) {
	for coding, v := range b.variants {
		if v != nil && Coding(coding) != Identity {
			sizes[coding] = len(v.content)
		}
	}
	return sizes
}

// Size returns the number of bytes of the plain form.
func (b *Body) Size() int64 { return b.variants[Identity].size() }

// offer returns the codings that b has, the preferred one first; nil if it has only the plain form.
func (b *Body) offer() []Coding {
	switch {
	case b.variants[Gzip] == nil:
		return nil
	case b.variants[Brotli] == nil:
		return compressedLong
	}
	return compressedBefore
}

// etagOf returns the strong entity tag of content that is sent in that coding: the xxHash of the plain bytes, and the name
// of the coding, since each coding is a representation of its own (RFC 9110, section 8.8.3.3). So a server knows without
// compressing whether the client has the answer.
func etagOf(hash uint64, coding Coding) string {
	if coding == Identity {
		return fmt.Sprintf(`"%016x"`, hash)
	}
	return fmt.Sprintf(`"%016x-%s"`, hash, coding)
}
