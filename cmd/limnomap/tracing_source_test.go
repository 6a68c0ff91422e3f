package main

import (
	"context"
	"slices"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// withoutForecasts is a source without forecasts, and without anything else.
type withoutForecasts struct{ snapshot.Source }

func (withoutForecasts) Forecasts(ctx context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error) {
	return snapshot.NoForecasts{}.Forecasts(ctx, issued, each)
}

func (withoutForecasts) LakeForecast(ctx context.Context, id data.LakeID, issued data.Date) (data.ForecastIssue, data.LakeForecast, error) {
	return snapshot.NoForecasts{}.LakeForecast(ctx, id, issued)
}

// The newest forecasts are read in a trace of their own, and what a traced request reads of them in that of the request. A missing issue is no
// failure.
func TestTracedForecasts(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder)).Tracer("test")
	source := traceSource(withoutForecasts{}, tracer)
	read := func(ctx context.Context) {
		_, _, _ = source.Forecasts(ctx, data.Optional[data.Date]{}, nil)
		_, _, _ = source.Forecasts(ctx, data.Known(data.Date(1)), nil)
		_, _, _ = source.LakeForecast(ctx, "a", 1)
	}
	read(t.Context())
	ctx, request := tracer.Start(t.Context(), "request")
	read(ctx)
	request.End()
	var got []string
	for _, s := range recorder.Ended() {
		name := s.Name() + " " + s.Status().Code.String()
		if s.Parent().SpanID() == request.SpanContext().SpanID() {
			name += " of the request"
		}
		got = append(got, name)
	}
	want := []string{"store forecasts Unset", "store forecasts Unset of the request", "store forecasts Unset of the request", "store forecast Unset of the request", "request Unset"}
	if !slices.Equal(got, want) {
		t.Errorf("spans %q, want %q", got, want)
	}
}
