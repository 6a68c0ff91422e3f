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
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

var mosaics = flag.String("mosaics", "", "a folder for pictures of many tiles to look at")

// TestMosaics draws the lakes of Germany, those of the demo, and 1.4 million lakes, over a white, a dark and a coloured ground, for people who look
// at them: go test ./render -run TestMosaics -mosaics FOLDER.
func TestMosaics(t *testing.T) {
	if *mosaics == "" {
		t.Skip("it only draws: -mosaics names a folder for its pictures")
	}
	germany := orb.Point{10.4, 51.2}
	berlin := orb.Point{13.3, 52.6}
	draw := func(name string, l *Layer, centre orb.Point, from, to maptile.Zoom, styles ...StyleID) {
		for z := from; z <= to; z++ {
			at := centre
			if z > 6 {
				at = berlin
			}
			for _, style := range styles {
				for ground, c := range map[string]image.Image{
					"white": image.NewUniform(color.White), "dark": image.NewUniform(color.NRGBA{0x2b, 0x2b, 0x2b, 255}), "map": madeUpMap(),
				} {
					save(t, fmt.Sprintf("%s_%s_z%02d_%s.png", name, style, z, ground), mosaicOf(l, at, z, style, c))
				}
			}
		}
	}
	draw("independent", layerOf(bathingSites(t, 2016)...), germany, 5, 12, Heat, Dots, Lakes)
	draw("regional", layerOf(regional(bathingSites(t, 2016), 1)...), germany, 5, 12, Heat, Dots, Lakes)
	draw("forecast", chanceLayer(regional(bathingSites(t, 2016), 1)...), germany, 4, 12, chanceStyles...)
	draw("demo", renderer().Layer(demoSnapshot(t).Current.Values()), germany, 5, 12, Heat, Dots, Lakes)
	draw("world", layerOf(world(1_400_000)...), orb.Point{20, 55}, 0, 6, Heat)
}

// mosaicOf draws 2 by 2 tiles around a point, or the world.
func mosaicOf(l *Layer, centre orb.Point, z maptile.Zoom, style StyleID, ground image.Image) image.Image {
	w := window{zoom: z, scale: 1, width: 512, height: 512}
	x, y, _ := project(centre)
	shift := uint(MaxZoom - z)
	w.left = int64(x>>shift) - 256*subUnits
	w.top = int64(y>>shift) - 256*subUnits
	w.left, w.top = w.left&^(subUnits-1), max(w.top&^(subUnits-1), 0)
	if z == 0 {
		w.left, w.top, w.width, w.height = 0, 0, 256, 256
	}
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
	m := image.NewRGBA(image.Rect(0, 0, 512, 512))
	for y := range 512 {
		for x := range 512 {
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
