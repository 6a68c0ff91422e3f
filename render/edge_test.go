package render

import (
	"math"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// pair returns two lakes of these values, that many pixels of zoom z apart along the equator, and a window around them.
func pair(z maptile.Zoom, pixels float64, a, b float64) (*Layer, window) {
	degrees := 360 / (TileSize * math.Exp2(float64(z)))
	l := layerOf(testLake{lon: 0.3 * degrees, lat: 0.4 * degrees, chl: a}, testLake{lon: (0.3 + pixels) * degrees, lat: 0.4 * degrees, chl: b})
	middle := int64(1) << (z + tileBits - 1 + subBits)
	return l, window{zoom: z, scale: 1, left: middle - 64*subUnits, top: middle - 64*subUnits, width: 192, height: 128}
}

// TestEdgesStep draws a bloom next to a clean lake at any distance: no pixel has the class between, where stamped and where blurred.
func TestEdgesStep(t *testing.T) {
	for z := maptile.Zoom(1); z < waterZoom; z++ {
		classes := entryClasses[min(z/fadeZoom, 1)]()
		for pixels := 0.0; pixels < 60; pixels += 1.7 {
			l, w := pair(z, pixels, 120, 8)
			for name, layer := range map[string]*Layer{"stamped": l, "blurred": blurredCopy(l, z)} {
				if layer == nil {
					continue
				}
				for i, e := range paintField(layer, w) {
					if classes[e] == 2 {
						t.Fatalf("zoom %d, %s, %v pixels apart: pixel %d,%d has the medium class", z, name, pixels, i%w.width, i/w.width)
					}
				}
			}
		}
	}
}

// TestBlurredHighLakesAreHigh draws a lone lake of the highest class of each profile as if lakes were many: all pixels have that class.
func TestBlurredHighLakesAreHigh(t *testing.T) {
	for _, limits := range []colormap.Limits{who2003(), who2021(), {Level1: 15, Level2: 75, Title: "UBA 2015"}} {
		r := New(limits)
		for _, chl := range []float64{limits.Level2 + 0.01, 99, 1000} {
			const z = maptile.Zoom(6)
			l := blurredCopy(r.Layer(viewOf([]testLake{{lon: 13.4, lat: 52.5, chl: chl}}).Values()), z)
			w := windowOf(maptile.At([2]float64{13.4, 52.5}, z), 1)
			var m memory
			m.find(l, w, r.styles[Heat], 0)
			m.draw(r.styles[Heat], r.colors[colormap.Default].scale, w)
			seen, classes := 0, classesOfEntries(r.colors[colormap.Default].scale)
			for i, e := range m.pixels {
				if e == 0 {
					continue
				}
				if seen++; classes[e] != upperClasses {
					t.Fatalf("%s, %v µg/l: pixel %d has the class %d", limits.Title, chl, i, classes[e])
				}
			}
			if seen == 0 {
				t.Errorf("%s, %v µg/l: nothing is drawn", limits.Title, chl)
			}
		}
	}
}

// blurredCopy returns a layer with the lakes of l that are drawn as if they were many; nil at zooms that the tests do not blur.
func blurredCopy(l *Layer, z maptile.Zoom) *Layer {
	if z > maxBlurredZoom {
		return nil
	}
	c := *l
	c.dense, c.blurred, c.grids, c.cores = nil, nil, nil, nil
	for z := range maptile.Zoom(maxBlurredZoom + 1) {
		c.dense = append(c.dense, denseZoom{wide: l.wideAt(z)})
		c.blurred = append(c.blurred, func() bool { return true })
	}
	return &c
}
