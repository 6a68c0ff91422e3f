package render_test

import (
	"bytes"
	"fmt"
	"image/png"
	"log"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
)

func Example() {
	view := &snapshot.View{
		Lakes:  []data.Lake{{ID: "de_be_wannsee", Point: orb.Point{13.17, 52.43}}},
		States: []snapshot.State{{Chlorophyll: 62_40}}, // hundredths of µg/l
	}
	r := render.New(colormap.Limits{Level1: 10, Level2: 50, Title: "WHO 2003"})
	layer := r.Layer(view.Values())
	spec := render.Spec{
		Tile: maptile.At(orb.Point{13.17, 52.43}, 10), Scale: 2, Style: render.Heat, Colormap: colormap.Default,
	}
	if _, notBlank := r.Fingerprint(layer, spec); !notBlank {
		log.Fatal("no lake in reach")
	}
	file, err := r.Render(layer, spec)
	if err != nil {
		log.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(img.Bounds())
	// Output: (0,0)-(512,512)
}
