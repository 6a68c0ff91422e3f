package main

import (
	"net/http"
	"strings"
)

// A benchCase is a request to measure.
type benchCase struct {
	name string
	path string // on limnomap
	file string // in the folder of the other servers; with .gz appended for gzip
	gzip bool
	// fresh makes the request conditional, with the ETag of the answer. The bare handler has no conditional requests and
	// returns the whole answer: a 304 should be clearly faster than that.
	fresh bool
}

// tilePath is a tile of average size: the lakes of Mecklenburg and Brandenburg.
const tilePath = "/api/v1/tiles/6/33/21.png"

func cases() []benchCase {
	const (
		status  = "/api/v1/bathing-lakes/status"
		geojson = "/api/v1/bathing-lakes/geojson"
	)
	return []benchCase{
		{name: "tile", path: tilePath, file: "tile.png"},
		{name: "tile-304", path: tilePath, file: "tile.png", fresh: true},
		{name: "status", path: status, file: "status.json"},
		{name: "status-gzip", path: status, file: "status.json", gzip: true},
		{name: "geojson", path: geojson, file: "lakes.geojson"},
		{name: "geojson-gzip", path: geojson, file: "lakes.geojson", gzip: true},
	}
}

func caseNames() string {
	var names []string
	for _, c := range cases() {
		names = append(names, c.name)
	}
	return strings.Join(append(names, crowdCase), ", ")
}

// stored returns the name of the file with the answer.
func (c benchCase) stored() string {
	if c.gzip {
		return c.file + ".gz"
	}
	return c.file
}

// header returns the header of the request. Without Accept-Encoding the answer is not compressed.
func (c benchCase) header() http.Header {
	h := make(http.Header)
	if c.gzip {
		h.Set("Accept-Encoding", "gzip")
	}
	return h
}
