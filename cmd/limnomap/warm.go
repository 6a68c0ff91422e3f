package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/tiles"
	"limnomap/tiles/disk"
)

type warmCmd struct {
	Zoom     zoomRange       `help:"Zooms, such as 7 or 0-9." default:"0-9" group:"Tiles"`
	Date     []string        `help:"Weeks of these days; by default the newest." placeholder:"YYYY-MM-DD" group:"Tiles"`
	Style    []tiles.StyleID `help:"Styles: ${enum}." enum:"${styles}" default:"${style}" group:"Tiles"`
	Colormap []colormap.ID   `help:"Colour maps: ${enum}." enum:"${colormaps}" default:"${colormap}" group:"Tiles"`
	Scale    []int           `help:"Scales: ${enum}; 2 is for high-density screens." enum:"1,2" default:"1" group:"Tiles"`
	plotFlags
	sourceFlags
	cacheFlags
}

func (warmCmd) Help() string {
	return `Use the same --db, --profile, --stale-after, --sample-prefer, --cache-dir and --cache-disk as serve: then the server does not draw these tiles
again. Tiles that exist already are not drawn again, so an interrupted command continues where it was, and after an import only
the changed tiles are drawn. A running server with the same folder finds the tiles at once.

Blank tiles take no space and are skipped. The command stops before the folder is full: more tiles would evict those that
were drawn first.`
}

// A warming has the tiles to draw, in order.
type warming struct {
	service  *tiles.Service
	snapshot *snapshot.Snapshot
	weeks    []data.Week
	pyramids []tiles.Pyramid // of each week
}

// Check checks the database without opening it.
func (c *warmCmd) Check(context.Context) error { return c.checkSource(false) }

// Run draws tiles to disk until all are there or ctx ends.
func (c *warmCmd) Run(ctx context.Context, con *console) error {
	return interrupted(ctx, c.warm(ctx, con), "nothing was written")
}

func (c *warmCmd) warm(ctx context.Context, con *console) (err error) {
	folder := c.folder(con.log)
	if folder == "" {
		return errors.New("there is no disk cache to warm: --cache-dir names its folder, and --cache-disk its size, which may not be 0")
	}
	source, snapshot, err := c.load(ctx, time.Now())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	service, err := c.service(source, tiles.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	w := &warming{service: service, snapshot: snapshot, pyramids: c.pyramids()}
	if w.weeks, err = c.weeks(snapshot); err != nil {
		return err
	}
	if c.DryRun { // without the folder, which would be created
		return w.estimate(ctx, con, disk.Room(int64(c.CacheDisk)))
	}
	cache, err := c.openCache(folder, slog.New(slog.DiscardHandler), nil) // no log: Warm returns the faults of the folder
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.Close()) }()
	return w.run(ctx, con, cache)
}

// pyramids returns one pyramid for each combination of style, colour map and scale.
func (c *warmCmd) pyramids() []tiles.Pyramid {
	var all []tiles.Pyramid
	for _, style := range distinct(c.Style) {
		for _, colors := range distinct(c.Colormap) {
			for _, scale := range distinct(c.Scale) {
				p := c.pyramid(c.Zoom)
				p.Style, p.Colormap, p.Scale = style, colors, scale
				all = append(all, p)
			}
		}
	}
	return all
}

func (c *warmCmd) weeks(snapshot *snapshot.Snapshot) ([]data.Week, error) {
	days := c.Date
	if len(days) == 0 {
		days = []string{""}
	}
	var weeks []data.Week
	for _, day := range days {
		w, err := weekOf(snapshot, day)
		if err != nil {
			return nil, err
		}
		weeks = append(weeks, w)
	}
	return distinct(weeks), nil
}

// distinct returns the values without repetitions, which would be counted twice.
func distinct[T comparable](values []T) []T {
	var unique []T
	for _, v := range values {
		if !slices.Contains(unique, v) {
			unique = append(unique, v)
		}
	}
	return unique
}

// each calls visit for each plot, one after the other: a week of a continent takes a lot of memory.
func (w *warming) each(ctx context.Context, visit func(*tiles.Plot) error) error {
	for _, week := range w.weeks {
		values, err := w.snapshot.Values(ctx, week)
		if err != nil {
			return err
		}
		for _, p := range w.pyramids {
			plot, err := w.service.Plot(ctx, values, p)
			if err != nil {
				return err
			}
			if err := visit(plot); err != nil {
				return err
			}
		}
	}
	return nil
}

// estimate prints how much there is to draw, and writes nothing. The disk has room for that many bytes.
func (w *warming) estimate(ctx context.Context, con *console, room int64) error {
	var shown, bytes int64
	err := w.each(ctx, func(p *tiles.Plot) error {
		survey, err := p.Survey(ctx)
		if err != nil {
			return err
		}
		estimate, err := p.Estimate(ctx, survey, disk.EntrySize)
		shown += survey.Tiles
		bytes += estimate.DiskBytes
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(con.out, "%s\nThey would take about %s on disk, estimated from some of them, including those that exist already.\n",
		countText(shown, w.size()), formatMB(bytes))
	if err == nil && bytes > room {
		_, err = fmt.Fprintf(con.out, "That is too much: --cache-disk has room for %s.\n", formatMB(room))
	}
	return err
}

// size returns the number of tiles, including blank ones.
func (w *warming) size() int64 {
	var n int64
	for _, p := range w.pyramids {
		n += p.Size() * int64(len(w.weeks))
	}
	return n
}

// run draws all plots, and prints how many tiles it drew, also after an error.
func (w *warming) run(ctx context.Context, con *console, cache *disk.Cache) error {
	fill := disk.NewFill(cache)
	var shown int64
	err := w.each(ctx, func(p *tiles.Plot) error {
		survey, err := p.Survey(ctx)
		shown += survey.Tiles
		return err
	})
	if err != nil {
		return err
	}
	room := cache.Room() // only now: the cache counts what is in the folder in the background
	if least := shown * disk.MinEntrySize; least > room {
		return fmt.Errorf("%d tiles take %s on disk or more, but --cache-disk and --cache-min-free leave room for %s, so the last tiles would evict the first: "+
			"raise the limits, free some of the disk, or choose fewer zooms, dates or styles; nothing was written", shown, formatMB(least), formatMB(room))
	}
	progress := newProgress(con, "warming", shown, time.Now)
	var all tiles.Warmed
	err = w.each(ctx, func(p *tiles.Plot) error {
		warmed, err := p.Warm(ctx, fill, progress.step)
		all.Drawn += warmed.Drawn
		all.Found += warmed.Found
		return err
	})
	took := progress.finish()
	_, printErr := fmt.Fprintf(con.out, "%d tiles drawn, %d existed already: %s on disk, in %s.\n%s\n",
		all.Drawn, all.Found, formatMB(fill.Bytes()), took, countText(shown, w.size()))
	if err == nil {
		return printErr
	}
	if errors.Is(err, disk.ErrFull) {
		return fmt.Errorf("%w after %d of %d tiles: more would evict those that were drawn first; raise --cache-disk, "+
			"free some of the disk, or choose fewer zooms, dates or styles", err, all.Drawn+all.Found, shown)
	}
	return interrupted(ctx, err, fmt.Sprintf("%d of %d tiles are warm; the same command continues from there", all.Drawn+all.Found, shown))
}
