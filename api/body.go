package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// A kind is what the answers of an endpoint have in common: the values of two header fields, kept in the form that a
// header takes, so that no answer allocates them.
type kind struct {
	contentType  []string
	cacheControl []string
	picture      bool // which the headers for documents are not for
	ages         bool // tells of the data, so that it bears an Age while these cannot be confirmed
}

// newKind returns the kind of answers that tell of the data if they are to be believed for some time: what is asked for
// each time is as old as the answer, and an address with a version in it tells of that version for ever.
func newKind(contentType, cacheControl string) kind {
	ages := cacheControl != cacheRevisit && cacheControl != cacheNever && cacheControl != cacheForever
	return kind{[]string{contentType}, []string{cacheControl}, isPicture(contentType), ages}
}

// timeless returns k for answers that new data leave as they are.
func (k kind) timeless() kind {
	k.ages = false
	return k
}

// The lives of answers. Data change about weekly, yet a correction must be seen soon: a minute. What a shared cache may
// give while it asks anew is bounded too, since a lake that was clean an hour ago may not be.
const (
	cacheMinute  = "public, max-age=60, stale-while-revalidate=300"
	cachePrivate = "private, max-age=60"                 // for the holder of a key only
	cacheRevisit = "no-cache"                            // kept, but never used without asking
	cacheNever   = "no-store"                            // true for one moment only
	cacheForever = "public, max-age=31536000, immutable" // the address changes with the content
)

var (
	jsonKind     = newKind(typeJSON, cacheMinute)
	geoJSONKind  = newKind("application/geo+json", cacheMinute) // RFC 7946, section 12
	keyedKind    = newKind(typeJSON, cachePrivate)
	lookKind     = jsonKind.timeless()
	momentKind   = newKind(typeJSON, cacheNever)
	settingsKind = newKind(typeJSON, cacheRevisit)
	tileKind     = newKind(typePNG, cacheTile)
	versionKind  = newKind(typePNG, cacheForever)

	byteRanges = []string{"bytes"}
	byEncoding = []string{"Accept-Encoding"}
)

// smallBytes is the size up to which compressing saves no packet.
const smallBytes = 1024

// offered are the codings that a body may be compressed with on demand, the quickest first, and prepared those made in
// advance, the smallest result first.
var (
	offered  = []encoding{zstandard, gzipped, brotlied, identity}
	prepared = []encoding{brotlied, zstandard, gzipped, identity}
	small    = []encoding{identity, zstandard, gzipped, brotlied}
)

// A body is an answer made in advance, in each coding.
type body struct {
	kind
	variants [encodings]variant
}

// A variant is one coding of a body, with the values of its header fields.
type variant struct {
	content []byte
	text    *text // instead of content, where that would be too long to hold
	etag    []string
	length  []string // nil if it was not worth preparing
}

// size returns how many bytes v has.
func (v *variant) size() int64 {
	if v.text != nil {
		return v.text.size()
	}
	return int64(len(v.content))
}

// writeTo writes all of v.
func (v *variant) writeTo(w io.Writer) (int64, error) {
	if v.text != nil {
		return v.text.reader().WriteTo(w)
	}
	n, err := w.Write(v.content)
	return int64(n), err
}

// reader returns a reader of v that ranges can be read with.
func (v *variant) reader() io.ReadSeeker {
	if v.text != nil {
		return v.text.reader()
	}
	return bytes.NewReader(v.content)
}

// newBody compresses content in advance. A body that is too small to gain by it, or compressed by its nature, has the
// plain form alone.
func newBody(c *compressor, k kind, content []byte) (*body, error) {
	b := &body{kind: k}
	b.variants[identity] = newVariant(content)
	if len(content) < smallBytes || !compressible(k.contentType[0]) {
		return b, nil
	}
	how := thorough
	if len(content) > thoroughBytes {
		how = quick
	}
	for _, e := range prepared {
		if e == identity {
			continue
		}
		z, err := c.compress(content, e, how)
		if err != nil {
			return nil, err
		}
		b.variants[e] = newVariant(z)
	}
	return b, nil
}

