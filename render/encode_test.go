package render

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"testing"

	"pgregory.net/rapid"
)

func testPalette() *palette {
	var p palette
	for i := 1; i < len(p); i++ {
		p[i] = color.NRGBA{uint8(i), uint8(255 - i), uint8(7 * i), uint8(min(2*i, 255))}
	}
	return &p
}

func TestEncodeComesBack(t *testing.T) {
	p, e := testPalette(), newEncoder()
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 40).Draw(t, "width"), rapid.IntRange(1, 40).Draw(t, "height")
		colors := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 16, 17, 256}).Draw(t, "colours")
		first := rapid.IntRange(0, 256-colors).Draw(t, "first")
		pixels := make([]uint8, width*height)
		for i := range pixels {
			pixels[i] = uint8(first + rapid.IntRange(0, colors-1).Draw(t, "pixel"))
		}
		m, err := png.Decode(bytes.NewReader(e.encode(pixels, width, p)))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Bounds(); got.Dx() != width || got.Dy() != height {
			t.Fatalf("bounds = %v, want %dx%d", got, width, height)
		}
		for i, v := range pixels {
			if got := color.NRGBAModel.Convert(m.At(i%width, i/width)); got != p[v] {
				t.Fatalf("pixel %d = %v, want %v", i, got, p[v])
			}
		}
	})
}

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
