package tiles

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data/inorder"
	"limnomap/data/snapshot"
	"limnomap/render"
)

// tilesAhead is how many tiles for each render may be finished or in progress before the oldest is delivered.
const tilesAhead = 64

// A Plot is a pyramid of one view, to be drawn before anyone asks for its tiles. Its methods bypass the tier of tiles in
// memory, which a whole pyramid would only empty. They may be called concurrently.
type Plot struct {
	service *Service
	pyramid Pyramid
	values  *snapshot.Values
	layer   *render.Layer
}

// Plot returns the plot of p in v. The error is ErrOutOfRange, [render.ErrUnknownStyle], [colormap.ErrUnknown], ctx's error,
// or the renderer's.
func (s *Service) Plot(ctx context.Context, v *snapshot.Values, p Pyramid) (*Plot, error) {
	if err := s.check(p.request(maptile.Tile{Z: p.MaxZoom}), v.Chances()); err != nil {
		return nil, fmt.Errorf("tiles of zoom %d at scale %d: %w", p.MaxZoom, p.Scale, err)
	}
	if p.MinZoom > p.MaxZoom {
		return nil, fmt.Errorf("tiles of zoom %d to %d: %w", p.MinZoom, p.MaxZoom, ErrOutOfRange)
	}
	if !onGlobe(p.Bound) {
		return nil, fmt.Errorf("bound %v, in degrees: %w", p.Bound, ErrOutOfRange)
	}
	layer, err := s.layers.get(ctx, v)
	if err != nil {
		return nil, err
	}
	return &Plot{s, p, v, layer}, nil
}

// onGlobe reports whether b is the bound of a part of the globe. It may cross the antimeridian.
func onGlobe(b orb.Bound) bool {
	for _, lon := range [...]float64{b.Min.Lon(), b.Max.Lon()} {
		if !(lon >= -180 && lon <= 180) { // NaN is neither
			return false
		}
	}
	return b.Min.Lat() >= -90 && b.Min.Lat() <= b.Max.Lat() && b.Max.Lat() <= 90
}

// spec returns the spec of a tile.
func (p *Plot) spec(t maptile.Tile) render.Spec { return p.pyramid.request(t).spec() }

// tiles returns the tiles that have a lake in reach, in the order of Draw.
func (p *Plot) tiles() iter.Seq[maptile.Tile] {
	r := p.service.renderer
	return p.pyramid.tiles(quadtreeWalk{
		mayShow: func(t maptile.Tile) bool { return r.MayShow(p.layer, t, p.pyramid.Style) },
		notBlank: func(t maptile.Tile) bool {
			if p.service.showsPixels(p.values, p.spec(t)) { // which pixels it has is not known yet
				return r.MayShow(p.layer, t, p.pyramid.Style)
			}
			_, notBlank := r.Fingerprint(p.layer, p.spec(t))
			return notBlank
		},
	})
}

// Draw draws the tiles that have a lake in reach, [Options.Renders] of them at once, and passes them to deliver one after
// the other: zoom by zoom and, within one, in the order of hilbert.ID, which is the order of PMTiles. A tile in which every
// pixel turned out transparent is passed without bytes. Draw ends with the first error of deliver, the renderer or ctx.
func (p *Plot) Draw(ctx context.Context, deliver func(t maptile.Tile, png []byte) error) error {
	return inorder.Run(ctx, p.service.options.Renders, tilesAhead, p.tiles(), p.draw(ctx), deliver)
}

// draw returns a function that draws a tile; nil if every pixel is transparent.
func (p *Plot) draw(ctx context.Context) func(maptile.Tile) ([]byte, error) {
	return func(t maptile.Tile) (png []byte, err error) {
		layer, err := p.service.layerWithPixels(ctx, p.layer, p.values, p.spec(t))
		if err == nil {
			png, err = p.service.render(layer, p.spec(t))
		}
		if err != nil {
			return nil, fmt.Errorf("tile %d/%d/%d: %w", t.Z, t.X, t.Y, err)
		}
		if bytes.Equal(png, p.service.blanks[p.pyramid.Scale-1].Bytes) {
			return nil, nil
		}
		return png, nil
	}
}
