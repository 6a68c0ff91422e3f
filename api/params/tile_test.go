package params

import (
	"errors"
	"strconv"
	"testing"

	"limnomap/tiles"
)

func FuzzTileAddress(f *testing.F) {
	for _, seed := range [][3]string{
		{"0", "0", "0"}, {"6", "33", "21@2x"}, {"30", "1073741823", "1073741823"}, {"31", "0", "0"},
		{"+1", "0", "0"}, {"01", "0", "0"}, {"1", "2", "0"}, {"", "", "@2x"}, {"18446744073709551616", "0", "0"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, z, x, y string) {
		tile, scale, err := Tile(z, x, y, MaxZoom)
		if err != nil {
			if !errors.Is(err, tiles.ErrOutOfRange) {
				t.Fatalf("Tile(%q, %q, %q) = %v, want ErrOutOfRange", z, x, y, err)
			}
			return
		}
		if !tile.Valid() || tile.Z > MaxZoom || scale != 1 && scale != 2 {
			t.Fatalf("Tile(%q, %q, %q) = %v at scale %d", z, x, y, tile, scale)
		}
		row := strconv.FormatUint(uint64(tile.Y), 10)
		if scale == 2 {
			row += retina
		}
		if strconv.Itoa(int(tile.Z)) != z || strconv.FormatUint(uint64(tile.X), 10) != x || row != y {
			t.Fatalf("Tile(%q, %q, %q) = %v: a tile has one spelling", z, x, y, tile)
		}
	})
}
