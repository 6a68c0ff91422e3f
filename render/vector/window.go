package vector

import (
	"github.com/paulmach/orb/maptile"

	"limnomap/render"
)

const (
	// Extent is how many units a tile is wide: 2^extentBits, what the specification and all that write tiles use.
	Extent     = 1 << extentBits
	extentBits = 12
	// Buffer is how many units beyond a tile's edges lakes are in it too: at the usual 512 pixels a tile 8 of these, the
	// radius of a generous marker (geojson-vt, which MapLibre cuts its own tiles with, has the same).
	Buffer = 64
	// worldBits is the width of a world coordinate.
	worldBits = 32
)

// A window is a tile with its buffer, in world coordinates. Since the world is periodic from west to east, distances from
// left are taken modulo its width, 2^32, which is what subtracting unsigned numbers of that width does.
type window struct {
	left, width  uint32 // of x: left and the width that follow it are inside
	top, bottom  uint32 // of y, inclusive
	west         int64  // from left to the tile's own western edge
	north, shift int64  // the tile's own northern edge, and log2 of a unit
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
	if t.Z == 0 { // the tile is its own neighbour
		w.left, w.west = 0, 0
	}
	return w
}

// holds reports whether a place lies in w.
func (w *window) holds(code uint64) bool {
	x, y := render.World(code)
	return x-w.left <= w.width && y >= w.top && y <= w.bottom
}

// position returns where in the tile a place of w lies, in units.
func (w *window) position(code uint64) (x, y int32) {
	wx, wy := render.World(code)
	return int32((int64(wx-w.left) - w.west) >> w.shift), int32((int64(wy) - w.north) >> w.shift)
}

// meets reports whether any of the square of side last+1 at x, y lies in w, and whether all of it does.
func (w *window) meets(x, y, last uint32) (some, all bool) {
	// The square begins in the window, or the window begins in the square.
	from := x - w.left
	some = (from <= w.width || w.left-x <= last) && y <= w.bottom && uint64(y)+uint64(last) >= uint64(w.top)
	all = uint64(from)+uint64(last) <= uint64(w.width) && y >= w.top && uint64(y)+uint64(last) <= uint64(w.bottom)
	return some, all
}
