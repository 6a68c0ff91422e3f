package archive

import (
	"math/bits"

	"github.com/paulmach/orb/maptile"
)

// ID returns the number of a tile in PMTiles: all tiles of lower zooms come before it, and those of its own zoom in
// the order of a Hilbert curve, on which neighbours on the map are mostly neighbours in the file (PMTiles 3, section
// 4.1). The tile must be valid.
func ID(t maptile.Tile) uint64 {
	id := firstID(t.Z)
	x, y := t.X, t.Y
	for level := int(t.Z) - 1; level >= 0; level-- {
		right, low := x>>level&1, y>>level&1
		id += uint64(3*right^low) << (2 * level)
		x, y = turn(x, y, right, low)
	}
	return id
}

// Tile is the inverse of [ID]. The id must be one that ID returns.
func Tile(id uint64) maptile.Tile {
	z := maptile.Zoom(bits.Len64(3*id+1)-1) / 2
	position := id - firstID(z)
	var x, y uint32
	for level := range int(z) {
		quarter := uint32(position>>(2*level)) & 3
		right := quarter >> 1
		low := (quarter ^ right) & 1
		mask := uint32(1)<<level - 1
		x, y = turn(x, y, right, low)
		x, y = x&mask|right<<level, y&mask|low<<level
	}
	return maptile.New(x, y, z)
}

// firstID counts the tiles of all lower zooms: 1 + 4 + 16 + ..., a geometric series.
func firstID(z maptile.Zoom) uint64 { return (1<<(2*z) - 1) / 3 }

// turn gives a quarter of the square the direction in which the curve runs through it: the two upper ones are mirrored
// at the diagonal, the right one of them at the other diagonal. Bits above the quarter's own come out without meaning,
// and no caller looks at them.
func turn(x, y, right, low uint32) (uint32, uint32) {
	switch {
	case low == 1:
		return x, y
	case right == 1:
		return ^y, ^x
	default:
		return y, x
	}
}
