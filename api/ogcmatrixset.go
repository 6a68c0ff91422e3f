package api

import "strconv"

// An ogcMatrixSet is a tile matrix set (OGC 17-083r4, section 6).
type ogcMatrixSet struct {
	ID       string      `json:"id"`
	Title    string      `json:"title"`
	URI      string      `json:"uri"`
	CRS      string      `json:"crs"`
	Axes     [2]string   `json:"orderedAxes"`
	ScaleSet string      `json:"wellKnownScaleSet"`
	Matrices []ogcMatrix `json:"tileMatrices"`
}

type ogcMatrix struct {
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

// quad returns the matrix set of all tiles, as it is registered: it is served here too, since browsers may not read it at
// its registry.
func quad() ogcMatrixSet {
	set := ogcMatrixSet{
		ID: quadName, Title: "Google Maps Compatible for the World", URI: quadURI, CRS: quadCRS,
		Axes: [2]string{"X", "Y"}, ScaleSet: quadScales,
	}
	for zoom := range quadZoom + 1 {
		set.Matrices = append(set.Matrices, ogcMatrix{
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
