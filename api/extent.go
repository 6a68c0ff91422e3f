package api

import (
	"math"

	"github.com/paulmach/orb"

	"limnomap/data"
)

const (
	// maxLatitude is where Web Mercator's square ends.
	maxLatitude = 85.0511
	// reach is how far, in degrees of longitude, a lake is drawn around its position at zoom 6: 32 of the 256·2⁶ pixels
	// around the globe. A map that loads no tile outside the extent would cut a lake at its edge in half.
	reach = 32 * 360.0 / (256 << 6)
)

// extentOf returns the bound that a map of the lakes fills. It never crosses the antimeridian, which TileJSON, 3.5, cannot
// express: a bound that goes around the globe the long way is larger than necessary but leaves no lake out.
func extentOf(lakes []data.Lake) orb.Bound {
	world := orb.Bound{Min: orb.Point{-180, -maxLatitude}, Max: orb.Point{180, maxLatitude}}
	if len(lakes) == 0 {
		return world
	}
	b := lakes[0].Point.Bound()
	for i := range lakes {
		b = b.Extend(lakes[i].Point)
	}
	for axis := range 2 {
		b.Min[axis] = math.Max(b.Min[axis]-reach, world.Min[axis])
		b.Max[axis] = math.Min(b.Max[axis]+reach, world.Max[axis])
	}
	return b
}

// zoomFor returns the zoom at which the extent about fills a screen that is three tiles wide.
func zoomFor(b orb.Bound) int {
	width := math.Max(b.Max.Lon()-b.Min.Lon(), 1e-9)
	zoom := int(math.Floor(math.Log2(3 * 360 / width)))
	return max(zoom, 0)
}

// round returns degrees to about a decimetre, as short as they print.
func round(degrees float64) float64 { return math.Round(degrees*1e6) / 1e6 }
