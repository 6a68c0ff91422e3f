package main

import (
	"net/http"
	"strings"
)

// A benchCase is an answer that is measured.
type benchCase struct {
	name string
	path string // at limnomap
	file string // in the folder that the other servers serve; under gzip with .gz behind it
	gzip bool
	// fresh makes the client one that has the answer and asks whether it is still that. The bare handler knows no such
	// question and gives the whole again: a 304 that is not clearly quicker than that would be worth nothing.
	fresh bool
}

// tilePath is a tile of ordinary size: the lakes of Mecklenburg and Brandenburg.
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

// stored returns the name of the file that holds the answer's bytes.
func (c benchCase) stored() string {
	if c.gzip {
		return c.file + ".gz"
	}
	return c.file
}

// header returns what the client says beside the address. A client that says nothing of compression gets none.
func (c benchCase) header() http.Header {
	h := make(http.Header)
	if c.gzip {
		h.Set("Accept-Encoding", "gzip")
	}
	return h
}
