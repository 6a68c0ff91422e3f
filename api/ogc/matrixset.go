package ogc

import (
	"math"
	"strconv"
)

// The tile matrix set of all tiles is the one that OGC 17-083r4, annex D.1, registers as WebMercatorQuad and that WMTS
// 1.0.0, annex E.4, calls GoogleMapsCompatible: the scheme of z/x/y addresses. Its matrices are the zooms, and its rows count to
// the south from the north-west corner. The axes of EPSG:3857 are east, then north, so that its corner is not written with
// swapped coordinates, unlike that of EPSG:4326.
const (
	quadName = "WebMercatorQuad"
	quadURI  = "http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad"
	quadCRS  = "http://www.opengis.net/def/crs/EPSG/0/3857"
	// quadScales is the set of scales of a GoogleMapsCompatible matrix set, down to wkssZoom.
	quadScales = "http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible"
	// wkssZoom is the largest zoom of the well-known scale set (WMTS 1.0.0, table E.4).
	wkssZoom = 18
	// quadZoom is the largest zoom of the registered set.
	quadZoom = 24
	// tilePixels is the width of a tile in pixels.
	tilePixels = 256
	// quadEdge is the distance of the square's edge from its middle, in metres: half the equator of WGS 84.
	quadEdge = 6378137 * math.Pi
	// scalePixel is the size of a pixel that scale denominators assume, in metres (WMTS 1.0.0, section 6.1).
	scalePixel = 0.00028
)

// cellSize returns the width of a pixel at that zoom, in metres on the equator.
func cellSize(zoom int) float64 { return math.Ldexp(2*quadEdge/tilePixels, -zoom) }

// scaleDenominator returns the scale of a map at that zoom in the form of OGC.
func scaleDenominator(zoom int) float64 { return math.Ldexp(2*quadEdge/tilePixels/scalePixel, -zoom) }

// matrixWidth returns how many tiles a zoom has along each axis.
func matrixWidth(zoom int) int { return 1 << zoom }

// A matrixSet is a tile matrix set (OGC 17-083r4, section 6).
type matrixSet struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	URI      string    `json:"uri"`
	CRS      string    `json:"crs"`
	Axes     [2]string `json:"orderedAxes"`
	ScaleSet string    `json:"wellKnownScaleSet"`
	Matrices []matrix  `json:"tileMatrices"`
}

type matrix struct {
	ID         string     `json:"id"`
	Scale      float64    `json:"scaleDenominator"`
	CellSize   float64    `json:"cellSize"`
	CornerOf   string     `json:"cornerOfOrigin"`
	Origin     [2]float64 `json:"pointOfOrigin"`
	TileWidth  int        `json:"tileWidth"`
	TileHeight int        `json:"tileHeight"`
	Width      int        `json:"matrixWidth"`
	Height     int        `json:"matrixHeight"`
}

// quad returns the matrix set of all tiles, as it is registered. It is served here too, since browsers may not read it from
// its registry.
func quad() matrixSet {
	set := matrixSet{
		ID: quadName, Title: "Google Maps Compatible for the World", URI: quadURI, CRS: quadCRS,
		Axes: [2]string{"X", "Y"}, ScaleSet: quadScales,
	}
	for zoom := range quadZoom + 1 {
		set.Matrices = append(set.Matrices, matrix{
			ID:         strconv.Itoa(zoom),
			Scale:      scaleDenominator(zoom),
			CellSize:   cellSize(zoom),
			CornerOf:   "topLeft",
			Origin:     [2]float64{-quadEdge, quadEdge},
			TileWidth:  tilePixels,
			TileHeight: tilePixels,
			Width:      matrixWidth(zoom),
			Height:     matrixWidth(zoom),
		})
	}
	return set
}
