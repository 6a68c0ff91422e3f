package tiles

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

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
	spec := req.spec()
	pixels := s.showsPixels(v, spec)
	if layer, _ := s.layers.find(v); layer != nil {
		if fp, notBlank, ok := s.renderer.Known(layer, spec); ok {
			key := s.key(spec, fp)
			sum, t, tier := s.cached(&key, notBlank, &s.blanks[req.Scale-1])
			if tier != "" {
				s.traceTier(ctx, tier)
				return t, nil
			}
			if pixels { // they may have been replaced since the fingerprint was taken: it is taken again
				return s.tileOfPixels(ctx, v, spec)
			}
			return s.fly(ctx, key, sum, func() ([]byte, error) { return s.render(layer, spec) })
		}
	}
	if pixels {
		return s.tileOfPixels(ctx, v, spec)
	}
	failures := s.layers.failures.Load()
	return s.identify(ctx, unidentified{v, spec}, nil, func(ctx context.Context) (identity, error) {
		layer, err := s.layers.getSince(ctx, v, failures)
		if err != nil {
			return identity{}, err
		}
		fp, notBlank, err := s.fingerprint(layer, spec)
		return identity{s.key(spec, fp), notBlank, &s.blanks[req.Scale-1], func() ([]byte, error) { return s.render(layer, spec) }}, err
	})
}

// tileOfPixels returns a tile that may show pixels of lakes. Which lakes is found out in a turn; their pixels are read without one, since a database may be slow.
func (s *Service) tileOfPixels(ctx context.Context, v *snapshot.Values, spec render.Spec) (Tile, error) {
	var layer *render.Layer
	var pixels *tilePixels
	read := func(f *flight) (release func(), err error) {
		layer, pixels, err = s.layerAndPixels(f, v, spec, render.Part{})
		return pixels.release, err
	}
	return s.identify(ctx, unidentified{v, spec}, read, func(context.Context) (identity, error) {
		layer, err := s.withPixels(layer, v, pixels)
		if err != nil {
			return identity{}, err
		}
		fp, notBlank, err := s.fingerprint(layer, spec)
		return identity{s.key(spec, fp), notBlank, &s.blanks[spec.Scale-1], func() ([]byte, error) { return s.render(layer, spec) }}, err
	})
}

