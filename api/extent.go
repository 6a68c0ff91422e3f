package api

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/tiles"
)

const (
	// reach is how far, in degrees of longitude, a lake is drawn around its position at zoom 6: 32 of the 256·2⁶ pixels
	// around the globe. A map that loads no tile outside the extent would cut a lake at its edge in half.
	reach = 32 * 360.0 / (256 << reachZoom)
	// At smaller zooms each style draws less than markReach tiles, 16 pixels, around a lake.
	reachZoom = 6
	markReach = 16. / 256
)

// extentsOf returns the bound that a map of the lakes fills, and the one of its tiles, which has a part of each tile that is not blank, at every zoom. They
// never cross the antimeridian, which TileJSON, 3.5, cannot express: a bound that goes around the globe the long way is larger than necessary but
// leaves no lake out.
func extentsOf(lakes []data.Lake) (filled, tiled orb.Bound) {
	world := tiles.World()
	if len(lakes) == 0 {
		return world, world
	}
	own := drawnBound(lakes)
	touched := tiles.NewTouch()
	for z := range maptile.Zoom(reachZoom + 1) {
		n := 1 << z
		northWest, southEast := maptile.Fraction(own.LeftTop(), z), maptile.Fraction(own.RightBottom(), z)
		column := func(x float64) uint32 { return uint32((int(math.Floor(x)) + n) % n) } // east of the last one is the first
		row := func(y float64) uint32 { return uint32(min(max(int(y), 0), n-1)) }
		touched.Add(maptile.Tile{X: column(northWest.X() - markReach), Y: row(northWest.Y() - markReach), Z: z})
		touched.Add(maptile.Tile{X: column(southEast.X() + markReach), Y: row(southEast.Y() + markReach), Z: z})
	}
	for axis := range 2 {
		filled.Min[axis] = math.Max(own.Min[axis]-reach, world.Min[axis])
		filled.Max[axis] = math.Min(own.Max[axis]+reach, world.Max[axis])
	}
	return filled, touched.Extend(filled)
}

// drawnBound returns the bound of the lakes with their outlines, within the globe.
func drawnBound(lakes []data.Lake) orb.Bound {
	b := boundOf(lakes)
	for i := range lakes {
		if lakes[i].Outline != "" {
			b = b.Union(lakes[i].Outline.Bound())
		}
	}
	b.Max[0] = math.Min(b.Max[0], 180) // an outline may go on beyond the antimeridian
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
