package hilbert

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

// TestIDIsACurve checks that the curve visits every tile of a zoom once, and that each is a neighbour of the previous one.
func TestIDIsACurve(t *testing.T) {
	previous := Tile(0)
	for id := uint64(1); id < FirstID(9); id++ {
		tile := Tile(id)
		if !tile.Valid() {
			t.Fatalf("Tile(%d) = %v, which is not a tile", id, tile)
		}
		if got := ID(tile); got != id {
			t.Fatalf("ID(Tile(%d)) = %d", id, got)
		}
		distance := max(tile.X, previous.X) - min(tile.X, previous.X) + max(tile.Y, previous.Y) - min(tile.Y, previous.Y)
		if tile.Z == previous.Z && distance != 1 {
			t.Fatalf("Tile(%d) = %v and Tile(%d) = %v are not neighbours", id-1, previous, id, tile)
		}
		previous = tile
	}
}

func TestTilesWithinATile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tile := drawTile(0, 30).Draw(t, "tile")
		for i := range uint64(4) {
			if got := Tile(4*ID(tile) + 1 + i); got.Parent() != tile {
				t.Fatalf("Tile(4*ID(%v)+%d) = %v, which is not within it", tile, i+1, got)
			}
		}
	})
}

func TestTileIsTheInverseOfID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tile := drawTile(0, 31).Draw(t, "tile") // maptile's largest zoom
		if got := Tile(ID(tile)); got != tile {
			t.Fatalf("Tile(ID(%v)) = %v", tile, got)
		}
	})
}

func drawTile(from, to maptile.Zoom) *rapid.Generator[maptile.Tile] {
	return rapid.Custom(func(t *rapid.T) maptile.Tile {
		z := maptile.Zoom(rapid.Uint32Range(uint32(from), uint32(to)).Draw(t, "z"))
		last := uint32(1)<<z - 1
		return maptile.New(rapid.Uint32Range(0, last).Draw(t, "x"), rapid.Uint32Range(0, last).Draw(t, "y"), z)
	})
}
