package render

import (
	"bytes"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// TestVectorsChangeNoByte draws whole tiles with and without vector instructions. It changes a package variable, so no other
// test of the package may run at the same time.
func TestVectorsChangeNoByte(t *testing.T) {
	if !vectors {
		t.Skip("SKIPPED: the processor has no vector instructions to compare with plain Go")
	}
	t.Cleanup(func() { vectors = true })
	lakes := append(country(), district(300)...)
	layers := []struct {
		name  string
		layer *Layer
		zooms maptile.Zoom // it is drawn from 0 to this one
	}{
		{"stamped", layerOf(lakes...), MaxZoom},
		{"blurred", blurred(0, lakes...), maxBlurredZoom},
		{"gridded", blurred(4, lakes...), 3},
	}
	// A bloom, a lake of a crowd, and the antimeridian.
	places := [][2]float64{{lakes[20].lon, lakes[20].lat}, {lakes[80].lon, lakes[80].lat}, {180, -5}}
	for _, l := range layers {
		for z := maptile.Zoom(0); z <= l.zooms; z++ {
			for _, place := range places {
				for scale := 1; scale <= 2; scale++ {
					s := Spec{Tile: maptile.At(place, z), Scale: scale, Style: Heat, Colormap: colormap.Default}
					s.Tile.X &= 1<<z - 1 // at longitude 180 it is one past the last
					vectors = true
					fast := mustRender(t, l.layer, s)
					vectors = false
					if plain := mustRender(t, l.layer, s); !bytes.Equal(fast, plain) {
						t.Errorf("%s: %+v is %d bytes with vectors that differ from the %d without", l.name, s, len(fast), len(plain))
					}
					if bytes.Equal(fast, Blank(scale)) {
						t.Errorf("%s: %+v is blank, so nothing is compared", l.name, s)
					}
				}
			}
		}
	}
}
