package render

import "github.com/paulmach/orb"

// World coordinates, for those who write lakes into tiles in another form than pixels. The world is 2^32 units wide and
// high, x growing east and y growing south, so that the tiles of zoom z are 2^(32-z) wide.

// Project returns the Morton code of the world coordinates of p, and whether the map holds p at all.
func Project(p orb.Point) (code uint64, ok bool) {
	x, y, ok := project(p)
	return morton(x, y), ok
}

// World returns the world coordinates whose Morton code is code.
func World(code uint64) (x, y uint32) { return unspread(code), unspread(code >> 1) }

// FingerprintOf returns the fingerprint of what shows as these bytes.
func FingerprintOf(traces []byte) Fingerprint { return fingerprint(traces) }
