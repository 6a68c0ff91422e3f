package render

import (
	"bytes"
	"fmt"
	"image/png"
	"testing"
)

func TestBlank(t *testing.T) {
	for _, scale := range []int{1, 2} {
		b := Blank(scale)
		if scale == 1 && len(b) >= 150 {
			t.Errorf("blank tile of %d bytes, want less than 150", len(b))
		}
		m, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Bounds().Dx(); got != TileSize*scale {
			t.Errorf("blank tile of scale %d is %d pixels wide", scale, got)
		}
		for y := range TileSize * scale {
			for x := range TileSize * scale {
				if _, _, _, a := m.At(x, y).RGBA(); a != 0 {
					t.Fatalf("blank tile of scale %d: pixel %d,%d is not transparent", scale, x, y)
				}
			}
		}
	}
	for _, scale := range []int{-1, 0, 3} {
		t.Run(fmt.Sprint(scale), func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Errorf("Blank(%d) did not panic", scale)
				}
			}()
			Blank(scale)
		})
	}
}
