package render

import (
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/fogleman/gg"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render/symbol"
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
			if c.A != 0 && !isGrey(c) {
				t.Fatalf("zoom %d: a ring has the colour %v", z, c)
			}
			if c == colormap.NoData() {
				full++
			}
		}
		if full == 0 {
			t.Errorf("zoom %d: no pixel of the ring is all grey", z)
		}
	}
}

// isGrey reports whether c is the grey of no data, white or a mixture of both.
func isGrey(c color.NRGBA) bool {
	c.A = 0xff
	for q := range quarters + 1 {
		if c == mixed(whiteColor, colormap.NoData(), q, quarters) {
			return true
		}
	}
	return false
}

// TestAllValuesHaveTheSameLines draws a lake of each colour in each colour map, and without a value: the pixels around the
// colour are those of the line and the rim, whatever the value.
func TestAllValuesHaveTheSameLines(t *testing.T) {
	lake := testLake{lon: 13.4, lat: 52.5, areaKM2: 20}
	for id, c := range renderer().colors {
		m := newMap(t, id, who2003())
		for _, style := range []StyleID{Dots, Lakes} {
			for _, z := range []maptile.Zoom{0, 5, 10, 12} {
				w := windowOf(maptile.At([2]float64{lake.lon, lake.lat}, z), 1)
				var first [3][]uint8 // by class, with a placeholder for the colour
				for i := range m.Table() {
					lake.chl = 0
					if i > 0 {
						lake.chl = m.Threshold(i) + 0.01
					}
					lines := paint(layerOf(lake), w, style)
					for k, e := range lines {
						if e >= fillEntry {
							lines[k] = fillEntry + (e-fillEntry)%quarters
						}
					}
					class := c.scale.class(data.Chlorophyll(100 * lake.chl))
					if style == Lakes {
						class = 0 // a water has no shape of its class
					}
					if first[class] == nil {
						first[class] = lines
					}
					if !slices.Equal(lines, first[class]) {
						t.Fatalf("%s, %s zoom %d: the lines around %v µg/l are not those of its class", id, style, z, lake.chl)
					}
				}
			}
		}
	}
}

// TestDotHasTheShapeOfItsClass compares a marker with the shapes of all classes: it covers its own best.
func TestDotHasTheShapeOfItsClass(t *testing.T) {
	for class, chl := range map[symbol.Class]float64{symbol.None: -1, symbol.Low: 9.99, symbol.Medium: 10, symbol.High: 50} {
		for z := maptile.Zoom(0); z <= 18; z++ {
			for scale := 1; scale <= 2; scale++ {
				lake := testLake{lon: 13.4, lat: 52.5, chl: chl}
				tile := maptile.At([2]float64{lake.lon, lake.lat}, z)
				w := windowOf(tile, scale)
				drawn := paint(layerOf(lake), w, Dots)
				x, y, _ := project(orb.Point{lake.lon, lake.lat})
				shift := uint(MaxZoom - z)
				position := func(v uint32, edge int64) float64 {
					return float64((int64(v>>shift)-edge)&^(markerUnits-1)) / float64(w.step())
				}
				px, py := position(x, w.left), position(y, w.top)
				best, least := symbol.None, math.MaxInt
				for _, c := range symbol.Classes() {
					whole := c.Shapes(markerRadii[min(int(z), len(markerRadii)-1)])[0]
					differ := 0
					dc := gg.NewContext(w.width, w.width)
					whole.AddTo(dc, px, py, float64(scale))
					for i, q := range covered(dc) {
						if (q >= 2) != (drawn[i] > rimEntry || drawn[i] == darkLine[0]) {
							differ++
						}
					}
					if differ < least {
						best, least = c, differ
					}
				}
				// Half a pixel at the edge may round otherwise at another place.
				if best != class || least > 4 {
					t.Errorf("zoom %d scale %d: the marker of %v µg/l is most like class %d, but for %d pixels, want %d", z, scale, chl, best, least, class)
				}
			}
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
			m.find(l, w, renderer().styles[Dots], 0)
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
	const (
		fill = fillEntry + 5*quarters // of some colour
		old  = oldEntry + 5
		rim  = rimEntry + quarters - 1
	)
	tests := []struct {
		name    string
		e, line uint8
		q       uint8
		want    uint8
	}{
		{"rim on nothing", 0, rimEntry, 1, rimEntry},
		{"rim on half a rim", rimEntry + 1, rimEntry, 2, rimEntry + 2},
		{"rim on rim", rim, rimEntry, 1, rim},
		{"a whole rim on colour", fill + 3, rimEntry, 4, rim},
		{"a quarter of a rim on colour", fill + 3, rimEntry, 1, fill + 3},
		{"half a rim on colour", fill + 3, rimEntry, 2, rim},
		{"half a rim on an old colour", old, rimEntry, 2, rim},
		{"a quarter of a rim on a line", darkLine[0], rimEntry, 1, darkLine[0]},
		{"half a rim on a line", greyLine[1], rimEntry, 2, rim},
		{"half a rim on an outline", outlineEntry + 3, rimEntry, 2, rim},
		{"half a rim on a quarter of an outline", outlineEntry, rimEntry, 2, rimEntry + 1},
		{"half an outline on a rim", rim, outlineEntry, 2, outlineEntry + 3},
		{"half an outline on half an outline", outlineEntry + 1, outlineEntry, 2, outlineEntry + 2},
		{"half a rim on the filling of a water without a value", hollowEntry + 3, rimEntry, 2, rim},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := overlay(tt.e, tt.line, tt.q); got != tt.want {
				t.Errorf("overlay(%d, %d, %d) = %d, want %d", tt.e, tt.line, tt.q, got, tt.want)
			}
		})
	}
}
