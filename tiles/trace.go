package tiles

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/paulmach/orb/maptile"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Where a tile came from, as its span tells.
const (
	tierBlank  = "blank"  // no lake is in reach
	tierMemory = "memory" // of this process
	tierDisk   = "disk"
	tierRender = "render" // it was drawn
	tierShared = "shared" // another request was getting it already
)

// A tier says where a flight found its tile: written by the flight, read by the caller that began it, who may have left.
type tier struct{ value atomic.Pointer[string] }

func (t *tier) set(name string) { t.value.Store(&name) }

func (t *tier) name() string {
	if name := t.value.Load(); name != nil {
		return *name
	}
	return tierShared // by a flight that another caller began
}

// traces reports whether the work of ctx is traced. Spans are begun only beneath the caller's, so that a tile that nobody
// traces costs no more than this question, and without a tracer not even that.
func (s *Service) traces(ctx context.Context) bool {
	return s.options.Tracer != nil && trace.SpanFromContext(ctx).IsRecording()
}

// begin begins a span of that name if ctx is traced. The caller ends what it returns.
func (s *Service) begin(ctx context.Context, name string) (context.Context, trace.Span) {
	if !s.traces(ctx) {
		return ctx, trace.SpanFromContext(context.Background()) // one that does nothing
	}
	return s.options.Tracer.Start(ctx, name)
}

// beginTile begins the span of a tile that is asked for.
func (s *Service) beginTile(ctx context.Context, style StyleID, zoom maptile.Zoom, scale int) (context.Context, trace.Span) {
	ctx, span := s.begin(ctx, "tile")
	if span.IsRecording() {
		if style != VectorStyle && !slices.Contains(s.styles, style) {
			style = "unknown" // whoever asks may have invented it
		}
		span.SetAttributes(
			attribute.String("limnomap.tile.style", string(style)),
			attribute.Int("limnomap.tile.zoom", int(zoom)),
			attribute.Int("limnomap.tile.scale", scale))
	}
	return ctx, span
}

// from says where the tile of ctx's span came from.
func (s *Service) from(ctx context.Context, tier string) {
	if s.traces(ctx) {
		trace.SpanFromContext(ctx).SetAttributes(attribute.String("limnomap.tile.tier", tier))
	}
}

// end ends a span. Of an error only its sort is told: its text may name what is nobody's business. A caller who left, or who
// asked for what there is not, is no error.
func end(span trace.Span, err error) {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, ErrOutOfRange):
	case errors.Is(err, ErrBusy):
		span.SetAttributes(semconv.ErrorTypeKey.String("busy"))
		span.SetStatus(codes.Error, "")
	default:
		span.SetAttributes(semconv.ErrorTypeOther)
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// flyTraced is [flights.do] of a search, with a span for each thing that the flight does. They are this caller's, and may
// outlive its own: a flight goes on for those who join it.
func (s *Service) flyTraced(ctx context.Context, sum Sum, where search) (Tile, error) {
	found := new(tier)
	inner := where.draw
	where.lookup = func(flight context.Context) (Tile, bool) {
		flight, span := s.begin(flight, "tile lookup")
		defer span.End()
		t, name, ok := s.lookup(flight, sum)
		if ok {
			found.set(name)
		}
		return t, ok
	}
	where.wait = func() func(error) {
		_, span := s.begin(ctx, "tile queue")
		return func(err error) { end(span, err) }
	}
	where.draw = func() ([]byte, error) {
		found.set(tierRender)
		_, span := s.begin(ctx, "tile render")
		png, err := inner()
		end(span, err)
		return png, err
	}
	t, err := s.flights.do(ctx, sum, where)
	if err == nil {
		s.from(ctx, found.name())
	}
	return t, err
}
