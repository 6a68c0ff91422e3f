package render

import (
	"image/color"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

// dotAt returns the colour of the pixel of l that contains lake in the style Dots.
func dotAt(l *Layer, lake testLake, z maptile.Zoom) color.NRGBA {
	x, y, _ := project([2]float64{lake.lon, lake.lat})
	shift := uint(MaxZoom-z) + subBits
	w := window{zoom: z, scale: 1, left: int64(x>>shift) * subUnits, top: int64(y>>shift) * subUnits, width: 1, height: 1}
	return renderer().colors[colormap.Default].palettes[Dots][paint(l, w, Dots)[0]]
}

func TestDotHasTheExactColour(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	for _, chl := range []float64{0, 9.99, 10, 49.99, 50, 1500} {
		for z := maptile.Zoom(0); z <= 18; z++ {
			lake := testLake{lon: 13.4, lat: 52.5, chl: chl}
			if got, want := dotAt(layerOf(lake), lake, z), m.Color(chl); got != want {
				t.Errorf("zoom %d: a lake of %v µg/l is %v, want %v", z, chl, got, want)
			}
		}
	}
}

func TestBloomLiesAbove(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	bloom := testLake{lon: 13.4, lat: 52.5, chl: 120}
	for _, other := range []float64{-1, 0, 119.99} {
		for _, off := range []float64{0, 0.0001, -0.0001} {
			near := testLake{lon: bloom.lon + off, lat: bloom.lat, chl: other}
			for _, l := range []*Layer{layerOf(bloom, near), layerOf(near, bloom)} {
				if got, want := dotAt(l, bloom, 8), m.Color(120); got != want {
					t.Errorf("near a lake of %v µg/l a bloom is %v, want %v", other, got, want)
				}
			}
		}
	}
}

func TestNoValueIsAHollowGreyRing(t *testing.T) {
	lake := testLake{lon: 13.4, lat: 52.5, chl: -1}
	l := layerOf(lake)
	for z := maptile.Zoom(0); z <= 18; z++ {
		// Up to zoom 4 the ring is too small for a hole that is completely empty.
		if got := dotAt(l, lake, z); z > 4 && got.A != 0 {
			t.Errorf("zoom %d: the middle of a ring is %v, want nothing", z, got)
		}
		p := renderer().colors[colormap.Default].palettes[Dots]
		full := 0
		for _, v := range paint(l, windowOf(maptile.At([2]float64{13.4, 52.5}, z), 1), Dots) {
			c := p[v]
			if grey := colormap.NoData(); c.A != 0 && (c.R != grey.R || c.G != grey.G || c.B != grey.B) {
				t.Fatalf("zoom %d: a ring has the colour %v", z, c)
			}
			if c.A == 0xff {
				full++
			}
		}
		if full == 0 {
			t.Errorf("zoom %d: no pixel of the ring is opaque", z)
		}
	}
}

// TestHighestClassHasACasing checks that a bloom is visible on a dark map: in the default map the colours of the highest class,
// and only they, have a casing.
func TestHighestClassHasACasing(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	for i, dark := range renderer().colors[colormap.Default].scale.dark {
		if want := i >= m.Index(who2003().Level2); dark != want {
			t.Errorf("step %d, %s, has a casing: %v, want %v", i, colormap.Hex(m.Table()[i]), dark, want)
		}
	}
	for chl, want := range map[float64]color.NRGBA{49: outlineColor, 51: casingColor} {
		l := layerOf(testLake{lon: 13.4, lat: 52.5, chl: chl})
		p := renderer().colors[colormap.Default].palettes[Dots]
		seen := map[color.NRGBA]bool{}
		for _, v := range paint(l, windowOf(maptile.At([2]float64{13.4, 52.5}, 10), 1), Dots) {
			c := p[v]
			c.A = 0xff
			seen[c] = true
		}
		if !seen[want] || seen[outlineColor] && seen[casingColor] {
			t.Errorf("a lake of %v µg/l: outline seen: %v, casing seen: %v", chl, seen[outlineColor], seen[casingColor])
		}
	}
}

func TestHighestClassIsLarger(t *testing.T) {
	for id, c := range renderer().colors {
		var filled [2]int // pixels completely of the lake's colour
		for i, chl := range []float64{49.99, 50} {
			l := layerOf(testLake{lon: 13.4, lat: 52.5, chl: chl})
			w := windowOf(maptile.At([2]float64{13.4, 52.5}, 10), 1)
			var m memory
			m.find(l, w, renderer().styles[Dots])
			m.draw(renderer().styles[Dots], c.scale, w)
			want := newMap(t, id, who2003()).Color(chl)
			for _, v := range m.pixels {
				if c.palettes[Dots][v] == want {
					filled[i]++
				}
			}
		}
		if filled[0] == 0 || filled[1] <= filled[0] {
			t.Errorf("%s: a marker has %d pixels just below the highest class, %d in it, want more", id, filled[0], filled[1])
		}
	}
}

func TestOverlay(t *testing.T) {
	const fill = fillEntry + 5*quarters  // of some colour
	const cased = fillEntry + 6*quarters // of some dark one
	dark := [colormap.Steps]bool{6: true}
	tests := []struct {
		name    string
		e, line uint8
		q       int
		want    uint8
	}{
		{"outline on nothing", 0, outlineEntry, 1, outlineEntry},
		{"outline on half an outline", outlineEntry + 1, outlineEntry, 2, outlineEntry + 2},
		{"outline on outline", outlineEntry + 3, outlineEntry, 1, outlineEntry + 3},
		{"ring on nothing", 0, ringEntry, 4, ringEntry + 3},
		{"ring on a quarter of a ring", ringEntry, ringEntry, 3, ringEntry + 2},
		{"a quarter outline on colour", fill + 3, outlineEntry, 1, fill + 2},
		{"half an outline on half colour", fill + 1, outlineEntry, 2, fill},
		{"a whole outline on colour", fill + 3, outlineEntry, 4, outlineEntry + 3},
		{"a quarter casing on its colour", cased + 3, casingEntry, 1, cased + 2},
		{"a quarter casing on another colour", fill + 3, casingEntry, 1, fill + 3},
		{"half a casing on another colour", fill + 3, casingEntry, 2, casingEntry + 3},
		{"half an outline on a cased colour", cased, outlineEntry, 2, outlineEntry + 3},
		{"half a casing on an outline", outlineEntry + 3, casingEntry, 2, casingEntry + 3},
		{"half a casing on a quarter of an outline", outlineEntry, casingEntry, 2, casingEntry + 1},
		{"a quarter outline on a ring", ringEntry + 3, outlineEntry, 1, ringEntry + 3},
		{"half a ring on its filling", hollowEntry + 3, ringEntry, 2, hollowEntry + 1},
		{"a whole ring on its filling", hollowEntry + 3, ringEntry, 4, ringEntry + 3},
		{"a quarter outline on the filling of a ring", hollowEntry + 3, outlineEntry, 1, hollowEntry + 3},
		{"half a casing on the filling of a ring", hollowEntry + 3, casingEntry, 2, casingEntry + 3},
		{"half an outline on a ring", ringEntry + 3, outlineEntry, 2, outlineEntry + 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := overlay(tt.e, tt.line, tt.q, &dark); got != tt.want {
				t.Errorf("overlay(%d, %d, %d) = %d, want %d", tt.e, tt.line, tt.q, got, tt.want)
			}
		})
	}
}
