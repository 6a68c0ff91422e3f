package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"limnomap/render"
	"limnomap/tiles"
	"limnomap/tiles/disk"
)

// cacheTiles select tiles of a disk cache.
type cacheTiles struct {
	CacheDir string          `help:"Folder of the tile cache on disk. By default a folder in the user's cache folder." placeholder:"DIR"`
	Bound    *bound          `help:"Only tiles that show a part of this area; it may cross the antimeridian. If W is negative: --bound=-10,36,4,44." placeholder:"W,S,E,N"`
	Zoom     *zoomRange      `help:"Only tiles of these zooms, such as 7 or 0-9." placeholder:"ZOOMS"`
	Style    []tiles.StyleID `help:"Only tiles of these styles: ${enum}; mvt is the vector tiles." enum:"${cachedstyles}" placeholder:"STYLE"`
}

// selective reports whether the flags exclude any tile.
func (c *cacheTiles) selective() bool { return c.Bound != nil || c.Zoom != nil || len(c.Style) > 0 }

func (c *cacheTiles) has(key tiles.Key) bool {
	return (c.Bound == nil || c.Bound.overlaps(key.Tile)) &&
		(c.Zoom == nil || c.Zoom.contains(key.Tile.Z)) &&
		(len(c.Style) == 0 || slices.Contains(c.Style, key.Style))
}

// cacheFiles counts files of the cache and their bytes.
type cacheFiles struct{ files, bytes int64 }

func (c *cacheFiles) add(e disk.Entry) {
	c.files++
	c.bytes += e.Bytes
}

func (c cacheFiles) String() string {
	return fmt.Sprintf("%d (%.1f MiB)", c.files, float64(c.bytes)/(1<<20))
}

// walk calls visit for each selected tile with its key, and for each damaged or unfinished file. Then it calls report, also
// after an error.
func (c *cacheTiles) walk(ctx context.Context, visit func(tiles.Key, disk.Entry) error, report func() error) error {
	if c.CacheDir == "" {
		dir, err := userCacheDir()
		if err != nil {
			return fmt.Errorf("--cache-dir is required: %w", err)
		}
		c.CacheDir = dir
	}
	folder, err := disk.OpenFolder(c.CacheDir)
	if err != nil {
		return fmt.Errorf("--cache-dir: %w", err)
	}
	defer folder.Close()
	err = folder.Walk(ctx, func(e disk.Entry) error {
		var key tiles.Key
		if e.Err == nil {
			if key, err = tiles.ParseKey(e.Key); err != nil {
				e.Err = fmt.Errorf("%w: %w", disk.ErrDamaged, err)
			}
		}
		if e.Err == nil && !c.has(key) {
			return nil
		}
		return visit(key, e)
	})
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted: the rest of the folder was not visited")
	}
	return errors.Join(report(), err)
}

type cacheStatsCmd struct{ cacheTiles }

func (c *cacheStatsCmd) Run(ctx context.Context, con *console) error {
	s := cacheStats{byKind: make(map[cacheKind]*cacheFiles)}
	return c.walk(ctx, s.add, func() error { return s.write(con.out, c.CacheDir) })
}

// cacheStats sums up entries. All styles that this program does not know are one, so that its size is bounded.
type cacheStats struct {
	all, older, bad cacheFiles
	oldest, newest  time.Time // uses
	byKind          map[cacheKind]*cacheFiles
}

type cacheKind struct {
	style tiles.StyleID
	zoom  int
}

func (s *cacheStats) add(key tiles.Key, e disk.Entry) error {
	if e.Err != nil {
		s.bad.add(e)
		return nil
	}
	s.all.add(e)
	if key.Renderer != rendererOf(key.Style) {
		s.older.add(e)
	}
	if s.oldest.IsZero() || e.Used.Before(s.oldest) {
		s.oldest = e.Used
	}
	if e.Used.After(s.newest) {
		s.newest = e.Used
	}
	kind := cacheKind{key.Style, int(key.Tile.Z)}
	if kind.style != tiles.VectorStyle && !slices.ContainsFunc(render.Styles(), func(s render.Style) bool { return s.ID == kind.style }) {
		kind.style = "(other)"
	}
	if s.byKind[kind] == nil {
		s.byKind[kind] = new(cacheFiles)
	}
	s.byKind[kind].add(e)
	return nil
}

