package params

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/paulmach/orb/maptile"

	"limnomap/tiles"
)

// MaxZoom is the largest zoom whose columns and rows fit the 32 bits of maptile.Tile.
const MaxZoom = 30

// retina is what Leaflet's {r} becomes on a high-resolution screen.
const retina = "@2x"

// PlainTilePath returns an error if the path of a tile is percent-encoded where it need not be: each tile has one spelling, or a
// client could fill caches in front of the server with copies of one tile. Only the @ of "@2x" may be encoded, as some clients do.
func PlainTilePath(u *url.URL) error {
	// RawPath is set only if the path came in another encoding than that of net/url, which encodes nothing in such a path.
	if u.RawPath != "" && strings.ReplaceAll(u.RawPath, "%40", "@") != u.Path {
		return tiles.ErrOutOfRange
	}
	return nil
}

// Tile reads the address of a tile up to maxZoom, from its path: zoom, column, and row with or without "@2x". Each tile has
// one spelling, in plain digits, so that no cache keeps it under several.
func Tile(z, x, y string, maxZoom int) (address maptile.Tile, scale int, err error) {
	scale = 1
	if row, ok := strings.CutSuffix(y, retina); ok {
		y, scale = row, 2
	}
	var numbers [3]uint32
	for i, s := range [...]string{z, x, y} {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil || s[0] == '+' || len(s) > 1 && s[0] == '0' {
			return maptile.Tile{}, 0, tiles.ErrOutOfRange
		}
		numbers[i] = uint32(n)
	}
	// The zoom is checked before anything is shifted by it.
	if numbers[0] > uint32(min(maxZoom, MaxZoom)) {
		return maptile.Tile{}, 0, tiles.ErrOutOfRange
	}
	address = maptile.New(numbers[1], numbers[2], maptile.Zoom(numbers[0]))
	if !address.Valid() {
		return maptile.Tile{}, 0, tiles.ErrOutOfRange
	}
	return address, scale, nil
}
