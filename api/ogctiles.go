package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"limnomap/api/answer"
	"limnomap/tiles"
)

// The addresses of OGC API - Tiles (OGC 20-057): those of the standard's own examples, below one folder.
const (
	pathOGC         = "/ogc"
	pathConformance = pathOGC + "/conformance"
	pathCollections = pathOGC + "/collections"
	pathCollection  = pathCollections + "/" + layerName
	pathMatrixSets  = pathOGC + "/tileMatrixSets"
	pathMatrixSet   = pathMatrixSets + "/" + quadName
	pathMapSets     = pathOGC + "/map/tiles"
	pathMapSet      = pathMapSets + "/" + quadName
	pathVectorSets  = pathOGC + "/tiles"
	pathVectorSet   = pathVectorSets + "/" + quadName

	patternMapTile    = pathMapSet + "/{tileMatrix}/{tileRow}/{tileCol}"
	patternVectorTile = pathVectorSet + "/{tileMatrix}/{tileRow}/{tileCol}"
)

// splitOGCTile takes the path of a tile of that tileset, below the base path, apart: its row stands before its column. It
// reports false for the path of anything else: what it takes is exactly what the route's pattern matches.
func splitOGCTile(path, set string) (matrix, row, column string, ok bool) {
	rest, ok := strings.CutPrefix(path, set)
	if !ok || rest == "" || rest[0] != '/' {
		return "", "", "", false
	}
	matrix, rest, _ = strings.Cut(rest[1:], "/")
	row, column, _ = strings.Cut(rest, "/")
	return matrix, row, column, matrix != "" && row != "" && column != "" && !strings.Contains(column, "/")
}

// ogcTile answers with a tile of the map's tileset: the bytes that its XYZ address has.
func (s *Server) ogcTile(w http.ResponseWriter, r *http.Request) error {
	asked, err := s.askedOGCTile(r, mapTiles)
	if err != nil {
		return err
	}
	return s.sendTile(w, r, &asked, look{style: s.styleIDs[0], colormap: s.colormapIDs[0]})
}

// ogcVector answers with a tile of the vector tileset.
func (s *Server) ogcVector(w http.ResponseWriter, r *http.Request) error {
	asked, err := s.askedOGCTile(r, vectorTiles)
	if err != nil {
		return err
	}
	return s.sendVector(w, r, &asked)
}

// askedOGCTile reads the address of a tile of that sort. What is wrong with its parameters is not an error yet.
func (s *Server) askedOGCTile(r *http.Request, sort ogcSort) (a askedTile, err error) {
	matrix, row, column, _ := splitOGCTile(s.below(r.URL.Path), sort.set)
	if a, err = s.tileAt(r, matrix, column, row); err != nil {
		return a, err
	}
	if a.scale != 1 || int(a.address.Z) > s.deepest(sort) {
		return a, tiles.ErrOutOfRange
	}
	oneOf(&a.params, "f", []string{sort.format})
	a.week, a.dated = a.params.moment("datetime", a.published.snap)
	return a, nil
}

// An ogcTileset is metadata of a tileset (OGC 17-083r4, section 12), or as an item of a list part of it.
type ogcTileset struct {
	Title       string     `json:"title"`
	Description string     `json:"description,omitempty"`
	Attribution string     `json:"attribution,omitempty"`
	Version     string     `json:"version,omitempty"`
	Updated     string     `json:"updated,omitempty"`
	MediaTypes  []string   `json:"mediaTypes,omitempty"`
	DataType    string     `json:"dataType"`
	CRS         string     `json:"crs"`
	URI         string     `json:"tileMatrixSetURI"`
	Limits      []ogcLimit `json:"tileMatrixSetLimits,omitempty"`
	Bounds      *ogcBounds `json:"boundingBox,omitempty"`
	Center      *ogcCenter `json:"centerPoint,omitempty"`
	Layers      []ogcLayer `json:"layers,omitempty"`
	Links       []ogcLink  `json:"links"`
}

// An ogcLimit says which tiles of a matrix there are: all, since those without a lake are answered too, and a bound drawn
// around the lakes would cut what is drawn beside them.
type ogcLimit struct {
	Matrix    string `json:"tileMatrix"`
	MinRow    int    `json:"minTileRow"`
	MaxRow    int    `json:"maxTileRow"`
	MinColumn int    `json:"minTileCol"`
	MaxColumn int    `json:"maxTileCol"`
}

type ogcBounds struct {
	Lower [2]float64 `json:"lowerLeft"`
	Upper [2]float64 `json:"upperRight"`
	CRS   string     `json:"crs"`
}

type ogcCenter struct {
	Coordinates [2]float64 `json:"coordinates"`
	CRS         string     `json:"crs"`
	Matrix      string     `json:"tileMatrix"`
}

