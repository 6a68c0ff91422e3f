package main

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// A tracedSource is a source whose queries are spans. A history, or a forecast of an earlier issue, is a child of the span of its request. Loading a snapshot, or
// older weeks, is a trace of its own: it is rare, and for all clients. Spans have neither the arguments nor the errors, which
// may name a lake or a server.
type tracedSource struct {
	snapshot.Source
	tracer trace.Tracer
}

// traceSource returns s itself if t is nil.
func traceSource(s snapshot.Source, t trace.Tracer) snapshot.Source {
	if t == nil {
		return s
	}
	return tracedSource{s, t}
}

// Scan implements data.Source.
func (s tracedSource) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (revision data.Revision, err error) {
	ctx, span := s.tracer.Start(ctx, "store scan", trace.WithSpanKind(trace.SpanKindClient))
	var lakes, observations int
	defer func() {
		span.SetAttributes(attribute.Int("limnomap.lakes", lakes), attribute.Int("limnomap.observations", observations))
		endSpan(span, err)
	}()
	return s.Source.Scan(ctx, func(l data.Lake) error {
		lakes++
		return lake(l)
	}, func(o data.Observation) error {
		observations++
		return observation(o)
	})
}

// Past implements data.Source.
func (s tracedSource) Past(ctx context.Context, period data.Period, observation func(data.Observation) error) (revision data.Revision, err error) {
	ctx, span := s.tracer.Start(ctx, "store past", trace.WithSpanKind(trace.SpanKindClient))
	defer func() { endSpan(span, err) }()
	return s.Source.Past(ctx, period, observation)
}

// History implements data.Source.
func (s tracedSource) History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (lake data.Lake, observations []data.Observation, err error) {
	if !trace.SpanFromContext(ctx).IsRecording() { // this request is not traced
		return s.Source.History(ctx, id, q)
	}
	ctx, span := s.tracer.Start(ctx, "store history", trace.WithSpanKind(trace.SpanKindClient))
	defer func() { endSpan(span, err) }()
	return s.Source.History(ctx, id, q)
}

// Forecasts implements data.Source. The newest issue is read for all clients, an earlier one for a request.
func (s tracedSource) Forecasts(ctx context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (issue data.ForecastIssue, revision data.Revision, err error) {
	if issued.Known && !trace.SpanFromContext(ctx).IsRecording() {
		return s.Source.Forecasts(ctx, issued, each)
	}
	ctx, span := s.tracer.Start(ctx, "store forecasts", trace.WithSpanKind(trace.SpanKindClient))
	defer func() { endSpan(span, err) }()
	return s.Source.Forecasts(ctx, issued, each)
}

// LakeForecast implements data.Source.
func (s tracedSource) LakeForecast(ctx context.Context, id data.LakeID, issued data.Date) (issue data.ForecastIssue, forecast data.LakeForecast, err error) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return s.Source.LakeForecast(ctx, id, issued)
	}
	ctx, span := s.tracer.Start(ctx, "store forecast", trace.WithSpanKind(trace.SpanKindClient))
	defer func() { endSpan(span, err) }()
	return s.Source.LakeForecast(ctx, id, issued)
}

// traceRefresh returns a function that starts the span of a refresh, or nil if t is nil.
func traceRefresh(t trace.Tracer) func(context.Context) (context.Context, func(error)) {
	if t == nil {
		return nil
	}
	return func(ctx context.Context) (context.Context, func(error)) {
		ctx, span := t.Start(ctx, "refresh")
		return ctx, func(err error) { endSpan(span, err) }
	}
}

// endSpan ends a span. An unknown lake, a missing forecast, or a client that left is not an error.
func endSpan(span trace.Span, err error) {
	if err != nil && !errors.Is(err, data.ErrNoLake) && !errors.Is(err, data.ErrNoForecast) && !errors.Is(err, context.Canceled) {
		span.SetAttributes(semconv.ErrorTypeOther)
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
