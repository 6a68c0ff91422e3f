package tiles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/paulmach/orb/maptile"
	"github.com/prometheus/client_golang/prometheus"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render"
)

// A Request names a tile of a view.
type Request struct {
	Tile     maptile.Tile
	Scale    int // 1 or 2
	Style    StyleID
	Colormap colormap.ID
}

func (r Request) spec() render.Spec {
	return render.Spec{Tile: r.Tile, Scale: r.Scale, Style: r.Style, Colormap: r.Colormap}
}

// A Tile is a finished tile. Its bytes are shared and must not be changed.
type Tile struct {
	Bytes []byte // a PNG, or a vector tile compressed with gzip
	ETag  string // hexadecimal hash of Bytes, without quotes
	Blank bool
	Note  *Note // shared by all who get the tile while it is in memory; nil if it is not
}

// digestLen is the length of the digest that an ETag is made of: half a SHA-256.
const digestLen = sha256.Size / 2

// newTile returns the tile of freshly drawn bytes. It copies them, since the buffer of an encoder may be much larger.
func newTile(b []byte) Tile {
	sum := sha256.Sum256(b)
	return Tile{Bytes: bytes.Clone(b), ETag: hex.EncodeToString(sum[:digestLen])}
}

func newBlank(b []byte) Tile {
	t := newTile(b)
	t.Blank, t.Note = true, new(Note)
	return t
}

// Tile returns a tile of v. The error is ErrOutOfRange, [render.ErrUnknownStyle], [colormap.ErrUnknown], ErrBusy, ctx's
// error if the caller left, or the renderer's.
func (s *Service) Tile(ctx context.Context, v *data.View, req Request) (Tile, error) {
	ctx, span := s.beginTile(ctx, req.Style, req.Tile.Z, req.Scale)
	t, err := s.tile(ctx, v, req)
	s.endTile(span, err)
	if err != nil {
		return Tile{}, fmt.Errorf("tile %d/%d/%d@%dx: %w", req.Tile.Z, req.Tile.X, req.Tile.Y, req.Scale, err)
	}
	return t, nil
}

func (s *Service) tile(ctx context.Context, v *data.View, req Request) (Tile, error) {
	if err := s.check(req); err != nil {
		return Tile{}, err
	}
	layer, err := s.layers.get(ctx, v)
	if err != nil {
		return Tile{}, err
	}
	spec := req.spec()
	fp, notBlank, err := s.fingerprint(layer, spec)
	if err != nil {
		return Tile{}, err
	}
	if !notBlank {
		s.hit(ctx, s.metrics.blankHits, tierBlank)
		return s.blanks[req.Scale-1], nil
	}
	key := s.key(spec, fp)
	sum := key.Sum()
	if t, ok := s.memory.get(sum); ok {
		s.hit(ctx, s.metrics.memoryHits, tierMemory)
		return t, nil
	}
	return s.fly(ctx, key, sum, func() ([]byte, error) { return s.render(layer, spec) })
}

// check refuses what the renderer would refuse: a fingerprint has no error, so an unknown style would look like a blank
// tile.
func (s *Service) check(req Request) error {
	if !validTile(req.Tile, s.options.MaxZoom) || req.Scale < 1 || req.Scale > maxScale {
		return ErrOutOfRange
	}
	if !slices.Contains(s.styles, req.Style) {
		return fmt.Errorf("%w %q: one of %q", render.ErrUnknownStyle, req.Style, s.styles)
	}
	if !slices.Contains(s.colormaps, req.Colormap) {
		return fmt.Errorf("%w %q: one of %q", colormap.ErrUnknown, req.Colormap, s.colormaps)
	}
	return nil
}

// validTile reports whether t exists and its zoom is at most maxZoom.
func validTile(t maptile.Tile, maxZoom maptile.Zoom) bool {
	// The zoom first: a shift by more bits than x has leaves zero of any x, and maptile.Tile.Valid allows zoom 31.
	return t.Z <= maxZoom && t.X>>t.Z == 0 && t.Y>>t.Z == 0
}

// buildLayer makes the layer of v; like is a layer of the same lakes, or nil.
func (s *Service) buildLayer(v *data.View, like *render.Layer) (layer *render.Layer, err error) {
	defer s.recoverTo(&err, "making the layer")
	if like != nil {
		return s.renderer.LayerOn(like, v), nil
	}
	return s.renderer.Layer(v), nil
}

