package render

import (
	"fmt"
	"math"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
)

// square returns a lake at the equator whose outline is a square of that many pixels of zoom z, and a window around it.
func square(z maptile.Zoom, side float64, scale int) (testShore, window) {
	px := 360 / (TileSize * math.Exp2(float64(z)))
	half := side / 2 * px
	ring := orb.Ring{{-half, -half}, {half, -half}, {half, half}, {-half, half}, {-half, -half}}
	middle := int64(1) << (z + tileBits - 1 + subBits)
	w := window{zoom: z, scale: scale, left: middle - 32*subUnits, top: middle - 32*subUnits, width: 64 * scale, height: 64 * scale}
	return testShore{testLake{chl: 30, areaKM2: 500}, orb.MultiPolygon{{ring}}}, w
}

// TestOutlinesHaveASoftEdge draws a lake by its outline at each zoom of the field: inside it is opaque, it fades within three pixels outside, and
// beyond there is nothing. An outline of less than six pixels is a disc.
func TestOutlinesHaveASoftEdge(t *testing.T) {
	for z := maptile.Zoom(3); z < waterZoom; z++ {
		for _, side := range []float64{6.5, 20, 40} {
			for scale := 1; scale <= 2; scale++ {
				lake, w := square(z, side, scale)
				l, palette := layerOfShores(t, lake), paletteOf(colormap.Default, Heat, z)
				if small, _ := square(z, 5.5, 1); layerOfShores(t, small).sites[0].glows(z) {
					t.Errorf("zoom %d: a lake of 5.5 pixels is drawn by its outline", z)
				}
				most := palette[paintField(l, w)[(w.height/2)*w.width+w.width/2]].A
				for i, e := range paintField(l, w) {
					x := (float64(i%w.width)+0.5)/float64(scale) - 32
					y := (float64(i/w.width)+0.5)/float64(scale) - 32
					beyond := max(math.Abs(x), math.Abs(y)) - side/2
					a := palette[e].A
					switch {
					case beyond > glowRadius+0.6 && a != 0:
						t.Fatalf("zoom %d, scale %d, %v pixels wide: %.2f pixels beyond the shore the alpha is %d, want 0", z, scale, side, beyond, a)
					case beyond < -1 && float64(a) < 0.8*float64(most):
						t.Fatalf("zoom %d, scale %d, %v pixels wide: %.2f pixels within the shore the alpha is %d of %d", z, scale, side, -beyond, a, most)
					}
				}
			}
		}
	}
}

// TestOutlinesOfTheFieldAreCrops compares tiles of lakes with outlines with a larger picture.
func TestOutlinesOfTheFieldAreCrops(t *testing.T) {
	lakes := lakeland()
	l := layerOfShores(t, lakes...)
	rapid.Check(t, func(t *rapid.T) {
		sameAsCrops(t, l, drawTile(t, places(lakes)), rapid.IntRange(1, 2).Draw(t, "scale"), Heat)
	})
}

// TestAPondIsSmall measures how far a small lake that is alone is visible from the south of Bavaria to the north of Germany, where opacity is a twentieth or more: at
// zoom 9 at most 2 km, and at no zoom more than 10.5 pixels.
func TestAPondIsSmall(t *testing.T) {
	for _, lat := range []float64{47, 47.6, 51, 55} {
		t.Run(fmt.Sprint(lat), func(t *testing.T) { testAPondIsSmall(t, testLake{lon: 10, lat: lat, chl: 5, areaKM2: 0.05}) })
	}
}

func testAPondIsSmall(t *testing.T, lake testLake) {
	l := layerOf(lake)
	for z := range maptile.Zoom(fadeZoom) {
		w := windowOf(maptile.At(orb.Point{lake.lon, lake.lat}, z), 2).widened(12)
		palette, farthest := paletteOf(colormap.Default, Heat, z), 0.0
		p := heatPicture{window: w, classes: paint(l, w, Heat)}
		x, y := p.at(&l.sites[0])
		for row := 0; row < w.height; row += 2 {
			for column := 0; column < w.width; column += 2 {
				sum := 0 // of four pixels: single ones are dithered
				for i := range 4 {
					sum += int(palette[p.classes[(row+i/2)*w.width+column+i%2]].A)
				}
				if sum/4 >= 0xff/20 {
					farthest = max(farthest, math.Hypot(float64(column)+1-x, float64(row)+1-y)/2)
				}
			}
		}
		// A pixel is 40,075 km wide at the equator, divided by the pixels around it.
		km := farthest * 40_075 * math.Cos(lake.lat*math.Pi/180) / (TileSize * math.Exp2(float64(z)))
		t.Logf("zoom %d: visible up to %.1f pixels, %.1f km", z, farthest, km)
		if farthest > 10.5 || z == 9 && km > 2 {
			t.Errorf("zoom %d: a pond is visible up to %.1f pixels or %.1f km, want at most 10.5, and 2 km at zoom 9", z, farthest, km)
		}
	}
}
