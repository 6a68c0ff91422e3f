package tiles

import (
	"context"
	"iter"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/render"
)

// sampleTiles is how many tiles of a zoom are drawn to estimate the size of all: at least, if there are as many, and less
// than twice that. For maps like Germany's their mean is within a tenth of the mean of all, and drawing them takes tens of
// milliseconds.
const sampleTiles = 128

// A Survey has the facts about a plot that need no drawing.
type Survey struct {
	Tiles  int64     // tiles with a lake in reach; the others are blank
	Extent orb.Bound // of the tiles of the largest zoom; never across the antimeridian
	zooms  []int64   // Tiles by zoom
}

// Survey counts the tiles of p without drawing any. The error is ctx's.
func (p *Plot) Survey(ctx context.Context) (Survey, error) {
	s := Survey{zooms: make([]int64, p.pyramid.MaxZoom+1)}
	deepest := maptile.Zoom(0)
	for t := range p.tiles() {
		if err := ctx.Err(); err != nil {
			return Survey{}, err
		}
		if s.Tiles == 0 || t.Z > deepest {
			deepest, s.Extent = t.Z, t.Bound()
		} else {
			s.Extent = s.Extent.Union(t.Bound())
		}
		s.Tiles++
		s.zooms[t.Z]++
	}
	return s, nil
}

// sample returns every n-th of the tiles of each zoom, sampleTiles to twice as many of them.
func (s Survey) sample(tiles iter.Seq[maptile.Tile]) iter.Seq[maptile.Tile] {
	return func(yield func(maptile.Tile) bool) {
		seen := make([]int64, len(s.zooms))
		for t := range tiles {
			n := max(s.zooms[t.Z]/sampleTiles, 1)
			if seen[t.Z]%n == 0 && !yield(t) {
				return
			}
			seen[t.Z]++
		}
	}
}

// An Estimate is the size of a plot, estimated from a sample of its tiles.
type Estimate struct {
	Bytes     int64 // of PNGs
	DiskBytes int64 // of the entries in the disk cache
	Blank     int64 // tiles with a lake in reach that are blank nevertheless
}

// Estimate draws some tiles of each zoom of a survey of p. entrySize returns the size of an entry in the disk cache.
func (p *Plot) Estimate(ctx context.Context, s Survey, entrySize func(key, body []byte) int64) (Estimate, error) {
	drawn, counts := make([]Estimate, len(s.zooms)), make([]int64, len(s.zooms))
	err := inOrder(ctx, p.service.options.Renders, s.sample(p.tiles()), p.draw, func(t maptile.Tile, png []byte) error {
		counts[t.Z]++
		if png == nil {
			png = p.service.blanks[p.pyramid.Scale-1].Bytes
			drawn[t.Z].Blank++
		} else {
			drawn[t.Z].Bytes += int64(len(png))
		}
		drawn[t.Z].DiskBytes += entrySize(p.service.key(p.spec(t), render.Fingerprint{}).Encode(), png)
		return nil
	})
	var all Estimate
	for z, n := range counts {
		if n > 0 {
			all.Bytes += drawn[z].Bytes * s.zooms[z] / n
			all.DiskBytes += drawn[z].DiskBytes * s.zooms[z] / n
			all.Blank += drawn[z].Blank * s.zooms[z] / n
		}
	}
	return all, err
}