// layerAndPixels returns the layer of v and the pixels of the lakes of a part, which are not decoded and are to be released.
func (s *Service) layerAndPixels(f *flight, v *snapshot.Values, spec render.Spec, part render.Part) (layer *render.Layer, pixels *tilePixels, err error) {
	failures, client := s.layers.failures.Load(), s.client(f.ctx)
	err = s.inTurn(f.ctx, &f.reading, client, func() (err error) {
		if layer, err = s.layers.getSince(f.ctx, v, failures); err == nil {
			pixels, err = s.pixelsIn(layer, v, spec, part, client)
		}
		return err
	})
	if err == nil {
		err = s.readPixels(f.ctx, pixels)
	}
	if err == nil && s.options.Memory != nil {
		if pixels.hold, err = s.options.Memory.Hold(client, pixels.bytes()); err != nil {
			err = refusal{client}
		}
	}
	return layer, pixels, busy(err)
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

func (s *Service) fingerprint(layer *render.Layer, spec render.Spec) (fp render.Fingerprint, notBlank bool, err error) {
	defer s.recoverTo(&err, "taking the fingerprint")
	fp, notBlank = s.renderer.Fingerprint(layer, spec)
	return fp, notBlank, nil
}

func (s *Service) key(spec render.Spec, fp render.Fingerprint) Key {
	return Key{render.Version, s.options.Variant, spec.Style, spec.Colormap, spec.Tile, spec.Scale, fp}
}

// An unidentified tile is one whose key is not known yet: its view has no layer, or its layer remembers no fingerprint of it.
type unidentified struct {
	view any // a *snapshot.View or *snapshot.Values
	spec render.Spec
}

// An identity is the key of a tile, and how it is drawn if no tier has it.
type identity struct {
	key      Key
	notBlank bool
	blank    *Tile // the tile if it is blank
	draw     func() ([]byte, error)
}

// identify returns a tile whose key identity finds out. That may take a walk over millions of lakes, and even longer to build
// the layer first. So it is done when it is the tile's turn, once for all who want the tile, and if it must be drawn, in the
// same turn. What identity needs to read first it reads before its turn, and it is held until release; read is nil for nothing.
//
// What is held is held as that of the client who began the search. If that one may not hold as much, it is refused, and another one who waits for the tile searches again.
func (s *Service) identify(ctx context.Context, u unidentified, read func(*flight) (release func(), err error), identify func(context.Context) (identity, error)) (Tile, error) {
	client, began := s.client(ctx), time.Now()
	t, tier, err := s.search(ctx, u, client, read, identify)
	if errors.As(err, new(refusal)) {
		within, cancel := context.WithDeadlineCause(ctx, began.Add(s.options.RenderTimeout), s.searches.errLate)
		defer cancel()
		for refused := (refusal{}); errors.As(err, &refused) && refused.client != client; {
			t, tier, err = s.search(within, u, client, read, identify)
		}
	}
	if err == nil {
		s.traceTier(ctx, tier)
	}
	return t, err
}

// A refusal is ErrBusy for one client only, which has too much of what clients share.
type refusal struct{ client admission.Client }

func (refusal) Error() string { return ErrBusy.Error() }

func (refusal) Unwrap() error { return ErrBusy }

// search searches for identify, or waits for the search that another caller has begun.
func (s *Service) search(ctx context.Context, u unidentified, client admission.Client, read func(*flight) (release func(), err error), identify func(context.Context) (identity, error)) (Tile, string, error) {
	return s.searches.do(ctx, u, s.share(client), func(f *flight) (t Tile, tier string, err error) {
		var sum Sum
		var other *flight // draws the same tile, of another view
		if read != nil {
			release, err := read(f)
			if err != nil {
				return Tile{}, "", err
			}
			defer release()
		}
		err = s.inTurn(f.ctx, &f.place, client, func() error {
			if err := s.searches.commit(f); err != nil {
				return err
			}
			i, err := identify(f.ctx)
			if err != nil {
				return err
			}
			if sum, t, tier = s.cached(&i.key, i.notBlank, i.blank); tier != "" {
				return nil
			}
			drawing, shared, err := s.flights.join(f.ctx, sum)
			if err != nil {
				return err
			}
			if shared {
				other = drawing
				return nil
			}
			defer s.flights.running.Done()
			s.flights.run(sum, drawing, func(drawing *flight) (Tile, string, error) {
				if err := s.flights.commit(drawing); err != nil {
					return Tile{}, "", err
				}
				return s.findOrDraw(drawing.ctx, i.key, sum, i.draw)
			})
			t, tier = drawing.tile, drawing.tier
			return drawing.err
		})
		if other != nil {
			s.share(client)(other)
			return s.flights.wait(f.ctx, sum, other)
		}
		return t, tier, err
	})
}

// fly returns a tile that was not in memory. All callers of one key share one flight, which looks for the tile on disk, and
// if it is not there, waits for a turn to draw it and keeps it.
func (s *Service) fly(ctx context.Context, key Key, sum Sum, draw func() ([]byte, error)) (Tile, error) {
	client := s.client(ctx)
	t, tier, err := s.flights.do(ctx, sum, s.share(client), func(f *flight) (t Tile, tier string, err error) {
		if t, tier, ok := s.lookup(f.ctx, sum); ok {
			return t, tier, nil
		}
		err = s.inTurn(f.ctx, &f.place, client, func() error {
			if err := s.flights.commit(f); err != nil {
				return err
			}
			t, err = s.drawAndKeep(f.ctx, key, sum, draw)
			return err
		})
		return t, tierRender, err
	})
	if err == nil {
		s.traceTier(ctx, tier)
	}
	return t, err
}

// client returns who asks for a tile.
func (s *Service) client(ctx context.Context) admission.Client {
	if s.options.Client == nil {
		return admission.Client{}
	}
	return s.options.Client(ctx)
}

// share returns a function that has a flight come with the turns of c, if these are earlier than its own.
func (s *Service) share(c admission.Client) func(*flight) {
	return func(f *flight) {
		s.turns.Share(&f.reading, c)
		s.turns.Share(&f.place, c)
	}
}

// inTurn calls work when the turn of a place comes, as one of c's: while the queue is long, on a thread of low priority. The work of a flight should begin with
// commit: from then on it ends with a tile, even if all its callers leave.
func (s *Service) inTurn(ctx context.Context, place *admission.Place, c admission.Client, work func() error) error {
	_, span := s.begin(ctx, "tile queue")
	s.metrics.renderQueue.Inc()
	waiting := true
	waited := func(err error) {
		waiting = false
		s.metrics.renderQueue.Dec()
		end(span, err)
	}
	err := s.turns.DoAt(ctx, place, c, func() error {
		waited(nil)
		return work()
	})
	if !waiting {
		return err
	}
	err = busy(err)
	waited(err)
	return err
}

// busy returns ErrBusy in place of that of package admission.
func busy(err error) error {
	if errors.Is(err, admission.ErrBusy) {
		return ErrBusy
	}
	return err
}

// findOrDraw returns a tile that is on disk, or draws it.
func (s *Service) findOrDraw(ctx context.Context, key Key, sum Sum, draw func() ([]byte, error)) (Tile, string, error) {
	if t, tier, ok := s.lookup(ctx, sum); ok {
		return t, tier, nil
	}
	t, err := s.drawAndKeep(ctx, key, sum, draw)
	return t, tierRender, err
}

// drawAndKeep draws a tile and puts it into memory and on disk.
func (s *Service) drawAndKeep(ctx context.Context, key Key, sum Sum, draw func() ([]byte, error)) (Tile, error) {
	b, err := s.draw(ctx, draw)
	if err != nil {
		return Tile{}, err
	}
	return s.keep(key, sum, b), nil
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
