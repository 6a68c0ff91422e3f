package render

import (
	"fmt"
	"sync"

	"limnomap/render/palettepng"
)

// blanks makes the transparent PNGs of both scales once for all, with the encoder that draws the others: so a tile
// whose every pixel comes out transparent has the same bytes.
var blanks = sync.OnceValue(func() [2][]byte {
	var files [2][]byte
	for i := range files {
		side := TileSize * (i + 1)
		files[i] = palettepng.NewEncoder().Encode(make([]uint8, side*side), side, &palettepng.Palette{})
	}
	return files
})

// Blank returns the transparent PNG of that scale, 1 or 2. The bytes are shared and must not be changed.
func Blank(scale int) []byte {
	if scale != 1 && scale != 2 {
		panic(fmt.Sprintf("render: blank tile of scale %d", scale))
	}
	return blanks()[scale-1]
}
