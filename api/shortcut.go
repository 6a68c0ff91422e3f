package api

import (
	"net/http"
	"strings"
)

// A shortcut stands before the router and takes nearly all requests past it: a router of patterns runs one regular
// expression after the other and copies the request to put the variables in, which for a tile from memory would be a
// tenth of all the work. It leads only where the router would have led, and leaves to it what it does not know.
type shortcut struct {
	basePath  string
	fixed     map[string]http.Handler // by path below the base path: the routes without variables
	tile      http.Handler
	vector    http.Handler
	ogcTile   http.Handler
	ogcVector http.Handler
	router    http.Handler
}

// add makes h, the handler of a route of that pattern, known to the shortcut, if it is one of those it knows.
func (s *shortcut) add(pattern string, h http.Handler) {
	switch {
	case pattern == patternTile:
		s.tile = h
	case pattern == patternVector:
		s.vector = h
	case pattern == patternMapTile:
		s.ogcTile = h
	case pattern == patternVectorTile:
		s.ogcVector = h
	case !strings.Contains(pattern, "{"):
		s.fixed[pattern] = h
	}
}

func (s *shortcut) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.lead(r.URL.Path).ServeHTTP(w, r)
}

// lead returns the handler of that path, or the router.
func (s *shortcut) lead(path string) http.Handler {
	below, ok := strings.CutPrefix(path, s.basePath)
	if !ok {
		return s.router
	}
	if h, ok := s.fixed[below]; ok {
		return h
	}
	if _, _, _, ok := splitTile(below, tileSuffix); ok {
		return s.tile
	}
	if _, _, _, ok := splitTile(below, vectorSuffix); ok {
		return s.vector
	}
	if _, _, _, ok := splitOGCTile(below, pathMapSet); ok {
		return s.ogcTile
	}
	if _, _, _, ok := splitOGCTile(below, pathVectorSet); ok {
		return s.ogcVector
	}
	return s.router
}
