package tiles

import (
	"context"
	"fmt"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/render/vector"
)

const (
	// VectorStyle is the style in the keys of vector tiles. No style of pictures has this name.
	VectorStyle StyleID = "mvt"
	// VectorVersion changes whenever the same lakes give another vector tile.
	VectorVersion = vector.Version
	// VectorLayer is the name of the one layer of a vector tile.
	VectorLayer = vector.LayerName
	// MaxFeatures is how many lakes a vector tile holds at most.
	MaxFeatures = vector.MaxFeatures
)

// Vector returns a vector tile of v: a Mapbox Vector Tile, compressed. The errors are those of Tile.
func (s *Service) Vector(ctx context.Context, v *snapshot.View, t maptile.Tile) (Tile, error) {
	ctx, span := s.beginTile(ctx, VectorStyle, t.Z, 1)
	tile, err := s.vector(ctx, v, t)
	s.endTile(span, err)
	if err != nil {
		return Tile{}, fmt.Errorf("vector tile %d/%d/%d: %w", t.Z, t.X, t.Y, err)
	}
	return tile, nil
}

// vector takes the same steps as tile.
func (s *Service) vector(ctx context.Context, v *snapshot.View, t maptile.Tile) (Tile, error) {
	if s.options.Vectors == nil || !validTile(t, s.options.MaxZoom) {
		return Tile{}, ErrOutOfRange
	}
	if layer, _ := s.vectorLayers.find(v); layer != nil {
		if fp, notBlank, ok := layer.Known(t); ok {
			key := s.vectorKey(t, fp)
			sum, found, tier := s.cached(&key, notBlank, &s.blankVector)
			if tier != "" {
				s.traceTier(ctx, tier)
				return found, nil
			}
			return s.fly(ctx, key, sum, func() ([]byte, error) { return s.encodeVector(layer, v, t) })
		}
	}
	failures := s.vectorLayers.failures.Load()
	return s.identify(ctx, unidentified{v, render.Spec{Tile: t, Style: VectorStyle}}, nil, func(ctx context.Context) (identity, error) {
		layer, err := s.vectorLayers.getSince(ctx, v, failures)
		if err != nil {
			return identity{}, err
		}
		fp, notBlank, err := s.vectorFingerprint(layer, v, t)
		return identity{s.vectorKey(t, fp), notBlank, &s.blankVector, func() ([]byte, error) { return s.encodeVector(layer, v, t) }}, err
	})
}

func (s *Service) vectorKey(t maptile.Tile, fp render.Fingerprint) Key {
	return Key{VectorVersion, s.options.Variant, VectorStyle, colormap.Default, t, 1, fp}
}

// buildVectorLayer makes the layer of v, with the index of like if there is one.
func (s *Service) buildVectorLayer(v *snapshot.View, like *vector.Layer) (layer *vector.Layer, err error) {
	defer s.recoverTo(&err, "making the layer of vector tiles")
	if like != nil {
		return vector.NewLayer(like.Index(), v), nil
	}
	return vector.NewLayer(vector.NewIndex(v.Lakes), v), nil
}

func (s *Service) vectorFingerprint(layer *vector.Layer, v *snapshot.View, t maptile.Tile) (fp render.Fingerprint, notBlank bool, err error) {
	defer s.recoverTo(&err, "taking the fingerprint of a vector tile")
	fp, notBlank = layer.Fingerprint(v, t)
	return fp, notBlank, nil
}

func (s *Service) encodeVector(layer *vector.Layer, v *snapshot.View, t maptile.Tile) (tile []byte, err error) {
	defer s.recoverTo(&err, "encoding a vector tile")
	return s.options.Vectors.Encode(layer, v, t)
}

// Unzip returns the uncompressed bytes of a vector tile.
func (t Tile) Unzip() ([]byte, error) { return vector.Unzip(t.Bytes) }
