package tiles

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/render"
)

// A Plot is a pyramid of one view: what is drawn ahead of anybody's asking. Its methods bypass the memory tier, which a
// whole pyramid would only sweep clean, and may be called at once.
type Plot struct {
	service *Service
	pyramid Pyramid
	layer   *render.Layer
}

// Plot returns the plot of p in v. ErrOutOfRange, [render.ErrUnknownStyle], [colormap.ErrUnknown], or ctx's error.
func (s *Service) Plot(ctx context.Context, v *data.View, p Pyramid) (*Plot, error) {
	if err := s.check(p.request(maptile.Tile{Z: p.MaxZoom})); err != nil {
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
	return &Plot{s, p, layer}, nil
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

// spec returns what the renderer is told of a tile.
func (p *Plot) spec(t maptile.Tile) render.Spec {
	return render.Spec{Tile: t, Scale: p.pyramid.Scale, Style: p.pyramid.Style, Colormap: p.pyramid.Colormap}
}

// key returns the key of a tile.
func (p *Plot) key(t maptile.Tile, fp render.Fingerprint) Key {
	return Key{render.Version, p.service.options.Variant, p.pyramid.Style, p.pyramid.Colormap, t, p.pyramid.Scale, fp}
}

// tiles returns the tiles that have a lake in reach, in the order of PMTiles.
func (p *Plot) tiles() iter.Seq[maptile.Tile] {
	r := p.service.renderer
	return p.pyramid.tiles(descent{
		beneath: func(t maptile.Tile) bool { return r.MayShow(p.layer, t, p.pyramid.Style) },
		shows: func(t maptile.Tile) bool {
			_, any := r.Fingerprint(p.layer, p.spec(t))
			return any
		},
	})
}

// Draw draws the tiles that have a lake in reach, as many at once as [Options.Renders] says, and hands them to deliver one
// after the other: zoom by zoom and, within one, along the Hilbert curve, which is the order of PMTiles. One whose every
// pixel came out transparent is handed over without bytes. It ends with deliver's error, the renderer's or ctx's.
func (p *Plot) Draw(ctx context.Context, deliver func(t maptile.Tile, png []byte) error) error {
	return inOrder(ctx, p.service.options.Renders, p.tiles(), p.draw, deliver)
}

func (p *Plot) draw(t maptile.Tile) ([]byte, error) {
	png, err := p.service.render(p.layer, p.spec(t))
	if err != nil {
		return nil, fmt.Errorf("tile %d/%d/%d: %w", t.Z, t.X, t.Y, err)
	}
	if bytes.Equal(png, p.service.blanks[p.pyramid.Scale-1].Bytes) {
		return nil, nil
	}
	return png, nil
}