func (s *Service) fingerprint(layer *render.Layer, spec render.Spec) (fp render.Fingerprint, notBlank bool, err error) {
	defer s.recoverTo(&err, "taking the fingerprint")
	fp, notBlank = s.renderer.Fingerprint(layer, spec)
	return fp, notBlank, nil
}

func (s *Service) key(spec render.Spec, fp render.Fingerprint) Key {
	return Key{render.Version, s.options.Variant, spec.Style, spec.Colormap, spec.Tile, spec.Scale, fp}
}

// hit counts a tile that needs no flight.
func (s *Service) hit(ctx context.Context, hits prometheus.Counter, tier string) {
	hits.Inc()
	s.traceTier(ctx, tier)
}

// fly returns a tile that was not in memory. All callers of one key share one flight, which looks for the tile on disk, and
// if it is not there, waits for a turn to draw it and keeps it.
func (s *Service) fly(ctx context.Context, key Key, sum Sum, draw func() ([]byte, error)) (Tile, error) {
	t, tier, err := s.flights.do(ctx, sum, func(f *flight) (Tile, string, error) {
		if t, tier, ok := s.lookup(f.ctx, sum); ok {
			return t, tier, nil
		}
		b, err := s.drawInTurn(f, draw)
		if err != nil {
			return Tile{}, "", err
		}
		return s.keep(key, sum, b), tierRender, nil
	})
	if err == nil {
		s.traceTier(ctx, tier)
	}
	return t, err
}

// lookup looks in memory again, where an earlier flight may just have put the tile, and then on disk.
func (s *Service) lookup(ctx context.Context, sum Sum) (t Tile, tier string, ok bool) {
	ctx, span := s.begin(ctx, "tile lookup")
	defer span.End()
	if t, ok := s.memory.get(sum); ok {
		s.metrics.memoryHits.Inc()
		return t, tierMemory, true
	}
	if s.options.Disk != nil {
		if b, digest, ok := s.options.Disk.Get(ctx, sum); ok {
			s.metrics.diskHits.Inc()
			t := Tile{Bytes: b, ETag: hex.EncodeToString(digest[:])}
			s.memory.put(sum, t)
			return t, tierDisk, true
		}
	}
	s.metrics.misses.Inc()
	return Tile{}, "", false
}

// drawInTurn draws a tile when it is f's turn. While the queue is long it draws on a thread of low priority.
func (s *Service) drawInTurn(f *flight, draw func() ([]byte, error)) (b []byte, err error) {
	crowded, err := s.awaitTurn(f)
	if err != nil {
		return nil, err
	}
	defer s.queue.release()
	if crowded {
		s.background.Do(func() { b, err = s.draw(f.ctx, draw) })
		return b, err
	}
	return s.draw(f.ctx, draw)
}

// awaitTurn returns when f may draw, and reports whether the queue is long. From then on f ends with a tile, even if all
// its callers leave.
func (s *Service) awaitTurn(f *flight) (crowded bool, err error) {
	_, span := s.begin(f.ctx, "tile queue")
	defer func() { end(span, err) }()
	if crowded, err = s.queue.acquire(f.ctx); err != nil {
		return false, err
	}
	if err = s.flights.commit(f); err != nil {
		s.queue.release()
	}
	return crowded, err
}

// draw draws a tile and measures it. An error is not cached.
func (s *Service) draw(ctx context.Context, draw func() ([]byte, error)) ([]byte, error) {
	_, span := s.begin(ctx, "tile render")
	s.metrics.rendersInFlight.Inc()
	defer s.metrics.rendersInFlight.Dec()
	timer := prometheus.NewTimer(s.metrics.renderDuration)
	b, err := draw()
	timer.ObserveDuration()
	s.metrics.renders.Inc()
	if err != nil {
		s.metrics.renderFailures.Inc()
	}
	end(span, err)
	return b, err
}

func (s *Service) render(layer *render.Layer, spec render.Spec) (png []byte, err error) {
	defer s.recoverTo(&err, "drawing")
	png, err = s.renderer.Render(layer, spec)
	if err == nil && len(png) == 0 {
		err = errors.New("the renderer returned an empty image")
	}
	return png, err
}

// keep puts a drawn tile into memory and on disk.
func (s *Service) keep(key Key, sum Sum, b []byte) Tile {
	t := newTile(b)
	s.memory.put(sum, t)
	if s.options.Disk != nil {
		s.options.Disk.Put(key.Encode(), t.Bytes)
	}
	return t
}
