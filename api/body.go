package api

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// A kind is what the answers of an endpoint have in common: the values of two header fields, kept in the form that a
// header takes, so that no answer allocates them.
type kind struct {
	contentType  []string
	cacheControl []string
}

func newKind(contentType, cacheControl string) kind {
	return kind{[]string{contentType}, []string{cacheControl}}
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
	momentKind   = newKind(typeJSON, cacheNever)
	settingsKind = newKind(typeJSON, cacheRevisit)
	tileKind     = newKind(typePNG, cacheTile)
	versionKind  = newKind(typePNG, cacheForever)

	byteRanges = []string{"bytes"}
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
	etag    []string
	length  []string // nil if it was not worth preparing
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

func newVariant(content []byte) variant {
	return variant{
		content: content,
		etag:    []string{etagOf(content, identity)},
		length:  []string{strconv.Itoa(len(content))},
	}
}

// etagOf returns the strong entity tag of content sent in coding e: a hash of the plain bytes, and the coding's name,
// since each coding is a representation of its own (RFC 9110, section 8.8.3.3). It knows without compressing whether
// the client has the answer.
func etagOf(content []byte, e encoding) string {
	tag := make([]byte, 0, 24)
	tag = append(tag, '"')
	h := strconv.FormatUint(xxhash.Sum64(content), 16)
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
func varyEncoding(w http.ResponseWriter) { w.Header().Add("Vary", "Accept-Encoding") }

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
	offer := offered
	if len(content) < smallBytes {
		offer = small
	}
	varyEncoding(w)
	e, ok := negotiate(r.Header["Accept-Encoding"], offer)
	if !ok {
		return errNotAcceptable
	}
	v := variant{content: content, etag: []string{etagOf(content, e)}}
	if e != identity && !notModified(r, v.etag[0]) {
		var err error
		if v.content, err = s.compressor.compress(content, e, quick); err != nil {
			return err
		}
	}
	return sendContent(w, r, k, e, &v)
}
