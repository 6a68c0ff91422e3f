package tiles

// A curve is the Hilbert curve within a tile, by how it is turned there. Along the curve, tiles that follow each other
// are neighbours; PMTiles numbers the tiles of a zoom along it (version 3, section 4.1), so that an archive can be written in that order as
// it grows. The zero curve is that of zoom 0.
type curve struct {
	swapped bool // columns with rows
	flipped bool // both of them from end to end
}

// quadrant returns the column and the row, 0 or 1, of the i-th quadrant along c, and the curve within it.
func (c curve) quadrant(i uint32) (x, y uint32, inner curve) {
	inner = c
	switch i {
	case 0:
		inner.swapped = !c.swapped
	case 3:
		inner.swapped, inner.flipped = !c.swapped, !c.flipped
	}
	x, y = i>>1, (i^i>>1)&1 // the first down the west, then up the east
	if c.swapped {
		x, y = y, x
	}
	if c.flipped {
		x, y = 1-x, 1-y
	}
	return x, y, inner
}
