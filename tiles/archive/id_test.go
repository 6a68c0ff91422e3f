package archive

import (
	"testing"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"
)

func TestIDKnown(t *testing.T) {
	tests := []struct {
		z    maptile.Zoom
		x, y uint32
		want uint64
	}{ // PMTiles 3, section 4.1
		{0, 0, 0, 0},
		{1, 0, 0, 1},
		{1, 0, 1, 2},
		{1, 1, 1, 3},
		{1, 1, 0, 4},
		{2, 0, 0, 5},
		{12, 3423, 1763, 19078479},
	}
	for _, test := range tests {
		tile := maptile.New(test.x, test.y, test.z)
		if got := ID(tile); got != test.want {
			t.Errorf("ID(%v) = %d, want %d", tile, got, test.want)
		}
		if got := Tile(test.want); got != tile {
			t.Errorf("Tile(%d) = %v, want %v", test.want, got, tile)
		}
	}
}

// The curve passes every tile of a zoom once, and each is a neighbour of the one before.
func TestIDIsACurve(t *testing.T) {
	before := Tile(0)
	for id := uint64(1); id < firstID(9); id++ {
		tile := Tile(id)
		if !tile.Valid() {
			t.Fatalf("Tile(%d) = %v, which is no tile", id, tile)
		}
		if got := ID(tile); got != id {
			t.Fatalf("ID(Tile(%d)) = %d", id, got)
		}
		distance := max(tile.X, before.X) - min(tile.X, before.X) + max(tile.Y, before.Y) - min(tile.Y, before.Y)
		if tile.Z == before.Z && distance != 1 {
			t.Fatalf("Tile(%d) = %v and Tile(%d) = %v are no neighbours", id-1, before, id, tile)
		}
		before = tile
	}
}

func TestTileIsTheInverseOfID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tile := anyTile(0, 31).Draw(t, "tile") // maptile's largest zoom
		if got := Tile(ID(tile)); got != tile {
			t.Fatalf("Tile(ID(%v)) = %v", tile, got)
		}
	})
}

func anyTile(from, to maptile.Zoom) *rapid.Generator[maptile.Tile] {
	return rapid.Custom(func(t *rapid.T) maptile.Tile {
		z := maptile.Zoom(rapid.Uint32Range(uint32(from), uint32(to)).Draw(t, "z"))
		last := uint32(1)<<z - 1
		return maptile.New(rapid.Uint32Range(0, last).Draw(t, "x"), rapid.Uint32Range(0, last).Draw(t, "y"), z)
	})
}
