package api

import (
	"net/http"

	"limnomap/api/answer"
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
	// No browser shows a vector tile by itself.
	vectorKind          = answer.NewKind(typeVector, cacheTile).NotDocument()
	versionedVectorKind = answer.NewKind(typeVector, answer.CacheForever).NotDocument()
)

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
		k = versionedVectorKind
	}
	return s.sender.Send(w, r, k, answer.Stored(tile.Bytes, answer.Gzip, fieldsOf(tile, answer.Gzip)))
}