// newLongBody compresses the list of n lakes in advance, reading it once, and holds no plain form.
func newLongBody(c *compressor, k kind, l list, n int) (*body, error) {
	sample := len(l.record(nil, 0)) * n // the others are about as long as the first
	var codings []*compression
	var writers []io.Writer
	for _, e := range prepared {
		if e == identity {
			continue
		}
		z, err := c.begin(e, quick, sample)
		if err != nil {
			return nil, err
		}
		codings, writers = append(codings, z), append(writers, z)
	}
	t, err := newText(l, nil, n, io.MultiWriter(writers...))
	if err != nil {
		return nil, err
	}
	b := &body{kind: k}
	b.variants[identity] = variant{
		text:   t,
		etag:   []string{etagOf(t.hash, identity)},
		length: []string{strconv.FormatInt(t.size(), 10)},
	}
	for _, z := range codings {
		content, err := z.finish()
		if err != nil {
			return nil, err
		}
		b.variants[z.coding] = newVariant(content)
	}
	return b, nil
}

func newVariant(content []byte) variant {
	return variant{
		content: content,
		etag:    []string{etagOf(xxhash.Sum64(content), identity)},
		length:  []string{strconv.Itoa(len(content))},
	}
}

// etagOf returns the strong entity tag of an answer sent in coding e: the xxHash of the plain bytes, and the coding's
// name, since each coding is a representation of its own (RFC 9110, section 8.8.3.3). It knows without compressing
// whether the client has the answer.
func etagOf(hash uint64, e encoding) string {
	tag := make([]byte, 0, 24)
	tag = append(tag, '"')
	h := strconv.FormatUint(hash, 16)
	tag = append(tag, "0000000000000000"[len(h):]...)
	tag = append(tag, h...)
	if e != identity {
		tag = append(tag, '-')
		tag = append(tag, e.String()...)
	}
	return string(append(tag, '"'))
}

// errNotAcceptable is returned to a client that forbids even an answer that is not compressed.
var errNotAcceptable = errors.New("no content coding is acceptable")

// varyEncoding adds what a shared cache must know of an answer that comes in several codings.
func varyEncoding(w http.ResponseWriter) {
	h := w.Header()
	if h["Vary"] == nil {
		h["Vary"] = byEncoding
		return
	}
	h.Add("Vary", byEncoding[0])
}

// send answers with the body, in the coding that the client likes best.
func (b *body) send(w http.ResponseWriter, r *http.Request) error {
	e := identity
	if b.variants[gzipped].content != nil {
		varyEncoding(w)
		var ok bool
		if e, ok = negotiate(r.Header["Accept-Encoding"], prepared); !ok {
			return errNotAcceptable
		}
	}
	return sendContent(w, r, b.kind, e, &b.variants[e])
}

// respond answers with content, which was made for this request.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, k kind, content []byte) error {
	return s.respondCoded(w, r, k, xxhash.Sum64(content), &variant{content: content})
}

// respondCoded answers with v, whose bytes have that hash, in the coding that the client likes best.
func (s *Server) respondCoded(w http.ResponseWriter, r *http.Request, k kind, hash uint64, v *variant) error {
	offer := offered
	if v.size() < smallBytes {
		offer = small
	}
	varyEncoding(w)
	e, ok := negotiate(r.Header["Accept-Encoding"], offer)
	if !ok {
		return errNotAcceptable
	}
	v.etag = []string{etagOf(hash, e)}
	if e == identity || notModified(r, v.etag[0]) {
		return sendContent(w, r, k, e, v)
	}
	z, err := s.compressor.begin(e, quick, int(v.size()))
	if err != nil {
		return err
	}
	if _, err := v.writeTo(z); err != nil {
		return err
	}
	content, err := z.finish()
	if err != nil {
		return err
	}
	return sendContent(w, r, k, e, &variant{content: content, etag: v.etag})
}
