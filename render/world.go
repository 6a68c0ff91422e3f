package render

import "github.com/paulmach/orb"

// World coordinates are exported for package vector. The world is 2^32 units wide and high, x growing east and y growing
// south, so that the tiles of zoom z are 2^(32-z) wide.

// Project returns the Morton code of the world coordinates of p, and reports whether p is on the map.
func Project(p orb.Point) (code uint64, ok bool) {
	x, y, ok := project(p)
	return morton(x, y), ok
}

// World returns the world coordinates whose Morton code is code.
func World(code uint64) (x, y uint32) { return unspread(code), unspread(code >> 1) }
