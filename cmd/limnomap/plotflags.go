package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render"
	"limnomap/tiles"
)

// plotFlags say which tiles are drawn ahead of anybody's asking.
type plotFlags struct {
	Bound       bound `help:"Only tiles that show some of this part of the globe; it may cross the antimeridian. Write --bound=W,S,E,N where W is negative." default:"-180,-90,180,90" placeholder:"W,S,E,N" group:"Tiles"`
	Concurrency int   `help:"Tiles drawn at once; 0 is as many as there are processors." default:"0" placeholder:"N" group:"Tiles"`
	DryRun      bool  `help:"Draw some of the tiles, tell how many there are and estimate their bytes, and write nothing." group:"Tiles"`
}

// maxConcurrency bounds --concurrency: no machine draws more tiles at once, and each takes some megabytes to draw.
const maxConcurrency = 1024

func (f *plotFlags) check() error {
	if f.Concurrency < 0 || f.Concurrency > maxConcurrency {
		return fmt.Errorf("--concurrency %d: allowed are 1 to %d, or 0 for as many as there are processors", f.Concurrency, maxConcurrency)
	}
	return nil
}

// pyramid returns the pyramid of the zooms, which is to be drawn in some way.
func (f *plotFlags) pyramid(zooms zoomRange) tiles.Pyramid {
	return tiles.Pyramid{
		MinZoom: maptile.Zoom(zooms.Min),
		MaxZoom: maptile.Zoom(zooms.Max),
		Bound:   orb.Bound{Min: orb.Point{f.Bound.West, f.Bound.South}, Max: orb.Point{f.Bound.East, f.Bound.North}},
	}
}

// service returns a service that draws the tiles of a source.
func (f *plotFlags) service(s *source, opts tiles.Options) (*tiles.Service, error) {
	opts.Renders = f.Concurrency
	opts.MaxZoom = render.MaxZoom
	opts.Variant = s.options.Profile.ID
	return tiles.New(render.New(s.limits()), &opts)
}

// counted says how many tiles of a pyramid there are to draw.
func counted(shown, all int64) string {
	return fmt.Sprintf("Of %d tiles %d have a lake in reach; the other %.2f %% are blank and were passed by.",
		all, shown, 100*float64(all-shown)/float64(max(all, 1)))
}

// interrupted returns err, or if somebody has ended the command what that means for its result.
func interrupted(ctx context.Context, err error, result string) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("interrupted: " + result)
	}
	return err
}

// tileVars are the names that the help of flags for tiles lists, and their defaults.
func tileVars() kong.Vars {
	var styles, colormaps []string
	for _, s := range render.Styles() {
		styles = append(styles, string(s.ID))
	}
	for _, id := range colormap.IDs() {
		colormaps = append(colormaps, string(id))
	}
	return kong.Vars{
		"styles": strings.Join(styles, ","), "style": styles[0],
		"cachedstyles": strings.Join(append(styles, string(tiles.VectorStyle)), ","),
		"colormaps":    strings.Join(colormaps, ","), "colormap": string(colormap.Default),
	}
}

// weekOf returns the week that holds a day written as YYYY-MM-DD, which must be one that there is a map of; for "" the
// newest one.
func weekOf(snap *data.Snapshot, day string) (data.Week, error) {
	if day == "" {
		return snap.Current.Week, nil
	}
	if len(snap.Weeks) == 0 {
		return 0, fmt.Errorf("--date %s: there is no observation in the data; leave it out", day)
	}
	first, last := snap.Weeks[0].Week, snap.Weeks[len(snap.Weeks)-1].Week
	date, err := data.ParseDate(day)
	if err != nil || date.Week() < first || date.Week() > last {
		return 0, fmt.Errorf("--date %.80q is not a day as YYYY-MM-DD from %s to %s", day, first.Monday(), last.Sunday())
	}
	return date.Week(), nil
}
