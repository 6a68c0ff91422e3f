package tiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/paulmach/orb/maptile"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render"
	"limnomap/render/vector"
)

var (
	// ErrBusy is returned when as many renders wait as may: try again soon.
	ErrBusy = errors.New("too many tiles are waiting to be drawn")
	// ErrOutOfRange is returned for a tile address that is no tile, or beyond the largest zoom.
	ErrOutOfRange = errors.New("no such tile")
)

// Those who ask for tiles name styles by these, without knowing the renderer.
type (
	StyleID = render.StyleID
	Style   = render.Style
)

// A Renderer draws tiles; *render.Renderer does. It must be safe for concurrent use. A panic of it fails the tile
// that was asked for and nothing else.
type Renderer interface {
	Layer(v *data.View) *render.Layer
	// LayerOn makes the same, sooner, on a layer of a view with the very same Lakes.
	LayerOn(other *render.Layer, v *data.View) *render.Layer
	Fingerprint(l *render.Layer, s render.Spec) (fp render.Fingerprint, any bool)
	Render(l *render.Layer, s render.Spec) ([]byte, error)
	// MayShow reports false only if a tile and all tiles within it at larger zooms are blank.
	MayShow(l *render.Layer, t maptile.Tile, style StyleID) bool
}

// maxScale is the finest scale that tiles are drawn at.
const maxScale = 2

// A Request names a tile of a view.
type Request struct {
	Tile     maptile.Tile
	Scale    int // 1 or 2
	Style    StyleID
	Colormap colormap.ID
}

// A Tile is a finished tile. Its bytes are shared and must not be changed.
type Tile struct {
	Bytes []byte // a PNG; of a vector tile, the tile, compressed with gzip
	ETag  string // hexadecimal hash of Bytes, without quotes
	Blank bool
	Note  *Note // shared by all who get the tile while it is in memory; nil for one that is not
}

// Options are the optional parameters of [New]. A nil *Options means all defaults.
type Options struct {
	// MemoryBytes bounds the encoded tiles kept in memory. Zero means 64 MiB.
	MemoryBytes int64
	// Dir is the folder of the disk cache, made if there is none. Empty means no disk cache.
	Dir string
	// DiskBytes bounds the disk cache. Zero means 1 GiB.
	DiskBytes int64
	// MinFree is how much of the space on Dir's disk the cache leaves free: where less is, it shrinks and takes nothing
	// more. Zero means 1 GiB, or a twentieth of a disk smaller than 20 GiB; a negative value means no such bound. Systems
	// other than Linux, macOS and FreeBSD do not say what is free: there it must not be positive.
	MinFree int64
	// Variant names what shapes the Renderer's pixels beyond the lakes and the Request: the profile whose limits its
	// colour maps are fitted to, such as "who2003". It is part of each tile's [Key] and required with Dir, since two
	// servers of different profiles that share a folder would otherwise show each other's colours.
	Variant string
	// MaxZoom is the largest zoom that is drawn, at most render.MaxZoom. Zero means 18.
	MaxZoom maptile.Zoom
	// Renders is how many tiles are drawn at once, and one fewer while more than these wait. Zero means as many as there
	// are processors.
	Renders int
	// Queue is how many more may wait to be drawn before ErrBusy. Zero means 512.
	Queue int
	// RenderTimeout bounds how long a caller waits for a tile to be drawn, after which it gets ErrBusy. Zero means 10
	// seconds.
	RenderTimeout time.Duration
	// Vectors writes vector tiles. Nil means that there are none.
	Vectors *vector.Encoder
	// Tracer begins the spans of tiles that are asked for within a span that is recorded. Nil: none are.
	Tracer trace.Tracer
	// Logger receives cache faults that fail no request, and the stacks of renderer panics. Nil discards them.
	Logger *slog.Logger
	// Registerer receives the metrics of this package. Nil exports none.
	Registerer prometheus.Registerer
}