type ogcLayer struct {
	ID        string `json:"id"`
	DataType  string `json:"dataType"`
	Dimension int    `json:"geometryDimension"`
}

// crs84 is WGS 84 with longitude first.
const crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"

// An ogcSort is a sort of tiles.
type ogcSort struct {
	title, dataType   string
	format, mediaType string // what f= and Content-Type call its one format
	list, set         string // their addresses
	tileJSON          string // the address of the same in TileJSON
	deepest           int    // the largest zoom, if the server has it
	layers            []ogcLayer
}

var (
	mapTiles = ogcSort{
		title: ogcLayerTitle, dataType: "map", format: "png", mediaType: answer.TypePNG,
		list: pathMapSets, set: pathMapSet, tileJSON: pathTiles + ".json", deepest: quadZoom,
	}
	vectorTiles = ogcSort{
		title: "Lakes as points", dataType: "vector", format: "mvt", mediaType: typeVector,
		list: pathVectorSets, set: pathVectorSet, tileJSON: pathTiles + "/vector.json", deepest: deepestVector,
		layers: []ogcLayer{{ID: tiles.VectorLayer, DataType: "vector"}},
	}
)

// deepest returns the largest zoom that there are tiles of that sort for.
func (s *Server) deepest(sort ogcSort) int { return min(sort.deepest, s.opts.MaxZoom) }

// tilesets returns a handler that answers with the list of the tilesets of that sort, of which there is one.
func (s *Server) tilesets(sort ogcSort) answer.Handler {
	return s.ogcDocument(func(_ *published, base string) any {
		return map[string]any{
			"links": []ogcLink{{Rel: "self", Type: answer.TypeJSON, Title: "This list", Href: base + sort.list}},
			"tilesets": []ogcTileset{{
				Title:    s.ogcTitle(sort.title),
				DataType: sort.dataType,
				CRS:      quadCRS,
				URI:      quadURI,
				Links: []ogcLink{
					{Rel: "self", Type: answer.TypeJSON, Title: "The tileset", Href: base + sort.set},
					{Rel: relTileset, Type: answer.TypeJSON, Title: "The tileset", Href: base + sort.set},
					schemeLink(base),
				},
			}},
		}
	})
}

// tileset returns a handler that answers with the metadata of the tileset of that sort.
func (s *Server) tileset(sort ogcSort) answer.Handler {
	return s.ogcDocument(func(p *published, base string) any {
		deepest, version, description := s.deepest(sort), p.version, s.ogcAbstract()
		if sort.set == vectorTiles.set {
			version = p.vectorVersion
			description = "Lakes as points, with their values. What is not known is absent, and absent never means low. " + description
		}
		center := p.extent.Center()
		return ogcTileset{
			Title:       s.ogcTitle(sort.title),
			Description: description,
			Attribution: s.attribution(),
			Version:     version,
			Updated:     string(appendTimeText(nil, generatedAt(p.snap))),
			MediaTypes:  []string{sort.mediaType},
			DataType:    sort.dataType,
			CRS:         quadCRS,
			URI:         quadURI,
			Limits:      limitsTo(deepest),
			Bounds: &ogcBounds{
				Lower: [2]float64{round(p.extent.Min.Lon()), round(p.extent.Min.Lat())},
				Upper: [2]float64{round(p.extent.Max.Lon()), round(p.extent.Max.Lat())},
				CRS:   crs84,
			},
			Center: &ogcCenter{
				Coordinates: [2]float64{round(center.Lon()), round(center.Lat())},
				CRS:         crs84,
				Matrix:      strconv.Itoa(zoomFor(p.extent, deepest)),
			},
			Layers: sort.layers,
			Links: []ogcLink{
				{Rel: "self", Type: answer.TypeJSON, Title: "This tileset", Href: base + sort.set},
				schemeLink(base),
				{
					Rel: "item", Type: sort.mediaType, Title: "A tile", Templated: true,
					Href: fmt.Sprintf("%s%s/{tileMatrix}/{tileRow}/{tileCol}?v=%s", base, sort.set, version),
				},
				{Rel: relGeodata, Type: answer.TypeJSON, Title: "What it shows", Href: base + pathCollection},
				{Rel: "alternate", Type: answer.TypeJSON, Title: "The same as TileJSON", Href: base + sort.tileJSON},
			},
		}
	})
}

func limitsTo(deepest int) []ogcLimit {
	var limits []ogcLimit
	for zoom := range deepest + 1 {
		last := matrixWidth(zoom) - 1
		limits = append(limits, ogcLimit{Matrix: strconv.Itoa(zoom), MaxRow: last, MaxColumn: last})
	}
	return limits
}
