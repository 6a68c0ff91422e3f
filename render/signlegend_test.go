package render

import (
	"image"
	"image/color"
	"testing"

	"limnomap/colormap"
	"limnomap/internal/testsize"
	"limnomap/render/legend"
	"limnomap/render/symbol"
)

// TestLegendHasTheSignsOfTiles looks in legends for the symbols as tiles of zoom 10 draw them.
func TestLegendHasTheSignsOfTiles(t *testing.T) {
	const (
		zoom = 10
		// Tiles have quarters of an edge, legends all 256 steps. The difference is below an eighth, per line that meets in the pixel.
		allowed = 255 * 2 / 8
	)
	for _, id := range testsize.Cases(1, colormap.IDs()) {
		m := newMap(t, id, who2003())
		var value uint8 // index of the colour that represents the lowest class
		for i, c := range m.Table() {
			if colormap.Hex(c) == m.Legend().Classes[0].Color {
				value = uint8(i)
			}
		}
		palette := markPalette(m)
		fresh, old := &valueInks[value][0], &valueInks[value][1]
		for scale := 1; scale <= 2; scale++ {
			body, err := legend.PNG(m, symbol.Look{Kind: symbol.Markers, Signs: symbol.Signs()}, 320, scale)
			if err != nil {
				t.Fatal(err)
			}
			picture := decoded(t, body)
			sign, marker := newSign(markerRadii[zoom], scale, 0, 0), newMarker(markerRadii[zoom], scale, 0, 0)
			for _, tt := range []struct {
				name  string
				of    *stamp
				ink   *ink
				outer uint8
				shown bool
			}{
				{"closed", &sign.closed, &closedInk, rimEntry, true},
				{"worse", &sign.byClass[symbol.Medium], fresh, outlineEntry, true},
				{"worse and high", &sign.byClass[symbol.High], fresh, outlineEntry, false},
				{"low", &marker.byClass[symbol.Low], fresh, rimEntry, true},
				{"low and old", &marker.byClass[symbol.Low], old, rimEntry, true},
				{"no value", &marker.byClass[symbol.None], &hollow, rimEntry, true},
				{"medium in the colour of low", &marker.byClass[symbol.Medium], fresh, rimEntry, false},
			} {
				side := tt.of.side()
				entries := make([]uint8, side*side)
				tt.of.put(entries, window{width: side, height: side}, tt.of.half, tt.of.half, tt.ink, tt.outer)
				difference := smallestDifference(picture, side, func(i int) (color.NRGBA, bool) {
					// The pixels that an old colour shares with the line have the full colour in tiles only.
					edge := entries[i] >= fillEntry && entries[i] < oldEntry
					return palette[entries[i]], !edge || tt.ink != old
				})
				if shown := difference <= allowed; shown != tt.shown {
					t.Errorf("%s at scale %d: the legend has the symbol %s as in tiles: %v, want %v; the nearest part differs by %d",
						id, scale, tt.name, shown, tt.shown, difference)
				}
			}
		}
	}
}

// smallestDifference returns by how much the part of a picture that is most like a sign differs from it, as the largest difference of a
// channel on white paper.
func smallestDifference(picture image.Image, side int, sign func(i int) (c color.NRGBA, compared bool)) int {
	onWhite := func(c color.Color) [3]int {
		r, g, b, a := c.RGBA()
		white := 0xffff - a
		return [3]int{int((r + white) >> 8), int((g + white) >> 8), int((b + white) >> 8)}
	}
	var want [][3]int
	var at []int // in the square
	for i := range side * side {
		if c, compared := sign(i); compared {
			want, at = append(want, onWhite(c)), append(at, i)
		}
	}
	size := picture.Bounds().Size()
	pixels := make([][3]int, size.X*size.Y)
	for i := range pixels {
		pixels[i] = onWhite(picture.At(i%size.X, i/size.X))
	}
	smallest := 0xff
	for y := range size.Y - side {
		for x := range size.X * 3 / 4 { // symbols begin there
			largest := 0
			for i := 0; i < len(want) && largest < smallest; i++ {
				got := pixels[(y+at[i]/side)*size.X+x+at[i]%side]
				for k := range got {
					largest = max(largest, got[k]-want[i][k], want[i][k]-got[k])
				}
			}
			smallest = min(smallest, largest)
		}
	}
	return smallest
}
