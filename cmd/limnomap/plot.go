package main

import (
	"fmt"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles"
)

// plotFlags are for commands that draw many tiles: warm and export.
type plotFlags struct {
	Bound       bound `help:"Only tiles that show a part of this area; it may cross the antimeridian. If W is negative, write --bound=W,S,E,N." default:"-180,-90,180,90" placeholder:"W,S,E,N" group:"Tiles"`
	Concurrency int   `help:"Tiles drawn at once; 0 is one per processor." default:"0" allowed:"0..1024" placeholder:"N" group:"Tiles"`
	DryRun      bool  `help:"Draw some of the tiles, print how many there are and an estimate of their bytes, and write nothing." group:"Tiles"`
}

// pyramid returns the tiles of these zooms. The caller sets how they are drawn.
func (f *plotFlags) pyramid(zooms zoomRange) tiles.Pyramid {
	return tiles.Pyramid{
		MinZoom: maptile.Zoom(zooms.Min),
		MaxZoom: maptile.Zoom(zooms.Max),
		Bound:   orb.Bound{Min: orb.Point{f.Bound.West, f.Bound.South}, Max: orb.Point{f.Bound.East, f.Bound.North}},
	}
}

// service returns a service that draws the tiles of a source and keeps them in opts.Dir, if there is one.
func (f *plotFlags) service(s *source, opts tiles.Options) (*tiles.Service, error) {
	opts.Renders = f.Concurrency
	opts.MaxZoom = render.MaxZoom
	opts.Variant = s.options.Profile.ID
	if s.store != nil {
		opts.Pixels = s.store
	}
	return tiles.New(render.New(s.limits()), &opts)
}

// countText says how many tiles of a pyramid are drawn.
func countText(drawn, all int64) string {
	return fmt.Sprintf("Of %d tiles %d have a lake in reach; the other %.2f %% are blank and were skipped.",
		all, drawn, 100*float64(all-drawn)/float64(max(all, 1)))
}

// weekOf returns the week of a day, written as YYYY-MM-DD, if there is a map of that week. For "" it returns the newest
// week.
func weekOf(snapshot *snapshot.Snapshot, day string) (data.Week, error) {
	if day == "" {
		return snapshot.Current.Week, nil
	}
	if len(snapshot.Weeks) == 0 {
		return 0, fmt.Errorf("--date %s: the data have no observations; remove the flag", day)
	}
	date, err := data.ParseDate(day)
	if err != nil || !snapshot.Serves(date.Week()) {
		return 0, fmt.Errorf("--date %.80q is not a day as YYYY-MM-DD %s", day, snapshot.ServedDays())
	}
	return date.Week(), nil
}
