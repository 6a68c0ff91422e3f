package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles"
	"limnomap/tiles/archive"
	"limnomap/tiles/disk"
)

type exportCmd struct {
	File     string        `arg:"" help:"File to write: FILE.pmtiles, FILE.mbtiles, or DIR/ with a slash for a folder of z/x/y.png."`
	Zoom     zoomRange     `help:"Zooms, such as 7 or 0-10." default:"0-10" group:"Tiles"`
	Date     string        `help:"The week of this day; by default the newest." placeholder:"YYYY-MM-DD" group:"Tiles"`
	Style    tiles.StyleID `help:"Style: ${enum}." enum:"${styles}" default:"${style}" group:"Tiles"`
	Colormap colormap.ID   `help:"Colour map: ${enum}." enum:"${colormaps}" default:"${colormap}" group:"Tiles"`
	Scale    int           `help:"Scale: ${enum}; 2 is for high-density screens." enum:"1,2" default:"1" group:"Tiles"`
	Force    bool          `help:"Overwrite an existing file. A folder must be empty."`
	plotFlags
	sourceFlags
	Attribution string `help:"Attribution of the data, shown on maps before the credit lines of satellite products." placeholder:"TEXT" group:"Data"`
}

func (exportCmd) Help() string {
	return `The file is a map for hosts that do not run limnomap. Pages read a PMTiles from any host that supports range requests, apps
and GDAL read an MBTiles, and everything reads a folder. It has the tiles that a server with the same data would serve, without
the blank ones: readers show nothing if a tile is missing.

The styles dots and lakes show the closures that are active at the time of the export; for a week before the newest, those at its
end. If the data have official statements, the metadata has that time as statements_at. Export the map again when closures change.

The same data and flags give the same bytes, except for the newest week in dots and lakes if the data have official statements.
An existing file stays until the new one is complete; an export that fails leaves nothing behind, and what one that is killed
leaves, the next export of the same file removes. A server may use the same database meanwhile.`
}

// Run writes the archive, or nothing.
func (c *exportCmd) Run(ctx context.Context, con *console) error {
	return interrupted(ctx, c.export(ctx, con), "nothing was written")
}

