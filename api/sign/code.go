package sign

import (
	"fmt"
	"strings"

	"github.com/boombuler/barcode/qr"
)

// quietZone is the width of the white margin that a QR code needs, in modules (ISO/IEC 18004, section 9.1).
const quietZone = 4

// A code is a QR code as a path of SVG.
type code struct {
	Side int    // of the picture, in modules
	Path string // its dark modules
}

// newCode returns the QR code of an address. A sheet gets wet and dirty: the code can be read with up to 15 % of it lost.
func newCode(address string) (*code, error) {
	drawn, err := qr.Encode(address, qr.M, qr.Auto)
	if err != nil {
		return nil, fmt.Errorf("QR code: %w", err)
	}
	bounds := drawn.Bounds()
	dark := func(x, y int) bool {
		if x == bounds.Dx() {
			return false
		}
		luminance, _, _, _ := drawn.At(bounds.Min.X+x, bounds.Min.Y+y).RGBA()
		return luminance == 0
	}
	var path strings.Builder
	for y := range bounds.Dy() {
		for x := 0; x < bounds.Dx(); x++ {
			if !dark(x, y) {
				continue
			}
			run := 1
			for dark(x+run, y) {
				run++
			}
			fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quietZone, y+quietZone, run, run)
			x += run
		}
	}
	return &code{bounds.Dx() + 2*quietZone, path.String()}, nil
}
