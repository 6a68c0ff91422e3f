package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/paulmach/orb/maptile"
)

// A bound is a part of the globe, written as W,S,E,N in degrees, with its edges. If W is greater than E, it crosses the
// antimeridian (RFC 7946, section 5.2).
type bound struct{ West, South, East, North float64 }

func (b *bound) UnmarshalText(text []byte) error {
	const want = "want west,south,east,north in degrees such as 5.8,47.2,15.1,55.1"
	parts := strings.Split(string(text), ",")
	if len(parts) != 4 {
		return fmt.Errorf("bound %q has %d numbers, not 4: %s", text, len(parts), want)
	}
	var numbers [4]float64
	for i, part := range parts {
		limit := [...]float64{180, 90}[i%2]
		f, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(f >= -limit && f <= limit) { // also for NaN
			return fmt.Errorf("bound %q: %q is not a number from %v to %v: %s", text, part, -limit, limit, want)
		}
		numbers[i] = f
	}
	if south, north := numbers[1], numbers[3]; south > north {
		return fmt.Errorf("bound %q: south, %v, is greater than north, %v: %s", text, south, north, want)
	}
	*b = bound{numbers[0], numbers[1], numbers[2], numbers[3]}
	return nil
}

// MarshalText writes the bound as it is read, without rounding.
func (b bound) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%v,%v,%v,%v", b.West, b.South, b.East, b.North), nil
}

// edgeSlack is a tenth of a millimetre in degrees, far more than the rounding error of a tile's edge.
const edgeSlack = 1e-9

// overlaps reports whether t shows a part of b; an edge is enough.
func (b bound) overlaps(t maptile.Tile) bool {
	tile := t.Bound().Pad(edgeSlack)
	if tile.Max.Lat() < b.South || tile.Min.Lat() > b.North {
		return false
	}
	east, west := tile.Max.Lon() >= b.West, tile.Min.Lon() <= b.East
	if b.West > b.East {
		return east || west
	}
	return east && west
}
