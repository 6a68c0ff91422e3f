package ogc

import (
	"fmt"
	"net/http"
	"strconv"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/route"
	"limnomap/tiles"
)

// The addresses of OGC API - Tiles (OGC 20-057): those of the standard's own examples, below one folder.
const (
	PathLanding     = "/ogc"
	pathConformance = PathLanding + "/conformance"
	pathCollections = PathLanding + "/collections"
	pathCollection  = pathCollections + "/" + layerName
	pathMatrixSets  = PathLanding + "/tileMatrixSets"
	pathMatrixSet   = pathMatrixSets + "/" + quadName
	pathMapSets     = PathLanding + "/map/tiles"
	pathMapSet      = pathMapSets + "/" + quadName
	pathVectorSets  = PathLanding + "/tiles"
	pathVectorSet   = pathVectorSets + "/" + quadName

	PathMap           = PathLanding + "/map" // OGC API - Maps (OGC 20-058)
	PatternMapTile    = pathMapSet + tileVariables
	PatternVectorTile = pathVectorSet + tileVariables
	tileVariables     = "/{tileMatrix}/{tileRow}/{tileCol}"
)

// A tileset is the tileset of pictures or that of vector tiles.
type tileset struct {
	title, dataType   string
	format, mediaType string // the values of f= and Content-Type for its one format
	vector            bool
	list, path        string // of the list of tilesets and of the tileset
	tileJSON          string // the path of the same in TileJSON
	maxZoom           int
	layers            []tilesetLayer
}

// MapTile answers with a tile of the pictures: the bytes of the same tile at its z/x/y address.
func (s *Service) MapTile(w http.ResponseWriter, r *http.Request) error {
	return s.tile(w, r, &s.mapTiles)
}

// VectorTile answers with a vector tile.
func (s *Service) VectorTile(w http.ResponseWriter, r *http.Request) error {
	return s.tile(w, r, &s.vectorTiles)
}

// tile answers with a tile of a set. Its row comes before its column.
func (s *Service) tile(w http.ResponseWriter, r *http.Request, set *tileset) error {
	if err := params.PlainTilePath(r.URL); err != nil {
		return err
	}
	values := route.Values(r)
	address, scale, err := params.Tile(values[0], values[2], values[1], set.maxZoom)
	if err != nil {
		return err
	}
	if scale != 1 {
		return tiles.ErrOutOfRange
	}
	t := Tile{Request: s.Default, Vector: set.vector}
	t.Tile = address
	if t.State, err = s.Current(); err != nil {
		return err
	}
	query := params.Of(r)
	t.Version, _ = query.Text("v")
	params.OneOf(&query, "f", []string{set.format})
	t.Week, t.Dated = query.WeekOfTime("datetime", t.State.Snapshot)
	if err := query.Err(); err != nil {
		return err
	}
	return s.SendTile(w, r, t)
}

// A tilesetDocument is metadata of a tileset (OGC 17-083r4, section 12); an item of a list has only part of it.
type tilesetDocument struct {
	Title       string         `json:"title"`
	Description string         `json:"description,omitempty"`
	Attribution string         `json:"attribution,omitempty"`
	Version     string         `json:"version,omitempty"`
	Updated     string         `json:"updated,omitempty"`
	MediaTypes  []string       `json:"mediaTypes,omitempty"`
	DataType    string         `json:"dataType"`
	CRS         string         `json:"crs"`
	URI         string         `json:"tileMatrixSetURI"`
	Limits      []matrixLimit  `json:"tileMatrixSetLimits,omitempty"`
	Bounds      *boundingBox   `json:"boundingBox,omitempty"`
	Center      *centerPoint   `json:"centerPoint,omitempty"`
	Layers      []tilesetLayer `json:"layers,omitempty"`
	Links       []answer.Link  `json:"links"`
}

// A matrixLimit says which tiles of a matrix there are: all, since those without a lake are answered too, and bounds of the
// lakes would cut what is drawn next to them.
type matrixLimit struct {
	Matrix    string `json:"tileMatrix"`
	MinRow    int    `json:"minTileRow"`
	MaxRow    int    `json:"maxTileRow"`
	MinColumn int    `json:"minTileCol"`
	MaxColumn int    `json:"maxTileCol"`
}

type boundingBox struct {
	Lower [2]float64 `json:"lowerLeft"`
	Upper [2]float64 `json:"upperRight"`
	CRS   string     `json:"crs"`
}

type centerPoint struct {
	Coordinates [2]float64 `json:"coordinates"`
	CRS         string     `json:"crs"`
	Matrix      string     `json:"tileMatrix"`
}

type tilesetLayer struct {
	ID        string `json:"id"`
	DataType  string `json:"dataType"`
	Dimension int    `json:"geometryDimension"`
}

// crs84 is WGS 84 with longitude first.
const crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"

// describeList returns what makes the list of tilesets, of which there is one.
func (set *tileset) describeList(s *Service) func(*State, string) any {
	return func(_ *State, base string) any {
		return map[string]any{
			"links": []answer.Link{{Rel: "self", Type: answer.TypeJSON, Title: "This list", Href: base + set.list}},
			"tilesets": []tilesetDocument{{
				Title:    s.title(set.title),
				DataType: set.dataType,
				CRS:      quadCRS,
				URI:      quadURI,
				Links: []answer.Link{
					{Rel: "self", Type: answer.TypeJSON, Title: "The tileset", Href: base + set.path},
					{Rel: relTileset, Type: answer.TypeJSON, Title: "The tileset", Href: base + set.path},
					schemeLink(base),
				},
			}},
		}
	}
}

// describe returns what makes the metadata of the tileset.
func (set *tileset) describe(s *Service) func(*State, string) any {
	return func(state *State, base string) any {
		version, description := state.MapVersion, s.abstract(state)
		if set.vector {
			version = state.VectorVersion
			description = "Lakes as points, with their values. What is not known is absent, and absent never means low. " + description
		}
		return tilesetDocument{
			Title:       s.title(set.title),
			Description: description,
			Attribution: s.Attribution(state),
			Version:     version,
			Updated:     state.Updated,
			MediaTypes:  []string{set.mediaType},
			DataType:    set.dataType,
			CRS:         quadCRS,
			URI:         quadURI,
			Limits:      limitsTo(set.maxZoom),
			Bounds: &boundingBox{
				Lower: [2]float64(state.Bounds[:2]),
				Upper: [2]float64(state.Bounds[2:]),
				CRS:   crs84,
			},
			Center: &centerPoint{Coordinates: state.Center, CRS: crs84, Matrix: strconv.Itoa(min(state.Zoom, set.maxZoom))},
			Layers: set.layers,
			Links: []answer.Link{
				{Rel: "self", Type: answer.TypeJSON, Title: "This tileset", Href: base + set.path},
				schemeLink(base),
				{
					Rel: "item", Type: set.mediaType, Title: "A tile", Templated: true,
					Href: fmt.Sprintf("%s%s%s?v=%s", base, set.path, tileVariables, version),
				},
				{Rel: relGeodata, Type: answer.TypeJSON, Title: "What it shows", Href: base + pathCollection},
				{Rel: "alternate", Type: answer.TypeJSON, Title: "The same as TileJSON", Href: base + set.tileJSON},
			},
		}
	}
}

func limitsTo(deepest int) []matrixLimit {
	var limits []matrixLimit
	for zoom := range deepest + 1 {
		last := matrixWidth(zoom) - 1
		limits = append(limits, matrixLimit{Matrix: strconv.Itoa(zoom), MaxRow: last, MaxColumn: last})
	}
	return limits
}
