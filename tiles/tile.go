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
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles/admission"
)

// A Request names a tile of a view.
type Request struct {
	Tile     maptile.Tile
	Scale    int // 1 or 2
	Style    StyleID
	Colormap colormap.ID
	Filter   Filter // only for styles whose Style.Filtered reports true
}

func (r Request) spec() render.Spec {
	return render.Spec{Tile: r.Tile, Scale: r.Scale, Style: r.Style, Colormap: r.Colormap, Filter: r.Filter}
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

// Tile returns a tile of v, which may be probabilities (see [snapshot.Values.Chances]). The error is ErrOutOfRange, [render.ErrUnknownStyle], [render.ErrNoFilter], [colormap.ErrUnknown], ErrBusy, ctx's
// error if the caller left, or the renderer's.
func (s *Service) Tile(ctx context.Context, v *snapshot.Values, req Request) (Tile, error) {
	ctx, span := s.beginTile(ctx, req.Style, req.Tile.Z, req.Scale)
	t, err := s.tile(ctx, v, req)
	s.endTile(span, err)
	if err != nil {
		return Tile{}, fmt.Errorf("tile %d/%d/%d@%dx: %w", req.Tile.Z, req.Tile.X, req.Tile.Y, req.Scale, err)
	}
	return t, nil
}

func (s *Service) tile(ctx context.Context, v *snapshot.Values, req Request) (Tile, error) {
	if err := s.check(req, v.Chances()); err != nil {
		return Tile{}, err
	}
	return s.pictures.tile(ctx, v, req.spec())
}

// A maker makes one sort of tiles, pictures or vector tiles, from layers L of views V.
type maker[V, L any] struct {
	service *Service
	layers  *layers[V, L]
	// known returns the same as fingerprint, without looking at the lakes, if the layer remembers it.
	known       func(l *L, spec render.Spec) (fp render.Fingerprint, notBlank, ok bool)
	fingerprint func(l *L, v *V, spec render.Spec) (fp render.Fingerprint, notBlank bool, err error)
	draw        func(l *L, v *V, spec render.Spec) ([]byte, error)
	key         func(spec render.Spec, fp render.Fingerprint) Key
	blank       func(spec render.Spec) *Tile
}

// tile returns the tile of v with that spec, which must be valid.
func (m *maker[V, L]) tile(ctx context.Context, v *V, spec render.Spec) (Tile, error) {
	layer, _ := m.layers.find(v)
	if layer == nil {
		return m.fly(ctx, v, nil, spec, Sum{})
	}
	fp, notBlank, ok := m.known(layer, spec)
	if !ok {
		return m.fly(ctx, v, layer, spec, Sum{})
	}
	key := m.key(spec, fp)
	sum, t, tier := m.service.cached(&key, notBlank, m.blank(spec))
	if tier == "" {
		return m.fly(ctx, v, layer, spec, sum)
	}
	m.service.traceTier(ctx, tier)
	return t, nil
}

// fly returns a tile that was not in memory. All who want it share one flight. If its key is known, the zero Sum being unknown, the flight
// looks on disk first. Then it waits for its turn, and there does all that is missing: the layer if it is nil, the fingerprint, which may
// take a walk over millions of lakes, the look on disk, and drawing.
func (m *maker[V, L]) fly(ctx context.Context, v *V, layer *L, spec render.Spec, known Sum) (Tile, error) {
	s := m.service
	client, failures := s.client(ctx), m.layers.failures.Load()
	share := func(f *flight) { s.turns.Share(&f.place, client) }
	t, tier, err := s.flights.do(ctx, wanted{v, spec}, share, func(f *flight) (t Tile, tier string, err error) {
		if known != (Sum{}) {
			if t, tier, ok := s.lookup(f.ctx, known); ok {
				return t, tier, nil
			}
		}
		err = s.inTurn(f, client, func() (err error) {
			if err := s.flights.commit(f); err != nil {
				return err
			}
			if layer == nil {
				if layer, err = m.layers.getSince(f.ctx, v, failures); err != nil {
					return err
				}
			}
			fp, notBlank, err := m.fingerprint(layer, v, spec)
			if err != nil {
				return err
			}
			key := m.key(spec, fp)
			var sum Sum
			if sum, t, tier = s.cached(&key, notBlank, m.blank(spec)); tier != "" {
				return nil
			}
			if known == (Sum{}) {
				var ok bool
				if t, tier, ok = s.lookup(f.ctx, sum); ok {
					return nil
				}
			}
			tier = tierRender
			t, err = s.drawAndKeep(f.ctx, key, sum, func() ([]byte, error) { return m.draw(layer, v, spec) })
			return err
		})
		return t, tier, err
	})
	if err == nil {
		s.traceTier(ctx, tier)
	}
	return t, err
}

// cached returns a tile that is blank or in memory, and the tier that has it. If there is none, the tier is empty.
func (s *Service) cached(key *Key, notBlank bool, blank *Tile) (sum Sum, t Tile, tier string) {
	if !notBlank {
		s.metrics.blankHits.Inc()
		return sum, *blank, tierBlank
	}
	sum = key.Sum()
	if t, ok := s.memory.get(sum); ok {
		s.metrics.memoryHits.Inc()
		return sum, t, tierMemory
	}
	return sum, t, ""
}

// check refuses what the renderer would refuse, for values or probabilities: a fingerprint has no error, so an unknown style would look
// like a blank tile.
func (s *Service) check(req Request, chances bool) error {
	styles, filtered, colormaps := s.styles, s.filtered, s.colormaps
	if chances {
		styles, filtered, colormaps = s.chances.styles, nil, s.chances.colormaps
	}
	if !validTile(req.Tile, s.options.MaxZoom) || req.Scale < 1 || req.Scale > maxScale {
		return ErrOutOfRange
	}
	if !slices.Contains(styles, req.Style) {
		return fmt.Errorf("%w %q: one of %q", render.ErrUnknownStyle, req.Style, styles)
	}
	if req.Filter != 0 && !slices.Contains(filtered, req.Style) {
		return fmt.Errorf("style %s: %w", req.Style, render.ErrNoFilter)
	}
	if !slices.Contains(colormaps, req.Colormap) {
		return fmt.Errorf("%w %q: one of %q", colormap.ErrUnknown, req.Colormap, colormaps)
	}
	return nil
}

// validTile reports whether t exists and its zoom is at most maxZoom.
func validTile(t maptile.Tile, maxZoom maptile.Zoom) bool {
	// The zoom first: a shift by more bits than x has leaves zero of any x, and maptile.Tile.Valid allows zoom 31.
	return t.Z <= maxZoom && t.X>>t.Z == 0 && t.Y>>t.Z == 0
}

// buildLayer makes the layer of v; like is a layer of the same lakes, or nil.
func (s *Service) buildLayer(v *snapshot.Values, like *render.Layer) (layer *render.Layer, err error) {
	defer s.recoverTo(&err, "making the layer")
	if like != nil {
		return s.renderer.LayerOn(like, v), nil
	}
	return s.renderer.Layer(v), nil
}

func (s *Service) fingerprint(layer *render.Layer, _ *snapshot.Values, spec render.Spec) (fp render.Fingerprint, notBlank bool, err error) {
	defer s.recoverTo(&err, "taking the fingerprint")
	fp, notBlank = s.renderer.Fingerprint(layer, spec)
	return fp, notBlank, nil
}

func (s *Service) key(spec render.Spec, fp render.Fingerprint) Key {
	return Key{render.Version, s.options.Variant, spec.Style, spec.Colormap, spec.Tile, spec.Scale, fp}
}

// client returns who asks for a tile.
func (s *Service) client(ctx context.Context) admission.Client {
	if s.options.Client == nil {
		return admission.Client{}
	}
	return s.options.Client(ctx)
}

// inTurn calls work when it is f's turn, as one of c's: while the queue is long, on a thread of low priority. Work should begin with commit:
// from then on f ends with a tile, even if all its callers leave.
func (s *Service) inTurn(f *flight, c admission.Client, work func() error) error {
	_, span := s.begin(f.ctx, "tile queue")
	s.metrics.renderQueue.Inc()
	waiting := true
	waited := func(err error) {
		waiting = false
		s.metrics.renderQueue.Dec()
		end(span, err)
	}
	err := s.turns.DoAt(f.ctx, &f.place, c, func() error {
		waited(nil)
		return work()
	})
	if !waiting {
		return err
	}
	if errors.Is(err, admission.ErrBusy) {
		err = ErrBusy
	}
	waited(err)
	return err
}

// drawAndKeep draws a tile, and puts it into memory and on disk. Flights of several views that come to the same key share that.
func (s *Service) drawAndKeep(ctx context.Context, key Key, sum Sum, draw func() ([]byte, error)) (Tile, error) {
	t, err, _ := s.drawing.Do(string(sum[:]), func() (any, error) {
		b, err := s.draw(ctx, draw)
		if err != nil {
			return Tile{}, err
		}
		t := newTile(b)
		s.memory.put(sum, t)
		if s.options.Disk != nil {
			s.options.Disk.Put(key.Encode(), t.Bytes)
		}
		return t, nil
	})
	return t.(Tile), err
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

func (s *Service) render(layer *render.Layer, _ *snapshot.Values, spec render.Spec) (png []byte, err error) {
	defer s.recoverTo(&err, "drawing")
	png, err = s.renderer.Render(layer, spec)
	if err == nil && len(png) == 0 {
		err = errors.New("the renderer returned an empty image")
	}
	return png, err
}
