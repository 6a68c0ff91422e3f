package render

import (
	"fmt"
	"sync"

	"limnomap/render/palettepng"
)

// blanks returns the transparent PNGs of both scales. They are made with the encoder of all tiles: a tile whose pixels all
// turn out transparent has the same bytes.
var blanks = sync.OnceValue(func() [2][]byte {
	var files [2][]byte
	for i := range files {
		side := TileSize * (i + 1)
		files[i] = palettepng.NewEncoder().Encode(make([]uint8, side*side), side, &palettepng.Palette{}, palettepng.None)
	}
	return files
})

// Blank returns the transparent PNG of scale 1 or 2. The bytes are shared and must not be changed.
func Blank(scale int) []byte {
	if scale != 1 && scale != 2 {
		panic(fmt.Sprintf("render: blank tile of scale %d", scale))
	}
	return blanks()[scale-1]
}
