package tiles

import (
	"context"
	"errors"
	"slices"

	"github.com/paulmach/orb/maptile"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Where a tile came from, in its span.
const (
	tierBlank  = "blank"  // no lake is in reach
	tierMemory = "memory" // of this process
	tierDisk   = "disk"
	tierRender = "render" // it was drawn
	tierShared = "shared" // from a flight that another caller began
)

// begin begins a span if ctx has one that is recorded, and otherwise returns one that does nothing: a tile that is not
// traced costs no more than this question. The caller ends the span. The spans of a flight belong to the caller that began
// it, and may end later than its own: a flight continues for those who join it.
func (s *Service) begin(ctx context.Context, name string) (context.Context, trace.Span) {
	if s.options.Tracer == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, trace.SpanFromContext(context.Background())
	}
	return s.options.Tracer.Start(ctx, name)
}

// beginTile begins the span of a requested tile.
func (s *Service) beginTile(ctx context.Context, style StyleID, zoom maptile.Zoom, scale int) (context.Context, trace.Span) {
	ctx, span := s.begin(ctx, "tile")
	if span.IsRecording() {
		if style != VectorStyle && !slices.Contains(s.styles, style) {
			style = "unknown" // the client may have invented the name
		}
		span.SetAttributes(
			attribute.String("limnomap.tile.style", string(style)),
			attribute.Int("limnomap.tile.zoom", int(zoom)),
			attribute.Int("limnomap.tile.scale", scale))
	}
	return ctx, span
}

// traceTier sets where the tile of ctx's span came from.
func (s *Service) traceTier(ctx context.Context, tier string) {
	if s.options.Tracer == nil {
		return
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.String("limnomap.tile.tier", tier))
	}
}

// endTile ends the span of a requested tile, and counts a refusal.
func (s *Service) endTile(span trace.Span, err error) {
	if err != nil && errors.Is(err, ErrBusy) {
		s.metrics.shed.Inc()
	}
	end(span, err)
}

// end ends a span. It carries only the kind of an error, since the text may name private things. It is no error that a
// caller left, or asked for a tile that does not exist.
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