// withDefaults returns a copy of o with defaults for what is zero, or an error for what cannot be.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	for _, n := range []struct {
		name  string
		value int64
	}{
		{"MemoryBytes", c.MemoryBytes},
		{"DiskBytes", c.DiskBytes},
		{"Renders", int64(c.Renders)},
		{"Queue", int64(c.Queue)},
		{"RenderTimeout", int64(c.RenderTimeout)},
	} {
		if n.value < 0 {
			return c, fmt.Errorf("tiles: option %s is %d, and must not be negative", n.name, n.value)
		}
	}
	if c.MaxZoom > render.MaxZoom {
		return c, fmt.Errorf("tiles: option MaxZoom is %d, and may be at most %d", c.MaxZoom, render.MaxZoom)
	}
	if c.MinFree > 0 && !knowsSpace {
		return c, fmt.Errorf("tiles: option MinFree is %d, and this system does not say how much space is free", c.MinFree)
	}
	if c.Dir != "" {
		if err := checkName(c.Variant); err != nil {
			return c, fmt.Errorf("tiles: option Dir needs option Variant, the name of the renderer's profile such as who2003: %w", err)
		}
	}
	c.MemoryBytes = orDefault(c.MemoryBytes, 64<<20)
	c.DiskBytes = orDefault(c.DiskBytes, 1<<30)
	c.MaxZoom = orDefault(c.MaxZoom, 18)
	c.Renders = orDefault(c.Renders, runtime.GOMAXPROCS(0))
	c.Queue = orDefault(c.Queue, 512)
	c.RenderTimeout = orDefault(c.RenderTimeout, 10*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// A Service serves tiles. It is safe for concurrent use.
type Service struct {
	renderer  Renderer
	options   Options
	metrics   *metrics
	styles    []StyleID
	colormaps []colormap.ID
	blanks    [maxScale]Tile // of scale 1 and 2
	layers    *layers
	memory    *memory
	disk      *disk // nil without a folder
	flights   *flights
	vectors   *vectorLayers
	empty     Tile // the vector tile without a lake
	closing   sync.Once
}

// New returns a Service that draws missing tiles with r. With a disk cache it has goroutines that look after it, and from
// the first crowd on a thread or more to draw on: Close ends them.
func New(r Renderer, opts *Options) (*Service, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	m := newMetrics(o.Registerer)
	s := &Service{
		renderer:  r,
		options:   o,
		metrics:   m,
		colormaps: colormap.IDs(),
		memory:    newMemory(o.MemoryBytes, m),
		flights:   newFlights(o.Renders, o.Queue, o.RenderTimeout, m),
		vectors:   newVectorLayers(),
	}
	for _, style := range render.Styles() {
		s.styles = append(s.styles, style.ID)
	}
	s.layers = newLayers(s.buildLayer, m)
	for i := range s.blanks {
		s.blanks[i] = newTile(render.Blank(i + 1))
		s.blanks[i].Blank = true
		s.blanks[i].Note = new(Note)
	}
	if o.Vectors != nil {
		if s.empty, err = newEmptyVector(o.Vectors); err != nil {
			return nil, fmt.Errorf("tiles: %w", err)
		}
	}
	if o.Dir != "" {
		s.disk = newDisk(o.Dir, o.DiskBytes, o.MinFree, time.Now, o.Logger, m)
		s.disk.start() // until Close
		m.diskEnabled.Set(1)
	}
	return s, nil
}

// Tile returns a tile of v. ErrOutOfRange, [render.ErrUnknownStyle], [colormap.ErrUnknown], ErrBusy, or ctx's error if
// the caller left.
func (s *Service) Tile(ctx context.Context, v *data.View, req Request) (Tile, error) {
	ctx, span := s.beginTile(ctx, req.Style, req.Tile.Z, req.Scale)
	t, err := s.tile(ctx, v, req)
	end(span, err)
	if err != nil {
		if errors.Is(err, ErrBusy) {
			s.metrics.shed.Inc()
		}
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
	spec := render.Spec{Tile: req.Tile, Scale: req.Scale, Style: req.Style, Colormap: req.Colormap}
	fp, any, err := s.fingerprint(layer, spec)
	if err != nil {
		return Tile{}, err
	}
	if !any {
		s.metrics.blankHits.Inc()
		s.from(ctx, tierBlank)
		return s.blanks[req.Scale-1], nil
	}
	key := Key{render.Version, s.options.Variant, req.Style, req.Colormap, req.Tile, req.Scale, fp}
	sum := key.Sum()
	if t, ok := s.memory.get(sum); ok {
		s.metrics.memoryHits.Inc()
		s.from(ctx, tierMemory)
		return t, nil
	}
	return s.fly(ctx, key, sum, func() ([]byte, error) { return s.render(layer, spec) })
}

// fly returns the tile of key from the disk, or as render draws it.
func (s *Service) fly(ctx context.Context, key Key, sum Sum, render func() ([]byte, error)) (Tile, error) {
	where := search{
		lookup: func(ctx context.Context) (Tile, bool) {
			t, _, ok := s.lookup(ctx, sum)
			return t, ok
		},
		draw: func() ([]byte, error) { return s.draw(render) },
		keep: func(png []byte) Tile { return s.keep(key, sum, png) },
	}
	if !s.traces(ctx) {
		return s.flights.do(ctx, sum, where)
	}
	return s.flyTraced(ctx, sum, where)
}

// check refuses whatever the renderer would refuse: a fingerprint has no error, so that a refusal there would look
// like a tile without lakes.
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

// validTile reports whether there is such a tile, at most of that zoom.
func validTile(t maptile.Tile, maxZoom maptile.Zoom) bool {
	// The zoom first: a shift by a larger one than x has bits leaves nothing of any x, and maptile.Tile.Valid allows 31.
	return t.Z <= maxZoom && t.X>>t.Z == 0 && t.Y>>t.Z == 0
}

// lookup looks once more in memory, where a flight that has ended meanwhile may have put the tile, and on disk.
func (s *Service) lookup(ctx context.Context, key Sum) (t Tile, tier string, ok bool) {
	if t, ok := s.memory.get(key); ok {
		s.metrics.memoryHits.Inc()
		return t, tierMemory, true
	}
	if s.disk != nil {
		if t, ok := s.disk.get(ctx, key); ok {
			s.metrics.diskHits.Inc()
			s.memory.put(key, t)
			return t, tierDisk, true
		}
	}
	s.metrics.misses.Inc()
	return Tile{}, "", false
}

// draw draws a tile with render, and measures it. An error is kept nowhere.
func (s *Service) draw(render func() ([]byte, error)) ([]byte, error) {
	s.metrics.rendersInFlight.Inc()
	defer s.metrics.rendersInFlight.Dec()
	timer := prometheus.NewTimer(s.metrics.renderDuration)
	png, err := render()
	timer.ObserveDuration()
	s.metrics.renders.Inc()
	if err != nil {
		s.metrics.renderFailures.Inc()
	}
	return png, err
}

// keep makes a tile of what was drawn, and keeps it.
func (s *Service) keep(key Key, sum Sum, png []byte) Tile {
	if cap(png) > len(png)+memoryOverhead { // the rest of an encoder's buffer is not worth keeping as long as a tile
		png = bytes.Clone(png)
	}
	t := newTile(png)
	s.memory.put(sum, t)
	if s.disk != nil {
		s.disk.put(key, t)
	}
	return t
}

func (s *Service) render(layer *render.Layer, spec render.Spec) (png []byte, err error) {
	defer s.recoverTo(&err, "drawing")
	png, err = s.renderer.Render(layer, spec)
	if err == nil && len(png) == 0 {
		err = errors.New("the renderer gave an empty image")
	}
	return png, err
}

func (s *Service) fingerprint(layer *render.Layer, spec render.Spec) (fp render.Fingerprint, any bool, err error) {
	defer s.recoverTo(&err, "taking the fingerprint")
	fp, any = s.renderer.Fingerprint(layer, spec)
	return fp, any, nil
}

func (s *Service) buildLayer(v *data.View, like *render.Layer) (layer *render.Layer, err error) {
	defer s.recoverTo(&err, "making the layer")
	if like != nil {
		return s.renderer.LayerOn(like, v), nil
	}
	return s.renderer.Layer(v), nil
}

// recoverTo turns a panic of the renderer into an error, for it may happen on a goroutine that no HTTP server guards,
// and there it would end the process. The stack goes to the log, where the error alone could not lead to the place.
func (s *Service) recoverTo(err *error, doing string) {
	if p := recover(); p != nil {
		s.options.Logger.Error("renderer panicked", "doing", doing, "panic", p, "stack", string(debug.Stack()))
		*err = fmt.Errorf("renderer panicked while %s: %v", doing, p)
	}
}

// Close waits for the work in flight, writes what waits for the disk, and ends the Service's goroutines. Tiles that
// are not in memory are ErrBusy from then on. It always returns nil; later calls wait for the first.
func (s *Service) Close() error {
	s.closing.Do(func() {
		s.flights.close()
		if s.disk != nil {
			s.disk.close()
		}
	})
	return nil
}
