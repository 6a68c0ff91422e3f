package api

import (
	"net/http"
	"strconv"

	"limnomap/tiles"
)

const (
	vectorSuffix  = ".mvt"
	patternVector = pathTiles + "/{z}/{x}/{y}" + vectorSuffix
	typeVector    = "application/vnd.mapbox-vector-tile" // as registered with IANA
	// deepestVector is the largest zoom that the description offers. A unit of a tile is 0.6 m there, and map libraries
	// draw the larger zooms from those tiles, without asking for more.
	deepestVector = 14
)

var (
	vectorKind        = newVectorKind(cacheTile)
	vectorVersionKind = newVectorKind(cacheForever)

	// vectorCodings are those that a vector tile comes in: it is kept compressed, and uncompressed for the few who ask.
	vectorCodings = []encoding{gzipped, identity}
)

// newVectorKind returns a kind of vector tiles, which the headers for documents are not for: no browser shows one.
func newVectorKind(cacheControl string) kind {
	k := newKind(typeVector, cacheControl)
	k.picture = true
	return k
}

// vector answers with one vector tile.
func (s *Server) vector(w http.ResponseWriter, r *http.Request) error {
	asked, err := s.askedTile(r, vectorSuffix)
	if err != nil {
		return err
	}
	return s.sendVector(w, r, &asked)
}

// sendVector answers with the vector tile that was asked for, if nothing was wrong with how it was asked.
func (s *Server) sendVector(w http.ResponseWriter, r *http.Request, asked *askedTile) error {
	if asked.scale != 1 {
		return tiles.ErrOutOfRange
	}
	if err := asked.params.err(); err != nil {
		return err
	}
	varyEncoding(w)
	coding, ok := negotiate(r.Header["Accept-Encoding"], vectorCodings)
	if !ok {
		return errNotAcceptable
	}
	view, err := asked.view(r.Context())
	if err != nil {
		return err
	}
	tile, err := s.opts.Tiles.Vector(r.Context(), view, asked.address)
	if err != nil {
		return err
	}
	k := vectorKind
	if asked.version == asked.published.vectorVersion && !view.Later {
		k = vectorVersionKind
	}
	fields := vectorFieldsOf(tile)
	v := &variant{content: tile.Bytes, etag: fields.etags[coding][:], length: fields.length[:]}
	if coding == identity {
		v.length = nil
		if v.content, err = tile.Unzip(); err != nil {
			return err
		}
	}
	return sendContent(w, r, k, coding, v)
}

// vectorFields are the values of the header fields that are a vector tile's own, as tileFields.
type vectorFields struct {
	etags  [encodings][1]string
	length [1]string // compressed
}

// vectorFieldsOf returns the fields of t. Each coding has its own entity tag, as all answers that come in several.
func vectorFieldsOf(t tiles.Tile) *vectorFields {
	if t.Note != nil {
		if fields, ok := t.Note.Read().(*vectorFields); ok {
			return fields
		}
	}
	fields := &vectorFields{length: [1]string{strconv.Itoa(len(t.Bytes))}}
	fields.etags[identity][0] = `"` + t.ETag + `"`
	fields.etags[gzipped][0] = `"` + t.ETag + "-" + gzipped.String() + `"`
	if t.Note != nil {
		t.Note.Write(fields)
	}
	return fields
}
