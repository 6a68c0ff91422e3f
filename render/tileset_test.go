package render

import (
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render/palettepng"
)

// tileSet returns the lakes and the 300 tiles of zoom 5 to 10 that cold tiles are measured with, also in comparisons with other
// servers.
func tileSet(tb testing.TB) (*Layer, []maptile.Tile) {
	tb.Helper()
	const folder = "../../shared/bench/"
	lakes, err := os.Open(folder + "lakes_1892.csv")
	if err != nil {
		tb.Skipf("SKIPPED: no set of tiles to draw: %v", err)
	}
	defer lakes.Close()
	rows, err := csv.NewReader(lakes).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	var drawn []testLake
	for _, row := range rows[1:] {
		var v [3]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(row[i+1], 64); err != nil {
				tb.Fatal(err)
			}
		}
		if v[2] <= data.MaxChlorophyll.Float() {
			drawn = append(drawn, testLake{lon: v[0], lat: v[1], chl: v[2]})
		}
	}
	list, err := os.ReadFile(folder + "tiles.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var tiles []maptile.Tile
	for line := range strings.Lines(string(list)) {
		var t maptile.Tile
		if _, err := fmt.Sscanf(line, "%d %d %d", &t.Z, &t.X, &t.Y); err != nil {
			tb.Fatalf("%q: %v", line, err)
		}
		tiles = append(tiles, t)
	}
	return layerOf(drawn...), tiles
}

// BenchmarkTileSet draws the set from the search to the file, and for comparison encodes the same pixels with the standard
// library.
func BenchmarkTileSet(b *testing.B) {
	l, tiles := tileSet(b)
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		n, total := 0, 0
		for b.Loop() {
			total += len(mustRender(b, l, Spec{Tile: tiles[n%len(tiles)], Scale: 1, Style: Heat, Colormap: colormap.Default}))
			n++
		}
		b.ReportMetric(float64(total)/float64(n), "file-B/op")
	})
	b.Run("image-png", func(b *testing.B) {
		colors := make(color.Palette, len(palettepng.Palette{}))
		e := png.Encoder{BufferPool: &pngBuffers{}}
		n, total := 0, counter(0)
		h, c, m := renderer().styles[Heat], renderer().colors[colormap.Default], memory{}
		for b.Loop() {
			w := windowOf(tiles[n%len(tiles)], 1)
			p := paletteOf(colormap.Default, Heat, w.zoom)
			for i, c := range p {
				colors[i] = c
			}
			m.find(l, w, h, 0)
			m.draw(h, c.scale, w)
			img := image.Paletted{Pix: m.pixels, Stride: w.width, Rect: image.Rect(0, 0, w.width, w.height), Palette: colors}
			if err := e.Encode(&total, &img); err != nil {
				b.Fatal(err)
			}
			n++
		}
		b.ReportMetric(float64(total)/float64(n), "file-B/op")
	})
}

// pngBuffers reuses the buffers of the standard encoder, which makes it faster.
type pngBuffers struct{ kept *png.EncoderBuffer }

func (p *pngBuffers) Get() *png.EncoderBuffer  { return p.kept }
func (p *pngBuffers) Put(b *png.EncoderBuffer) { p.kept = b }

// A counter counts the bytes written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)
