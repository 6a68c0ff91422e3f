package render

import (
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

var mosaics = flag.String("mosaics", "", "a folder for pictures of many tiles to look at")

// TestMosaics draws the lakes of Germany, those of the demo, and 1.4 million lakes, over a white and a dark ground, for people who look
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
				for ground, c := range map[string]color.NRGBA{"white": {255, 255, 255, 255}, "dark": {0x2b, 0x2b, 0x2b, 255}} {
					save(t, fmt.Sprintf("%s_%s_z%02d_%s.png", name, style, z, ground), mosaicOf(l, at, z, style, c))
				}
			}
		}
	}
	draw("independent", layerOf(bathingSites(t, 2016)...), germany, 5, 12, Heat, Dots, Lakes)
	draw("regional", layerOf(regional(bathingSites(t, 2016), 1)...), germany, 5, 12, Heat)
	draw("demo", renderer().Layer(demoSnapshot(t).Current.Values()), germany, 5, 12, Heat, Dots, Lakes)
	draw("world", layerOf(world(1_400_000)...), orb.Point{20, 55}, 0, 6, Heat)
}

// mosaicOf draws 2 by 2 tiles around a point, or the world.
func mosaicOf(l *Layer, centre orb.Point, z maptile.Zoom, style StyleID, ground color.NRGBA) image.Image {
	w := window{zoom: z, scale: 1, width: 512, height: 512}
	x, y, _ := project(centre)
	shift := uint(MaxZoom - z)
	w.left = int64(x>>shift) - 256*subUnits
	w.top = int64(y>>shift) - 256*subUnits
	w.left, w.top = w.left&^(subUnits-1), max(w.top&^(subUnits-1), 0)
	if z == 0 {
		w.left, w.top, w.width, w.height = 0, 0, 256, 256
	}
	palette := paletteOf(colormap.Default, style, z)
	img := image.NewNRGBA(image.Rect(0, 0, w.width, w.height))
	for i, e := range paint(l, w, style) {
		img.SetNRGBA(i%w.width, i/w.width, palette[e])
	}
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Bounds(), image.NewUniform(ground), image.Point{}, draw.Src)
	draw.Draw(out, out.Bounds(), img, image.Point{}, draw.Over)
	return out
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
