package archive

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
)

// blank returns a transparent tile.
func blank() ([]byte, error) {
	const size = 256
	var b bytes.Buffer
	err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{color.Transparent}))
	return b.Bytes(), err
}