func (c *exportCmd) export(ctx context.Context, con *console) (err error) {
	if err := c.checkFile(); err != nil {
		return err
	}
	now := time.Now()
	source, snapshot, err := c.load(ctx, now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	service, err := c.service(source, tiles.Options{Logger: con.log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	week, err := weekOf(snapshot, c.Date)
	if err != nil {
		return err
	}
	var statementsAt time.Time // when the statements are active that the map shows; zero if it shows none
	if _, lakes := snapshot.Advisories.All(); len(lakes) > 0 && len(c.signs()) > 0 {
		statementsAt = week.End()
	}
	if !statementsAt.IsZero() && week == snapshot.Current.Week {
		statementsAt = now
	} else {
		snapshot = snapshot.WithoutStatements() // its version depends only on the data and the day
	}
	view, err := snapshot.View(ctx, week)
	if err != nil {
		return err
	}
	pyramid := c.pyramid(c.Zoom)
	pyramid.Style, pyramid.Colormap, pyramid.Scale = c.Style, c.Colormap, c.Scale
	plot, err := service.Plot(ctx, view.Values(), pyramid)
	if err != nil {
		return err
	}
	survey, err := plot.Survey(ctx)
	if err != nil {
		return err
	}
	count := countText(survey.Tiles, pyramid.Size())
	if c.DryRun {
		estimate, err := plot.Estimate(ctx, survey, disk.EntrySize)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(con.out, "%s\nAbout %d tiles of %s would be written, estimated from some of them.\n",
			count, survey.Tiles-estimate.Blank, formatMB(estimate.Bytes))
		return err
	}
	meta, err := c.metadata(source, snapshot, view, survey.Extent, statementsAt)
	if err != nil {
		return err
	}
	written, err := c.write(ctx, con, plot, survey, meta)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(con.out, "%s: %s\n%s\n", c.File, written, count)
	return err
}

// signs returns the signs that the style draws.
func (c *exportCmd) signs() []tiles.Sign {
	styles := render.Styles()
	return styles[slices.IndexFunc(styles, func(s tiles.Style) bool { return s.ID == c.Style })].Signs
}

// checkFile checks whether File may be written, before the work begins. The archive checks again at the end.
func (c *exportCmd) checkFile() error {
	if strings.HasSuffix(c.File, "/") || strings.HasSuffix(c.File, string(os.PathSeparator)) {
		return checkFolder(filepath.Clean(c.File))
	}
	return checkTarget(c.File, c.Force)
}

// write writes the tiles of a plot to an archive, and returns a text that says what it wrote.
func (c *exportCmd) write(ctx context.Context, con *console, plot *tiles.Plot, survey tiles.Survey, meta archive.Metadata) (string, error) {
	file, err := archive.Create(c.File, meta)
	if err != nil {
		return "", err
	}
	defer file.Abort()
	progress := newProgress(con, "exporting", survey.Tiles, time.Now)
	var written, bytes int64
	err = plot.Draw(ctx, func(t maptile.Tile, png []byte) error {
		progress.step()
		if png == nil {
			return nil
		}
		written++
		bytes += int64(len(png))
		return file.Add(t, png)
	})
	took := progress.finish()
	if err != nil {
		return "", err
	}
	// Before Close: it renames the file, which an interrupt does not undo.
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d tiles of %s in %s.", written, formatMB(bytes), took), nil
}

// metadata returns the metadata of the archive. They depend only on the data, the flags and statementsAt, so that the same ones give
// the same bytes.
func (c *exportCmd) metadata(s *source, snapshot *snapshot.Snapshot, view *snapshot.View, extent orb.Bound, statementsAt time.Time) (archive.Metadata, error) {
	colors, err := colormap.New(c.Colormap, s.limits())
	if err != nil {
		return archive.Metadata{}, err
	}
	legend, err := legendJSON(colors, c.signs())
	if err != nil {
		return archive.Metadata{}, err
	}
	if extent.IsZero() { // no lake in the bound
		extent = tiles.World()
	}
	meta := archive.Metadata{
		Name:        "limnomap chlorophyll-a",
		Description: fmt.Sprintf("Chlorophyll-a of lakes, in µg/l, measured by satellite or in samples: the map of %s. %s", view.Week, colors.Legend().Note),
		Attribution: c.attribution(s.notice, snapshot),
		Version:     "1.0.0",
		Bound:       extent,
		MinZoom:     maptile.Zoom(c.Zoom.Min),
		MaxZoom:     maptile.Zoom(c.Zoom.Max),
		Center:      extent.Center(),
		CenterZoom:  maptile.Zoom(min(max(tiles.ZoomFor(extent), c.Zoom.Min), c.Zoom.Max)),
		More: map[string]string{
			"week":     view.Week.String(),
			"date":     view.AsOf.String(),
			"snapshot": snapshot.Version,
			"style":    string(c.Style),
			"legend":   string(legend),
		},
	}
	if !statementsAt.IsZero() {
		meta.More["statements_at"] = statementsAt.UTC().Format(time.RFC3339)
	}
	if s.notice != "" {
		meta.Description = s.notice + ". " + meta.Description
	}
	return meta, nil
}

// attribution returns whose data the map shows: first that they are not real if they are not, and last the credit lines of satellite
// products that the operator's attribution does not contain.
func (c *exportCmd) attribution(notice string, snapshot *snapshot.Snapshot) string {
	parts := []string{notice, c.Attribution}
	for _, credit := range creditsOf(snapshot.Sources()) {
		if !strings.Contains(c.Attribution, credit.Text) {
			parts = append(parts, credit.Text)
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " | ")
}

// legendJSON returns the legend of a style that draws these signs, as legend.json has it.
func legendJSON(colors *colormap.Map, signs []tiles.Sign) ([]byte, error) {
	if len(signs) == 0 {
		return json.Marshal(colors.Legend())
	}
	return json.Marshal(tiles.Legend{Legend: colors.Legend(), Signs: signs})
}
