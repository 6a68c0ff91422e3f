package tiles

import (
	"context"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/render"
)

// sampleTiles is how many tiles of a zoom are drawn at most to estimate the size of all. The mean of so many is within a
// tenth of all tiles' for maps like Germany's, and drawing them takes tens of milliseconds.
const sampleTiles = 128

// A Survey is what is known of a plot before it is drawn.
type Survey struct {
	Tiles  int64     // that have a lake in reach; the others are blank
	Extent orb.Bound // what the tiles of the largest zoom cover; never across the antimeridian
	zooms  []sample
}

// Survey goes over the tiles of p and draws none. It ends early only with ctx.
func (p *Plot) Survey(ctx context.Context) (Survey, error) {
	s := Survey{zooms: make([]sample, p.pyramid.MaxZoom+1)}
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
		s.zooms[t.Z].add(t)
	}
	return s, nil
}

// An Estimate is what drawing a sample of tiles tells of all.
type Estimate struct {
	Bytes     int64 // of PNGs
	DiskBytes int64 // that they take in the disk cache
	Blank     int64 // tiles that have a lake in reach, and yet show nothing
}

// Estimate draws tiles spread evenly over each zoom of a survey of p.
func (p *Plot) Estimate(ctx context.Context, s Survey) (Estimate, error) {
	var all Estimate
	for _, zoom := range s.zooms {
		var drawn Estimate
		var n int64
		err := inOrder(ctx, p.service.options.Renders, slices.Values(zoom.kept), p.draw, func(t maptile.Tile, png []byte) error {
			n++
			if png == nil {
				png = p.service.blanks[p.pyramid.Scale-1].Bytes
				drawn.Blank++
			} else {
				drawn.Bytes += int64(len(png))
			}
			drawn.DiskBytes += entrySize(p.key(t, render.Fingerprint{}), png)
			return nil
		})
		if err != nil {
			return Estimate{}, err
		}
		if n > 0 {
			all.Bytes += drawn.Bytes * zoom.seen / n
			all.DiskBytes += drawn.DiskBytes * zoom.seen / n
			all.Blank += drawn.Blank * zoom.seen / n
		}
	}
	return all, nil
}

// A sample is every so-manieth of the tiles that it was given, sampleTiles to twice as many of them.
type sample struct {
	seen int64
	step int64 // from one that is kept to the next, a power of two
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
