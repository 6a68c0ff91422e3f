package palettepng

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"testing"

	"pgregory.net/rapid"
)

func testPalette() *Palette {
	var p Palette
	for i := 1; i < len(p); i++ {
		p[i] = color.NRGBA{uint8(i), uint8(255 - i), uint8(7 * i), uint8(min(2*i, 255))}
	}
	return &p
}

// pictures return the colour of the pixel at x, y, of so many colours; noise is a byte that differs from pixel to pixel.
var pictures = map[string]func(x, y, colors int, noise uint8) int{
	"constant":   func(_, _, _ int, _ uint8) int { return 0 },
	"horizontal": func(x, _, colors int, _ uint8) int { return x / 3 % colors },
	"vertical":   func(_, y, colors int, _ uint8) int { return y % colors },
	"rings":      func(x, y, colors int, _ uint8) int { return (x*x + y*y) / 64 % colors },
	"dither":     func(x, y, colors int, _ uint8) int { return (x/9 + y/7 + x&y&1) % colors },
	"specks":     func(x, y, colors int, noise uint8) int { return int(noise) / 250 * (x + y) % colors },
	"noise":      func(_, _, colors int, noise uint8) int { return int(noise) % colors },
}

// checkEncoded fails unless file is a PNG of these pixels, and its image data end with the last block.
func checkEncoded(t interface {
	Helper()
	Fatalf(string, ...any)
}, file, pixels []uint8, width int, p *Palette) {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	if got := m.Bounds(); got.Dx() != width || got.Dy() != len(pixels)/width {
		t.Fatalf("bounds = %v, want %dx%d", got, width, len(pixels)/width)
	}
	img, ok := m.(*image.Paletted)
	if !ok {
		t.Fatalf("decoded a %T, want a paletted image", m)
	}
	var colors Palette
	for i, c := range img.Palette {
		colors[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
	}
	for i, v := range pixels {
		if got := colors[img.ColorIndexAt(i%width, i/width)]; got != p[v] {
			t.Fatalf("pixel %d,%d = %v, want %v", i%width, i/width, got, p[v])
		}
	}
	in := bytes.NewReader(imageData(file))
	z, err := zlib.NewReader(in)
	if err != nil {
		t.Fatalf("zlib header: %v", err)
	}
	if _, err := io.Copy(io.Discard, z); err != nil || in.Len() != 0 {
		t.Fatalf("inflate: %v, with %d bytes after the stream", err, in.Len())
	}
}

// imageData returns the contents of the IDAT chunk of a file.
func imageData(file []byte) []byte {
	at := bytes.Index(file, []byte("IDAT"))
	return file[at+4:][:binary.BigEndian.Uint32(file[at-4:])]
}

var filters = []Filter{None, Sub}

// tileSize is the side of a tile in pixels.
const tileSize = 256

func TestEncodeRoundTrip(t *testing.T) {
	p, e := testPalette(), NewEncoder()
	for name, picture := range pictures {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				width, height := rapid.IntRange(1, 90).Draw(t, "width"), rapid.IntRange(1, 60).Draw(t, "height")
				colors := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 16, 17, 200, 256}).Draw(t, "colours")
				first := rapid.IntRange(0, 256-colors).Draw(t, "first")
				seed := rapid.Uint32().Draw(t, "seed")
				pixels := drawn(picture, width, height, first, colors, seed)
				filter := rapid.SampledFrom(filters).Draw(t, "filter")
				checkEncoded(t, e.Encode(pixels, width, p, filter), pixels, width, p)
			})
		})
	}
}

// drawn returns the pixels of a picture, with the colours from first on.
func drawn(picture func(x, y, colors int, noise uint8) int, width, height, first, colors int, seed uint32) []uint8 {
	pixels := make([]uint8, width*height)
	for i := range pixels {
		seed = seed*1664525 + 1013904223 // a linear congruence (Numerical Recipes, section 7.1)
		pixels[i] = uint8(first + picture(i%width, i/width, colors, uint8(seed>>24)))
	}
	return pixels
}

// TestEncodeTiles encodes images of tiles with one encoder: earlier images must not change the bytes.
func TestEncodeTiles(t *testing.T) {
	p, e := testPalette(), NewEncoder()
	for _, side := range []int{2 * tileSize, tileSize} {
		for name, picture := range pictures {
			for _, colors := range []int{2, 4, 16, 256} {
				t.Run(fmt.Sprintf("%s/%d/%d", name, side, colors), func(t *testing.T) {
					pixels := drawn(picture, side, side, 0, colors, 1)
					for _, filter := range filters {
						file := e.Encode(pixels, side, p, filter)
						checkEncoded(t, file, pixels, side, p)
						if !bytes.Equal(file, NewEncoder().Encode(pixels, side, p, filter)) {
							t.Error("a new encoder gives other bytes")
						}
						// The size without compression, with 8 bytes for each stored block of 64 KiB.
						if most := len(pixels) + side + 1200 + 8*(len(pixels)>>16); len(file) > most {
							t.Errorf("%d bytes, want at most %d", len(file), most)
						}
					}
				})
			}
		}
	}
}

func TestEncodeAllocates(t *testing.T) {
	p, e := testPalette(), NewEncoder()
	for _, side := range []int{tileSize, 2 * tileSize} {
		for name, picture := range pictures {
			pixels := drawn(picture, side, side, 0, 200, 1)
			for _, filter := range filters {
				if n := testing.AllocsPerRun(5, func() { e.Encode(pixels, side, p, filter) }); n > 1 {
					t.Errorf("%s of %d pixels: %v allocations, want only that of the file", name, side, n)
				}
			}
		}
	}
}

func FuzzEncode(f *testing.F) {
	for name := range pictures {
		f.Add([]byte(name), uint8(3), uint8(1))
		f.Add(drawn(pictures[name], 40, 30, 0, 256, 1), uint8(39), uint8(1))
		f.Add(drawn(pictures[name], 40, 30, 0, 16, 1), uint8(38), uint8(40))
	}
	p, e := testPalette(), NewEncoder()
	f.Fuzz(func(t *testing.T, pixels []byte, width, repeats uint8) {
		w := int(width) + 1
		pixels = bytes.Repeat(pixels, int(repeats)%64+1)
		if pixels = pixels[:min(len(pixels), 1<<17)/w*w]; len(pixels) == 0 {
			pixels = make([]byte, w)
		}
		for _, filter := range filters {
			checkEncoded(t, e.Encode(pixels, w, p, filter), pixels, w, p)
		}
	})
}
