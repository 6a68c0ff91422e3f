package vector

import (
	"github.com/paulmach/orb/maptile"

	"limnomap/render"
)

const (
	// Extent is the width of a tile in units: 2^extentBits, the default of the specification.
	Extent     = 1 << extentBits
	extentBits = 12
	// Buffer is the distance in units from the edges at which lakes outside are in a tile too: 8 pixels of a tile of 512, the
	// radius of a large marker (the same as in geojson-vt, which MapLibre uses).
	Buffer = 64
	// worldBits is the width of a world coordinate.
	worldBits = 32
)

// A window is a tile with its buffer, in world coordinates. The world is periodic from west to east: distances from left are
// differences of uint32, that is modulo 2^32, the width of the world.
type window struct {
	left, width  uint32 // of x: left and the next width coordinates are inside
	top, bottom  uint32 // of y, inclusive
	west         int64  // from left to the western edge of the tile
	north, shift int64  // the northern edge of the tile, and log2 of a unit
}

func windowOf(t maptile.Tile) window {
	side, shift := int64(1)<<(worldBits-t.Z), worldBits-extentBits-int64(t.Z)
	buffer := int64(Buffer) << shift
	north := int64(t.Y) * side
	w := window{
		left:   uint32(int64(t.X)*side - buffer),
		width:  uint32(min(side+2*buffer, 1<<worldBits) - 1),
		top:    uint32(max(north-buffer, 0)),
		bottom: uint32(min(north+side+buffer, 1<<worldBits) - 1),
		west:   buffer,
		north:  north,
		shift:  shift,
	}
	if t.Z == 0 { // the neighbour of the tile is the tile itself
		w.left, w.west = 0, 0
	}
	return w
}

// contains reports whether the site with that code is in w.
func (w *window) contains(code uint64) bool {
	x, y := render.World(code)
	return x-w.left <= w.width && y >= w.top && y <= w.bottom
}

// position returns the position of a site of w in units of the tile.
func (w *window) position(code uint64) (x, y int32) {
	wx, wy := render.World(code)
	return int32((int64(wx-w.left) - w.west) >> w.shift), int32((int64(wy) - w.north) >> w.shift)
}

// meets reports whether w overlaps the square of side last+1 at x, y, and whether it contains all of it.
func (w *window) meets(x, y, last uint32) (some, all bool) {
	// The square begins in the window, or the window begins in the square.
	from := x - w.left
	some = (from <= w.width || w.left-x <= last) && y <= w.bottom && uint64(y)+uint64(last) >= uint64(w.top)
	all = uint64(from)+uint64(last) <= uint64(w.width) && y >= w.top && uint64(y)+uint64(last) <= uint64(w.bottom)
	return some, all
}
