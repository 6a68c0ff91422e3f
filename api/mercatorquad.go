package api

import "math"

// The tile matrix set of all tiles is the one that OGC 17-083r4, annex D.1, registers as WebMercatorQuad and that WMTS
// 1.0.0, annex E.4, knows as GoogleMapsCompatible: what XYZ addresses name. Its matrices are the zooms, its rows grow to
// the south from the corner in the northwest, and the axes of EPSG:3857 are east, then north: unlike those of EPSG:4326 its
// corner is not written the other way round.
const (
	quadName = "WebMercatorQuad"
	quadURI  = "http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad"
	quadCRS  = "http://www.opengis.net/def/crs/EPSG/0/3857"
	// quadScales is the set of scales that a GoogleMapsCompatible matrix set has, down to wkssZoom.
	quadScales = "http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible"
	// wkssZoom is the deepest zoom of the well-known scale set (WMTS 1.0.0, table E.4).
	wkssZoom = 18
	// quadZoom is the deepest zoom of the registered set.
	quadZoom = 24
	// tilePixels is the width of a tile in pixels.
	tilePixels = 256
	// quadEdge is how far the square reaches from its middle, in metres: half the equator of WGS 84.
	quadEdge = 6378137 * math.Pi
	// scalePixel is the size of a pixel that scale denominators suppose, in metres (WMTS 1.0.0, section 6.1).
	scalePixel = 0.00028
)

// cellSize returns the width of a pixel at that zoom, in metres on the equator.
func cellSize(zoom int) float64 { return math.Ldexp(2*quadEdge/tilePixels, -zoom) }

// scaleDenominator returns the scale of a map at that zoom as OGC gives it.
func scaleDenominator(zoom int) float64 { return math.Ldexp(2*quadEdge/tilePixels/scalePixel, -zoom) }

// matrixWidth returns how many tiles a zoom has along each axis.
func matrixWidth(zoom int) int { return 1 << zoom }
