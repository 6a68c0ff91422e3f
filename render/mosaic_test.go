package render

import (
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"limnomap/data"
	"limnomap/data/snapshot"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

var mosaics = flag.String("mosaics", "", "a folder for pictures of many tiles to look at")

// TestMosaics draws the lakes of Germany and of Europe, those of the demo with and without values, and 1.4 million lakes, over a white, a dark and a coloured
// ground, for people who look at them: go test ./render -run TestMosaics -mosaics FOLDER.
func TestMosaics(t *testing.T) {
	if *mosaics == "" {
		t.Skip("it only draws: -mosaics names a folder for its pictures")
	}
	germany := orb.Point{10.4, 51.2}
	berlin := orb.Point{13.3, 52.6}
	constance := orb.Point{9.4, 47.6}
	grounds := map[string]image.Image{
		"white": image.NewUniform(color.White), "dark": image.NewUniform(color.NRGBA{0x22, 0x26, 0x2b, 255}), "map": madeUpMap(),
	}
	draw := func(name string, layer func(*testing.T) *Layer, far, near orb.Point, from, to maptile.Zoom, styles ...StyleID) {
		t.Run(name, func(t *testing.T) {
			l := layer(t)
			for z := from; z <= to; z++ {
				at := far
				if z > 6 {
					at = near
				}
				for _, style := range styles {
					for ground, c := range grounds {
						for scale := 1; scale <= 2; scale++ {
							save(t, fmt.Sprintf("%s_%s_z%02d_%s@%dx.png", name, style, z, ground, scale), mosaicOf(l, at, z, scale, style, c))
						}
					}
				}
			}
		})
	}
	all := []StyleID{Heat, Dots, Lakes}
	draw("independent", func(t *testing.T) *Layer { return layerOf(bathingSites(t, 2016)...) }, germany, berlin, 3, 12, all...)
	draw("regional", func(t *testing.T) *Layer { return layerOf(regional(bathingSites(t, 2016), 1)...) }, germany, berlin, 3, 12, all...)
	draw("europe", func(t *testing.T) *Layer { return layerOf(sites(t, "european", 10_000)...) }, orb.Point{10, 50}, orb.Point{8.8, 45.6}, 3, 12, all...)
	draw("forecast", func(t *testing.T) *Layer { return chanceLayer(regional(bathingSites(t, 2016), 1)...) }, germany, berlin, 3, 12, chanceStyles...)
	demo := demoSnapshot(t).Current
	draw("demo", func(*testing.T) *Layer { return renderer().Layer(demo.Values()) }, germany, berlin, 3, 12, all...)
	draw("constance", func(*testing.T) *Layer { return renderer().Layer(demo.Values()) }, constance, constance, 3, 12, Heat, Lakes)
	// Two of three lakes have no value, large ones among them.
	missing := &snapshot.View{Lakes: demo.Lakes, States: slices.Clone(demo.States)}
	for i := range missing.States {
		if i%3 > 0 {
			missing.States[i].Chlorophyll = data.NoChlorophyll
		}
	}
	draw("missing", func(*testing.T) *Layer { return renderer().Layer(missing.Values()) }, germany, constance, 3, 12, all...)
	draw("missing-forecast", func(*testing.T) *Layer {
		return renderer().Layer(snapshot.NewChances(demo.Lakes, func(i int) (float64, bool) { return float64(i%7) / 6, i%3 > 0 }))
	}, germany, constance, 3, 12, chanceStyles...)
	draw("world", func(*testing.T) *Layer { return layerOf(world(1_400_000)...) }, orb.Point{20, 55}, berlin, 0, 6, Heat, Dots)
}

// mosaicOf draws 2 by 2 tiles around a point, or the world.
func mosaicOf(l *Layer, centre orb.Point, z maptile.Zoom, scale int, style StyleID, ground image.Image) image.Image {
	w := window{zoom: z, scale: scale, width: 512, height: 512}
	x, y, _ := project(centre)
	shift := uint(MaxZoom - z)
	w.left = int64(x>>shift) - 256*subUnits
	w.top = int64(y>>shift) - 256*subUnits
	w.left, w.top = w.left&^(subUnits-1), max(w.top&^(subUnits-1), 0)
	if z == 0 {
		w.left, w.top, w.width, w.height = 0, 0, 256, 256
	}
	w.width, w.height = w.width*scale, w.height*scale
	palette := colorsOf(l).paletteOf(style, z)
	img := image.NewNRGBA(image.Rect(0, 0, w.width, w.height))
	for i, e := range paint(l, w, style) {
		img.SetNRGBA(i%w.width, i/w.width, palette[e])
	}
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Bounds(), ground, image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), img, image.Point{}, draw.Over)
	return out
}

// madeUpMap returns a picture with the colours of a usual street map: land, woods, waters, towns and roads.
func madeUpMap() image.Image {
	m := image.NewRGBA(image.Rect(0, 0, 1024, 1024))
	for y := range 1024 {
		for x := range 1024 {
			u, v := float64(x), float64(y)
			height := math.Sin(u/37) + math.Sin(v/29+u/61) + math.Sin((u+v)/53) + 0.5*math.Sin(u/9)*math.Sin(v/11)
			c := color.RGBA{0xf2, 0xef, 0xe9, 255}
			switch {
			case height > 1.7:
				c = color.RGBA{0xad, 0xd1, 0x9e, 255}
			case height < -2.2:
				c = color.RGBA{0xaa, 0xd3, 0xdf, 255}
			case height < -1.2:
				c = color.RGBA{0xe0, 0xdf, 0xdf, 255}
			}
			if road := math.Abs(math.Mod(v+30*math.Sin(u/80), 128) - 64); road < 1.5 {
				c = color.RGBA{0xf9, 0xd6, 0x9b, 255}
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

func save(t *testing.T, name string, img image.Image) {
	t.Helper()
	f, err := os.Create(filepath.Join(*mosaics, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, img); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
