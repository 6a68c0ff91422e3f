package tiles

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/render"
)

// A Touch extends the bound of a map so that it has a part of each tile that is not blank: clients ask for no tile outside of it, and what is drawn around
// a lake, some pixels, reaches further in degrees at each smaller zoom.
type Touch struct {
	west, south, east, north float64 // the bound reaches at least to them
	first, last              uint64  // a bit for each zoom: whether it has a tile in the first, and in the last column
}

// leastSides is the smallest zoom at which a map that has tiles at both sides of the antimeridian is taken to cross it.
const leastSides = 3

// NewTouch returns a Touch without tiles.
func NewTouch() *Touch {
	return &Touch{west: math.Inf(1), south: math.Inf(1), east: math.Inf(-1), north: math.Inf(-1)}
}

// Add adds a tile, of which the bound will have at least a pixel.
func (e *Touch) Add(t maptile.Tile) {
	b := t.Bound()
	width, height := (b.Max.Lon()-b.Min.Lon())/render.TileSize, (b.Max.Lat()-b.Min.Lat())/render.TileSize
	e.west, e.east = min(e.west, b.Max.Lon()-width), max(e.east, b.Min.Lon()+width)
	e.south, e.north = min(e.south, b.Max.Lat()-height), max(e.north, b.Min.Lat()+height)
	if t.X == 0 {
		e.first |= 1 << t.Z
	}
	if t.X == 1<<t.Z-1 {
		e.last |= 1 << t.Z
	}
}

// Extend returns the smallest bound with b and a part of each tile. It goes around the globe if there are tiles at both sides of the antimeridian: most
// formats have no bound that crosses it.
func (e *Touch) Extend(b orb.Bound) orb.Bound {
	b.Min = orb.Point{min(b.Min.Lon(), e.west), min(b.Min.Lat(), e.south)}
	b.Max = orb.Point{max(b.Max.Lon(), e.east), max(b.Max.Lat(), e.north)}
	if e.first&e.last>>leastSides != 0 {
		b.Min[0], b.Max[0] = -180, 180
	}
	return b
}
