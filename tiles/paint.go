package tiles

import (
	"context"

	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles/admission"
)

// Paint returns a part of the map of v, in pixels of the zoom and scale of req from the north-west corner of the world, which repeats to the east; without
// pixels if nothing is there. It draws the part, which no tier holds, in a turn: a part should not have more pixels than some tiles. The errors are those of Tile.
func (s *Service) Paint(ctx context.Context, v *snapshot.Values, req Request, part render.Part) (p Painting, err error) {
	if err := s.check(req, v.Chances()); err != nil {
		return p, err
	}
	if err := s.searches.enter(); err != nil {
		return p, err
	}
	defer s.searches.running.Done()
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.RenderTimeout, s.searches.errLate)
	defer cancel()
	spec := req.spec()
	failures := s.layers.failures.Load()
	layerOf := func() (*render.Layer, error) { return s.layers.getSince(ctx, v, failures) }
	if s.showsPixels(v, spec) {
		layer, pixels, err := s.layerAndPixels(&flight{ctx: ctx}, v, spec, part)
		if err != nil {
			return p, err
		}
		defer pixels.release()
		layerOf = func() (*render.Layer, error) { return s.withPixels(layer, v, pixels) }
	}
	err = s.inTurn(ctx, new(admission.Place), s.client(ctx), func() error {
		layer, err := layerOf()
		if err != nil {
			return err
		}
		_, err = s.draw(ctx, func() (_ []byte, err error) {
			defer s.recoverTo(&err, "painting")
			p, err = s.renderer.Paint(layer, spec, part)
			return nil, err
		})
		return err
	})
	return p, err
}