// rendererOf returns the version of the renderer that draws a style now.
func rendererOf(style tiles.StyleID) string {
	if style == tiles.VectorStyle {
		return tiles.VectorVersion
	}
	return render.Version
}

func (s *cacheStats) write(w io.Writer, dir string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "folder\t%s\n", dir)
	fmt.Fprintf(t, "tiles\t%v\n", s.all)
	fmt.Fprintf(t, "of other renderers\t%v, not used by renderer %s and %s\n", s.older, render.Version, tiles.VectorVersion)
	fmt.Fprintf(t, "not tiles\t%v, damaged or unfinished: see limnomap cache purge --damaged\n", s.bad)
	fmt.Fprintf(t, "least recent use\t%s\n", formatTime(s.oldest))
	fmt.Fprintf(t, "most recent use\t%s\n", formatTime(s.newest))
	if err := t.Flush(); err != nil || len(s.byKind) == 0 {
		return err
	}
	kinds := slices.SortedFunc(maps.Keys(s.byKind), func(a, b cacheKind) int {
		return cmp.Or(cmp.Compare(a.style, b.style), a.zoom-b.zoom)
	})
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nSTYLE\tZOOM\tTILES\tMiB\t")
	for _, kind := range kinds {
		n := s.byKind[kind]
		fmt.Fprintf(t, "%s\t%d\t%d\t%.1f\t\n", kind.style, kind.zoom, n.files, float64(n.bytes)/(1<<20))
	}
	return t.Flush()
}

// purgeDamaged reads every tile, and removes the damaged ones.
func (c *cachePurgeCmd) purgeDamaged(ctx context.Context, con *console) error {
	var valid, damaged, unfinished cacheFiles
	unreadable := 0
	progress := newProgress(con, "verifying", unknownTotal, time.Now)
	visit := func(_ tiles.Key, e disk.Entry) error {
		progress.step()
		err := e.Verify()
		switch {
		case err == nil:
			valid.add(e)
			return nil
		case errors.Is(err, disk.ErrDamaged):
			damaged.add(e)
		case errors.Is(err, disk.ErrUnfinished):
			unfinished.add(e) // not an error: a server that was killed leaves them, and the next one removes them
		default: // a file that cannot be read may still be valid
			unreadable++
			_, err := fmt.Fprintf(con.out, "%s: %v\n", e.Path(), err)
			return err
		}
		if _, err := fmt.Fprintf(con.out, "%s: %v\n", e.Path(), err); err != nil || c.DryRun {
			return err
		}
		return e.Remove()
	}
	return c.walk(ctx, visit, func() error {
		took := progress.finish()
		_, err := fmt.Fprintf(con.out, "%v tiles are valid; checked in %s\n", valid, took)
		if damaged.files > 0 || unreadable > 0 {
			done := "removed"
			if c.DryRun {
				done = "not removed"
			}
			err = errors.Join(err, fmt.Errorf("%v files are damaged, and %s; %d cannot be read", damaged, done, unreadable))
		}
		return err
	})
}

type cachePurgeCmd struct {
	cacheTiles
	Damaged bool `help:"Read every tile, and remove only the damaged ones: exit code 1 if there were any."`
	DryRun  bool `help:"Only print what would be removed."`
}

func (cachePurgeCmd) Help() string {
	return `Without --bound, --zoom and --style every tile is removed, without asking. No data are lost: a tile is drawn again when
it is requested. A running server keeps its tiles in memory. Files that do not belong to the cache are never removed.

A damaged file may not show which tile it was, so with --damaged such files are checked whatever tiles the flags select.`
}

func (c *cachePurgeCmd) Run(ctx context.Context, con *console) error {
	if c.Damaged {
		return c.purgeDamaged(ctx, con)
	}
	var removed, unknown cacheFiles
	visit := func(_ tiles.Key, e disk.Entry) error {
		if e.Err != nil && c.selective() {
			unknown.add(e)
			return nil
		}
		if !c.DryRun {
			if err := e.Remove(); err != nil {
				return err
			}
		}
		removed.add(e)
		return nil
	}
	return c.walk(ctx, visit, func() error {
		done := "removed"
		if c.DryRun {
			done = "would be removed"
		}
		if _, err := fmt.Fprintf(con.out, "%s: %v files %s\n", c.CacheDir, removed, done); err != nil || unknown.files == 0 {
			return err
		}
		_, err := fmt.Fprintf(con.out, "%v files are damaged or unfinished: see limnomap cache purge --damaged\n", unknown)
		return err
	})
}
