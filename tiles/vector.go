package tiles

import (
	"context"
	"errors"
	"fmt"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render"
	"limnomap/render/vector"
)

const (
	// VectorStyle is the style in the keys of vector tiles, which no style of pictures bears.
	VectorStyle StyleID = "mvt"
	// VectorVersion changes with whatever makes the same lakes give another vector tile.
	VectorVersion = vector.Version
	// VectorLayer is the name of the one layer of a vector tile.
	VectorLayer = vector.LayerName
	// MaxFeatures is how many lakes a vector tile holds at most.
	MaxFeatures = vector.MaxFeatures
)

// Vector returns a vector tile of v: a Mapbox Vector Tile, compressed. The errors are those of Tile.
func (s *Service) Vector(ctx context.Context, v *data.View, t maptile.Tile) (Tile, error) {
	ctx, span := s.beginTile(ctx, VectorStyle, t.Z, 1)
	tile, err := s.vector(ctx, v, t)
	end(span, err)
	if err != nil {
		if errors.Is(err, ErrBusy) {
			s.metrics.shed.Inc()
		}
		return Tile{}, fmt.Errorf("vector tile %d/%d/%d: %w", t.Z, t.X, t.Y, err)
	}
	return tile, nil
}

func (s *Service) vector(ctx context.Context, v *data.View, t maptile.Tile) (Tile, error) {
	if s.options.Vectors == nil || !validTile(t, s.options.MaxZoom) {
		return Tile{}, ErrOutOfRange
	}
	layer, err := s.vectors.get(ctx, v, s.buildVectors)
	if err != nil {
		return Tile{}, err
	}
	fp, any, err := s.vectorFingerprint(layer, v, t)
	if err != nil {
		return Tile{}, err
	}
	if !any {
		s.metrics.blankHits.Inc()
		s.from(ctx, tierBlank)
		return s.empty, nil
	}
	key := Key{VectorVersion, s.options.Variant, VectorStyle, colormap.Default, t, 1, fp}
	sum := key.Sum()
	if tile, ok := s.memory.get(sum); ok {
		s.metrics.memoryHits.Inc()
		s.from(ctx, tierMemory)
		return tile, nil
	}
	return s.fly(ctx, key, sum, func() ([]byte, error) { return s.encodeVector(layer, v, t) })
}

func (s *Service) encodeVector(layer *vector.Layer, v *data.View, t maptile.Tile) (tile []byte, err error) {
	defer s.recoverTo(&err, "writing a vector tile")
	return s.options.Vectors.Encode(layer, v, t)
}

func (s *Service) vectorFingerprint(layer *vector.Layer, v *data.View, t maptile.Tile) (fp render.Fingerprint, any bool, err error) {
	defer s.recoverTo(&err, "taking the fingerprint of a vector tile")
	fp, any = layer.Fingerprint(v, t)
	return fp, any, nil
}

// buildVectors makes the layer of v with x, or with an index of its own if x is nil.
func (s *Service) buildVectors(v *data.View, x *vector.Index) (layer *vector.Layer, err error) {
	defer s.recoverTo(&err, "making the layer of vector tiles")
	s.metrics.layerBuilds.Inc()
	if x == nil {
		x = vector.NewIndex(v.Lakes)
	}
	return vector.NewLayer(x, v), nil
}

// newEmptyVector returns the vector tile without a lake, which all that have none share.
func newEmptyVector(e *vector.Encoder) (Tile, error) {
	b, err := e.Empty()
	if err != nil {
		return Tile{}, err
	}
	t := newTile(b)
	t.Blank, t.Note = true, new(Note)
	return t, nil
}

// Unzip returns a vector tile as it was before it was compressed.
func (t Tile) Unzip() ([]byte, error) { return vector.Unzip(t.Bytes) }
