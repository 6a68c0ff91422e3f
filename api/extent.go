package api

import (
	"math"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/tiles"
)

// reach is how far, in degrees of longitude, a lake is drawn around its position at zoom 6: 32 of the 256·2⁶ pixels
// around the globe. A map that loads no tile outside the extent would cut a lake at its edge in half.
const reach = 32 * 360.0 / (256 << 6)

// extentOf returns the bound that a map of the lakes fills. It never crosses the antimeridian, which TileJSON, 3.5, cannot
// express: a bound that goes around the globe the long way is larger than necessary but leaves no lake out.
func extentOf(lakes []data.Lake) orb.Bound {
	world := tiles.World()
	if len(lakes) == 0 {
		return world
	}
	b := boundOf(lakes)
	for axis := range 2 {
		b.Min[axis] = math.Max(b.Min[axis]-reach, world.Min[axis])
		b.Max[axis] = math.Min(b.Max[axis]+reach, world.Max[axis])
	}
	return b
}

// boundOf returns the bound of the lakes. It never crosses the antimeridian. Without a lake it is a point.
func boundOf(lakes []data.Lake) orb.Bound {
	if len(lakes) == 0 {
		return orb.Bound{}
	}
	b := lakes[0].Point.Bound()
	for i := range lakes {
		b = b.Extend(lakes[i].Point)
	}
	return b
}

// round returns degrees to about a decimetre, as short as they print.
func round(degrees float64) float64 { return math.Round(degrees*1e6) / 1e6 }
