package tiles_test

import (
	"context"
	"fmt"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles"
)

func Example() {
	renderer := render.New(colormap.Limits{Level1: 10, Level2: 50})
	service, err := tiles.New(renderer, &tiles.Options{Variant: "who2003"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer service.Close()

	starnberg := orb.Point{11.31, 47.91}
	view := &snapshot.View{
		Lakes:    []data.Lake{{ID: "de_by_starnberger_see", Point: starnberg}},
		States:   []snapshot.State{{Chlorophyll: 3_40}},
		WithData: 1,
	}
	for _, point := range []orb.Point{starnberg, {-30, 0}} {
		tile, err := service.Tile(context.Background(), view.Values(), tiles.Request{
			Tile:     maptile.At(point, 10),
			Scale:    1,
			Style:    render.Heat,
			Colormap: colormap.Default,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s, blank: %v\n", tile.Bytes[1:4], tile.Blank)
	}
	// Output:
	// PNG, blank: false
	// PNG, blank: true
}
