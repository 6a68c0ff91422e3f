package tiles

import (
	"context"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data/inorder"
	"limnomap/render"
)

// sampleTiles is how many tiles of a zoom are drawn to estimate the size of all: at least, if there are as many, and less
// than twice that. For maps like Germany's their mean is within a tenth of the mean of all, and drawing them takes tens of
// milliseconds.
const sampleTiles = 128

// A Survey has the facts about a plot that need no drawing.
type Survey struct {
	Tiles  int64     // tiles with a lake in reach; the others are blank
	Extent orb.Bound // has the tiles of the largest zoom, and a part of each other one; never across the antimeridian
	zooms  []sample
}

// Survey counts the tiles of p without drawing any. The error is ctx's.
func (p *Plot) Survey(ctx context.Context) (Survey, error) {
	s := Survey{zooms: make([]sample, p.pyramid.MaxZoom+1)}
	deepest := maptile.Zoom(0)
	touched := NewTouch()
	for t := range p.tiles() {
		if err := ctx.Err(); err != nil {
			return Survey{}, err
		}
		if s.Tiles == 0 || t.Z > deepest {
			deepest, s.Extent = t.Z, t.Bound()
		} else {
			s.Extent = s.Extent.Union(t.Bound())
		}
		touched.Add(t)
		s.Tiles++
		s.zooms[t.Z].add(t)
	}
	if s.Tiles > 0 {
		s.Extent = touched.Extend(s.Extent)
	}
	return s, nil
}

// A sample has every step-th tile of a zoom: all if there are few, otherwise sampleTiles to twice as many.
type sample struct {
	seen int64
	step int64 // distance between kept tiles, a power of two
	kept []maptile.Tile
}

// add takes the next tile.
func (s *sample) add(t maptile.Tile) {
	s.step = max(s.step, 1)
	if s.seen%s.step == 0 {
		if len(s.kept) == 2*sampleTiles {
			for i := range sampleTiles {
				s.kept[i] = s.kept[2*i]
			}
			s.kept = s.kept[:sampleTiles]
			s.step *= 2
		}
		s.kept = append(s.kept, t)
	}
	s.seen++
}

// An Estimate is the size of a plot, estimated from a sample of its tiles.
type Estimate struct {
	Bytes     int64 // of PNGs
	DiskBytes int64 // of the entries in the disk cache
	Blank     int64 // tiles with a lake in reach that are blank nevertheless
}

// Estimate draws some tiles of each zoom of a survey of p. entrySize returns the size of an entry in the disk cache.
func (p *Plot) Estimate(ctx context.Context, s Survey, entrySize func(key, body []byte) int64) (Estimate, error) {
	var all Estimate
	for _, zoom := range s.zooms {
		var drawn Estimate
		err := inorder.Run(ctx, p.service.options.Renders, tilesAhead, slices.Values(zoom.kept), p.draw(ctx), func(t maptile.Tile, png []byte) error {
			if png == nil {
				png = p.service.blanks[p.pyramid.Scale-1].Bytes
				drawn.Blank++
			} else {
				drawn.Bytes += int64(len(png))
			}
			drawn.DiskBytes += entrySize(p.service.key(p.spec(t), render.Fingerprint{}).Encode(), png)
			return nil
		})
		if err != nil {
			return Estimate{}, err
		}
		n := max(int64(len(zoom.kept)), 1)
		all.Bytes += drawn.Bytes * zoom.seen / n
		all.DiskBytes += drawn.DiskBytes * zoom.seen / n
		all.Blank += drawn.Blank * zoom.seen / n
	}
	return all, nil
}
