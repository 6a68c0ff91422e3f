package tiles

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/paulmach/orb/maptile"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/render/vector"
	"limnomap/tiles/admission"
)

// A Renderer draws tiles; *render.Renderer does. It must be safe for concurrent use. A panic in it fails only the tile that
// was asked for.
type Renderer interface {
	Layer(v *snapshot.Values) *render.Layer
	// FirstLayer returns the same as Layer, and uses all processors.
	FirstLayer(v *snapshot.Values) *render.Layer
	// LayerOn returns the same as Layer, and is faster: other is a layer of a view with the very same Lakes.
	LayerOn(other *render.Layer, v *snapshot.Values) *render.Layer
	// Successor returns the same as Layer, and is faster: before is a layer of a view with lakes in the same places.
	Successor(before *render.Layer, v *snapshot.Values) *render.Layer
	// Known returns the same as Fingerprint, without looking at the lakes, if the layer remembers it.
	Known(l *render.Layer, s render.Spec) (fp render.Fingerprint, notBlank, ok bool)
	// Fingerprint reports false if the tile is blank.
	Fingerprint(l *render.Layer, s render.Spec) (fp render.Fingerprint, notBlank bool)
	Render(l *render.Layer, s render.Spec) ([]byte, error)
	// Paint returns the pixels of a part, without pixels if nothing is there.
	Paint(l *render.Layer, s render.Spec, part render.Part) (render.Painting, error)
	// MayShow reports false only if a tile and all tiles within it at larger zooms are blank.
	MayShow(l *render.Layer, t maptile.Tile, style StyleID) bool
	// PixelLakes returns the lakes whose pixels a part shows if there are any, and WithPixels a layer with pixels of lakes.
	PixelLakes(l *render.Layer, s render.Spec, part render.Part) []int
	WithPixels(l *render.Layer, of map[int]*render.LakePixels) *render.Layer
}

// A Disk keeps tiles across restarts; *disk.Cache does. It must be safe for concurrent use.
type Disk interface {
	// Get returns the body whose key has that SHA-256, and the first half of the body's SHA-256.
	Get(ctx context.Context, sum [sha256.Size]byte) (body []byte, digest [digestLen]byte, ok bool)
	// Put keeps body, or drops it. It does not wait for the disk.
	Put(key, body []byte)
}

// Options are the optional parameters of [New]. A nil *Options means all defaults.
type Options struct {
	// MemoryBytes bounds the encoded tiles kept in memory. Zero means 64 MiB.
	MemoryBytes int64
	// Disk keeps tiles across restarts. Nil means no disk cache. It must stay open until the Service is closed.
	Disk Disk
	// Variant names what affects the Renderer's pixels besides the lakes and the Request: the profile whose limits its
	// colour maps use, such as "who2003". It is part of each tile's [Key] and required with Disk: two servers with different
	// profiles that share a folder would otherwise show each other's colours.
	Variant string
	// MaxZoom is the largest zoom that is drawn, at most render.MaxZoom. Zero means 18.
	MaxZoom maptile.Zoom
	// Turns bound the work for tiles together with that of others. They must stay open until the Service is closed. Nil means
	// turns of the Service's own, with Renders and Queue.
	Turns *admission.Turns
	// Client returns who asks for a tile, so that Turns are shared fairly. Nil means that all are the same client.
	Client func(context.Context) admission.Client
	// Renders is how many tiles are drawn at once, and one fewer while more than that wait. Zero means as many as there are
	// processors. With Turns, it only bounds a [Plot].
	Renders int
	// Queue is how many more may wait to be drawn before ErrBusy. Zero means 512. With Turns, it has no effect.
	Queue int
	// RenderTimeout bounds how long a caller waits for its turn, or for a tile that another caller draws; then it gets ErrBusy. Zero
	// means 10 seconds.
	RenderTimeout time.Duration
	// Pixels reads the pixels of lakes, which have an eighth of MemoryBytes then. Nil means that there are none.
	Pixels Pixels
	// Memory bounds the pixels that are read and decoded for tiles until these are drawn, together with what else it is for; those that are kept for other
	// tiles are in MemoryBytes. Nil means no bound.
	Memory *admission.Budget
	// Vectors encodes vector tiles. Nil means that there are none.
	Vectors *vector.Encoder
	// Tracer begins spans for tiles that are asked for in a recorded span. Nil means no spans.
	Tracer trace.Tracer
	// Logger receives the stacks of renderer panics. Nil discards them.
	Logger *slog.Logger
	// Registerer receives the metrics of this package. Nil exports none.
	Registerer prometheus.Registerer
}

// withDefaults returns a copy of o with defaults for its zero fields, or an error for a value that is not allowed.
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
	if c.Disk != nil {
		if err := checkName(c.Variant); err != nil {
			return c, fmt.Errorf("tiles: option Disk needs option Variant, the name of the renderer's profile such as who2003: %w", err)
		}
	}
	c.MemoryBytes = cmp.Or(c.MemoryBytes, 64<<20)
	c.MaxZoom = cmp.Or(c.MaxZoom, 18)
	c.Renders = cmp.Or(c.Renders, runtime.GOMAXPROCS(0))
	c.Queue = cmp.Or(c.Queue, 512)
	c.RenderTimeout = cmp.Or(c.RenderTimeout, 10*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
