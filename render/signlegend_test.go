package render

import (
	"image"
	"image/color"
	"testing"

	"limnomap/colormap"
	"limnomap/render/legend"
	"limnomap/render/symbol"
)

// TestLegendHasTheSignsOfTiles looks in legends for the signs as tiles of zoom 10 draw them on a marker of the lowest class.
func TestLegendHasTheSignsOfTiles(t *testing.T) {
	const (
		zoom = 10
		// Tiles have quarters of an edge, legends all 256 steps. The difference is below an eighth, per line that meets in the pixel.
		allowed = 255 * 2 / 8
	)
	for _, id := range colormap.IDs() {
		m := newMap(t, id, who2003())
		var value uint8 // index of the colour that represents the lowest class
		for i, c := range m.Table() {
			if colormap.Hex(c) == m.Legend().Classes[0].Color {
				value = uint8(i)
			}
		}
		palette := markPalette(m)
		casing := symbol.HasCasing(m.Table()[value])
		var dark [colormap.Steps]bool
		for i, c := range m.Table() {
			dark[i] = symbol.HasCasing(c)
		}
		for scale := 1; scale <= 2; scale++ {
			body, err := legend.PNG(m, symbol.Signs(), 320, scale)
			if err != nil {
				t.Fatal(err)
			}
			picture := decoded(t, body)
			sign := newSign(markerRadii[zoom], scale, 0, 0)
			for name, codes := range map[string][]uint8{"closed": sign.closed, "worse": sign.worse, "worse with a casing": sign.worseDark} {
				line := uint8(outlineEntry)
				if name == "closed" {
					line = casingEntry
				}
				side := sign.side()
				entries := make([]uint8, side*side)
				fill := fillEntry + value*quarters
				stampSign(entries, window{width: side, height: side}, 0, 0, side, codes, ink{line: lineOf(fill, &dark), fill: fill}, line, &dark)
				difference := smallestDifference(picture, side, func(i int) color.NRGBA { return palette[entries[i]] })
				// Of the two signs with a value, a legend has the one for its colour.
				shown := name == "closed" || (name == "worse") != casing
				if shown && difference > allowed {
					t.Errorf("%s at scale %d: the legend has no sign %s as in tiles: the nearest part differs by %d", id, scale, name, difference)
				}
				if !shown && difference <= allowed {
					t.Errorf("%s at scale %d: the legend has the sign %s, which is not that of its colour", id, scale, name)
				}
			}
		}
	}
}

// smallestDifference returns by how much the part of a picture that is most like a sign differs from it, as the largest difference of a
// channel on white paper.
func smallestDifference(picture image.Image, side int, sign func(i int) color.NRGBA) int {
	onWhite := func(c color.Color) [3]int {
		r, g, b, a := c.RGBA()
		white := 0xffff - a
		return [3]int{int((r + white) >> 8), int((g + white) >> 8), int((b + white) >> 8)}
	}
	var want [][3]int
	for i := range side * side {
		want = append(want, onWhite(sign(i)))
	}
	size := picture.Bounds().Size()
	pixels := make([][3]int, size.X*size.Y)
	for i := range pixels {
		pixels[i] = onWhite(picture.At(i%size.X, i/size.X))
	}
	smallest := 0xff
	for y := range size.Y - side {
		for x := range size.X / 4 { // signs are on the left
			largest := 0
			for i := 0; i < len(want) && largest < smallest; i++ {
				got := pixels[(y+i/side)*size.X+x+i%side]
				for k := range got {
					largest = max(largest, got[k]-want[i][k], want[i][k]-got[k])
				}
			}
			smallest = min(smallest, largest)
		}
	}
	return smallest
}
