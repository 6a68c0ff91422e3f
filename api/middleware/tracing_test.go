package middleware

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"limnomap/api/answer"
	"limnomap/api/apitest"
)

func TestTracer(t *testing.T) {
	const sampled, unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	for _, tt := range []struct {
		name        string
		ratio       float64
		route, peer string
		traceparent string
		want        int // spans
	}{
		{"none", 0, "tile", "192.0.2.1:1", "", 0},
		{"all", 1, "tile", "192.0.2.1:1", "", 1},
		{"a route for machines", 1, "healthz", "192.0.2.1:1", "", 0},
		{"a proxy wants a trace", 0, "tile", "10.0.0.1:1", sampled, 1},
		{"a proxy wants no trace", 1, "tile", "10.0.0.1:1", unsampled, 0},
		{"a client wants a trace", 0, "tile", "192.0.2.1:1", sampled, 0},
		{"a malformed traceparent", 1, "tile", "10.0.0.1:1", "x", 1},
	} {
		recorder := tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithSpanProcessor(recorder))
		tracer := NewTracer(provider.Tracer("test"), tt.ratio, func() []netip.Prefix { return proxies("10.0.0.0/8") }, time.Now)
		var traceID string
		h := RequestID(tracer.Route(tt.route, "/{z}")(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			traceID = answer.InfoOf(r).TraceID
			w.WriteHeader(http.StatusInternalServerError)
		})))
		r := apitest.From(tt.peer, http.Header{})
		if tt.traceparent != "" {
			r.Header.Set("Traceparent", tt.traceparent)
		}
		apitest.Serve(t, h, r)
		spans := recorder.Ended()
		if len(spans) != tt.want || (traceID != "") != (tt.want > 0) {
			t.Errorf("%s: %d spans, trace id %q, want %d spans", tt.name, len(spans), traceID, tt.want)
			continue
		}
		if tt.want > 0 && (spans[0].Name() != "GET "+tt.route || spans[0].Status().Code.String() != "Error") {
			t.Errorf("%s: span %q with status %v, want an error of the route", tt.name, spans[0].Name(), spans[0].Status())
		}
	}
}

func TestNoTracer(t *testing.T) {
	h := NewTracer(nil, 1, nil, time.Now).Route("tile", "")(apitest.OK)
	if resp := apitest.Serve(t, h, httptest.NewRequest("GET", "/", nil)); resp.StatusCode != http.StatusOK {
		t.Errorf("status = %d, want 200", resp.StatusCode)
	}
}
