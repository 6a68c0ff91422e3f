// Package hilbert numbers tiles along a Hilbert curve, as PMTiles does (version 3, section 4.1): all tiles of smaller zooms
// come first, and tiles that follow each other within a zoom are neighbours on the map. The four tiles of the next zoom within
// tile n have the numbers 4n+1 to 4n+4, so that an archive can be written while the quadtree is walked.
package hilbert

import (
	"math/bits"

	"github.com/paulmach/orb/maptile"
)

// ID returns the number of a tile, which must be valid.
func ID(t maptile.Tile) uint64 {
	id := FirstID(t.Z)
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
	position := id - FirstID(z)
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

// FirstID returns the smallest id of a zoom: the number of tiles of all smaller zooms, 1 + 4 + 16 + ...
func FirstID(z maptile.Zoom) uint64 { return (1<<(2*z) - 1) / 3 }

// turn gives a quarter of the square the direction in which the curve passes through it: the two upper ones are mirrored at
// the diagonal, the right one of them at the other diagonal. Bits above those of the quarter have no meaning afterwards.
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
