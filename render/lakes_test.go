package render

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render/palettepng"
)

// renderer is shared by all tests, as a Renderer does not change.
var renderer = sync.OnceValue(func() *Renderer { return New(who2003()) })

func who2003() colormap.Limits {
	return colormap.Limits{Level1: 10, Level2: 50, Title: "WHO 2003"}
}

func who2021() colormap.Limits {
	return colormap.Limits{Level1: 12, Level2: 24, Above: true, Title: "WHO 2021"}
}

// newMap returns the colour map of that name, fitted to limits.
func newMap(t testing.TB, id colormap.ID, limits colormap.Limits) *colormap.Map {
	t.Helper()
	m, err := colormap.New(id, limits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A testLake is a lake and its value in µg/l; a negative number means no value.
type testLake struct {
	lon, lat, chl, areaKM2 float64
}

func viewOf(lakes []testLake) *snapshot.View {
	v := &snapshot.View{}
	for i, l := range lakes {
		c := data.NoChlorophyll
		if l.chl >= 0 {
			c = data.Chlorophyll(math.Round(l.chl * 100))
			v.WithData++
		}
		v.Lakes = append(v.Lakes, data.Lake{
			ID: data.LakeID(fmt.Sprintf("lake_%07d", i)), Point: orb.Point{l.lon, l.lat}, AreaKM2: l.areaKM2,
		})
		v.States = append(v.States, snapshot.State{Chlorophyll: c})
	}
	return v
}

func layerOf(lakes ...testLake) *Layer { return renderer().Layer(viewOf(lakes).Values()) }

// country is 60 lakes between the Rhine and the Oder: some without a value, two blooms, one large lake, and two lakes at
// one point; and a few at the edges of the map.
func country() []testLake {
	var lakes []testLake
	for i := range 60 {
		// The R2 sequence spreads points evenly over a square: multiples of 1/p and 1/p², p³ = p + 1.
		const p = 1.32471795724474602596
		lon := 9 + 4*math.Mod(float64(i)/p, 1)
		lat := 49 + 3*math.Mod(float64(i)/(p*p), 1)
		chl := math.Round(100*math.Exp(1.5+1.2*math.Sin(float64(3*i)))) / 100
		switch {
		case i%7 == 3:
			chl = -1
		case i == 20 || i == 41:
			chl = 130
		}
		lakes = append(lakes, testLake{lon: lon, lat: lat, chl: chl})
	}
	lakes[5].areaKM2 = 536
	lakes[11] = lakes[10]
	lakes[11].chl = 60
	return append(lakes, []testLake{
		{179.99, 10, 30, 0}, {-179.98, 10.01, 3, 0}, {180, -5, 12, 0}, {-180, -5.2, 70, 80_000},
		{0, 85.05, 4, 0}, {90, -85.05, 40, 0}, {10, 85.0512, 90, 0}, {10, 90, 90, 0}, {0, 0, 0, 0},
	}...)
}

// paint draws any window of l, as a tile is drawn.
func paint(l *Layer, w window, style StyleID) []uint8 {
	p := renderer().drawingOf(l).styles[style].withPixels(l, w.zoom)
	var m memory
	m.find(l, w, p, 0)
	m.draw(p, colorsOf(l).scale, w)
	return m.pixels
}

// colorsOf returns the colours that l has by default.
func colorsOf(l *Layer) *colors {
	id := colormap.Default
	if l.chances {
		id = colormap.Forecast
	}
	c := renderer().drawingOf(l).colors[id]
	return &c
}

// sceneOf returns what of l is in reach of w.
func sceneOf(l *Layer, w window, p *style) *scene {
	var m memory
	m.find(l, w, p, 0)
	return &m.scene
}

// fieldOf returns the value field of l in w.
func fieldOf(l *Layer, w window) *field {
	var f field
	h := renderer().styles[Heat]
	f.reset(sceneOf(l, w, h), w, h.painter.(*heat))
	return &f
}

// paletteOf returns the palette of a style at a zoom.
func paletteOf(id colormap.ID, style StyleID, z maptile.Zoom) *palettepng.Palette {
	c := renderer().colors[id]
	return c.paletteOf(style, z)
}

// shadeAt returns the colour and opacity of the pixel of l that holds lake.
func shadeAt(l *Layer, lake testLake, z maptile.Zoom, id colormap.ID) (rgb [3]uint8, alpha uint8) {
	x, y, _ := project(orb.Point{lake.lon, lake.lat})
	shift := uint(MaxZoom-z) + subBits
	w := window{zoom: z, scale: 1, left: int64(x>>shift) * subUnits, top: int64(y>>shift) * subUnits, width: 1, height: 1}
	p := renderer().styles[Heat]
	var m memory
	m.find(l, w, p, 0)
	m.draw(p, renderer().colors[id].scale, w)
	c := paletteOf(id, Heat, z)[m.pixels[0]]
	return [3]uint8{c.R, c.G, c.B}, c.A
}

// reversed returns the lakes in the opposite order.
func reversed[L any](lakes []L) []L {
	r := slices.Clone(lakes)
	slices.Reverse(r)
	return r
}

func mustRender(t fataler, l *Layer, s Spec) []byte {
	t.Helper()
	b, err := renderer().Render(l, s)
	if err != nil {
		t.Fatalf("Render(%+v) = %v", s, err)
	}
	return b
}
