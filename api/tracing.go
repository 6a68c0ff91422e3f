package api

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"limnomap/api/answer"
)

// untraced are the routes that machines ask again and again, and of which no trace tells anything.
var untraced = []string{"healthz", "readyz", "metrics"}

// A sampler decides which requests are traced. It decides before there is a span, since one that is not recorded costs
// nearly as much to begin as one that is, and most requests are tiles from memory.
type sampler struct {
	ratio   float64               // of the requests that nobody else has decided about
	trusted func() []netip.Prefix // whose traceparent is believed now
}

// sample reports whether r is to be traced, and returns the context that its span begins in. Who sends a traceparent (W3C
// Trace Context, section 3.2) has decided, if that is a trusted proxy: else any client could have itself traced each time.
func (s *sampler) sample(r *http.Request) (context.Context, bool) {
	ctx := r.Context()
	if _, told := r.Header["Traceparent"]; told && trustedPeer(r, peerAddr(r), s.trusted()) {
		within := propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
		if parent := trace.SpanContextFromContext(within); parent.IsValid() {
			return within, parent.IsSampled()
		}
	}
	return ctx, rand.Float64() < s.ratio
}

// traced puts a span around the requests of a route that are to be traced; without a tracer it is h itself. What the span
// tells comes from closed lists: no address, no parameter, no key.
func (s *Server) traced(route, pattern string, h http.Handler) http.Handler {
	if s.opts.Tracer == nil || slices.Contains(untraced, route) {
		return h
	}
	which := &sampler{ratio: s.opts.TraceRatio, trusted: func() []netip.Prefix { return s.adjustable().TrustedProxies }}
	fixed := []attribute.KeyValue{attribute.String("limnomap.route", route)}
	if pattern != "" {
		fixed = append(fixed, semconv.HTTPRoute(s.opts.BasePath+pattern))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, sampled := which.sample(r)
		if !sampled {
			h.ServeHTTP(w, r)
			return
		}
		method := methodClass(r.Method)
		if method == "other" {
			method = "_OTHER"
		}
		ctx, span := s.opts.Tracer.Start(ctx, method+" "+route,
			trace.WithSpanKind(trace.SpanKindServer),
			trace.WithTimestamp(s.metrics.arrival(r)),
			trace.WithAttributes(fixed...),
			trace.WithAttributes(semconv.HTTPRequestMethodKey.String(method)))
		if info := answer.InfoOf(r); info != nil {
			info.TraceID = span.SpanContext().TraceID().String()
		}
		tw := answer.Track(w)
		returned := false
		defer func() { endRequest(span, tw.Status, returned) }() // deferred for handlers that panic
		h.ServeHTTP(tw, r.WithContext(ctx))
		returned = true
	})
}

// endRequest ends the span of a request that was answered with that status, 0 for none.
func endRequest(span trace.Span, status int, returned bool) {
	if status == 0 {
		// What net/http, or recoverPanics around us, is about to answer.
		if status = http.StatusOK; !returned {
			status = http.StatusInternalServerError
		}
	}
	span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if status >= http.StatusInternalServerError {
		span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(status)))
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
