package middleware

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"limnomap/api/answer"
)

// untraced are the routes that machines request again and again: a trace of them would be of no use.
var untraced = []string{"healthz", "readyz", "metrics"}

// A Tracer puts spans around the requests that are sampled. It decides before it starts a span: a span that is not recorded
// costs nearly as much to start as one that is, and most requests are tiles from memory. A nil Tracer traces nothing.
type Tracer struct {
	tracer  trace.Tracer
	ratio   float64
	trusted func() []netip.Prefix
	now     func() time.Time
}

// NewTracer returns a Tracer of that share of the requests, 0 to 1, and of those that a trusted proxy marks as sampled. A nil
// tracer gives a nil Tracer. The result of trusted may change while requests are served.
func NewTracer(tracer trace.Tracer, ratio float64, trusted func() []netip.Prefix, now func() time.Time) *Tracer {
	if tracer == nil {
		return nil
	}
	return &Tracer{tracer, ratio, trusted, now}
}

// sample reports whether to trace r, and returns the context in which its span starts. The sender of a traceparent (W3C Trace
// Context, section 3.2) decides, but only if it is a trusted proxy: otherwise any client could have each of its requests traced.
func (t *Tracer) sample(r *http.Request) (context.Context, bool) {
	ctx := r.Context()
	if _, ok := r.Header["Traceparent"]; ok && trustedPeer(r, answer.PeerAddr(r), t.trusted()) {
		within := propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
		if parent := trace.SpanContextFromContext(within); parent.IsValid() {
			return within, parent.IsSampled()
		}
	}
	return ctx, rand.Float64() < t.ratio
}

// Route returns middleware that puts a span around the sampled requests of a route. The pattern is the route's in the router,
// empty if it has none. The values in a span come from closed lists: no address, no parameter, no key.
func (t *Tracer) Route(route, pattern string) Middleware {
	if t == nil || slices.Contains(untraced, route) {
		return func(next http.Handler) http.Handler { return next }
	}
	fixed := []attribute.KeyValue{attribute.String("limnomap.route", route)}
	if pattern != "" {
		fixed = append(fixed, semconv.HTTPRoute(pattern))
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, sampled := t.sample(r)
			if !sampled {
				next.ServeHTTP(w, r)
				return
			}
			method := methodClass(r.Method)
			if method == "other" {
				method = "_OTHER"
			}
			ctx, span := t.tracer.Start(ctx, method+" "+route,
				trace.WithSpanKind(trace.SpanKindServer),
				trace.WithTimestamp(arrival(r, t.now)),
				trace.WithAttributes(fixed...),
				trace.WithAttributes(semconv.HTTPRequestMethodKey.String(method)))
			answer.InfoOf(r).TraceID = span.SpanContext().TraceID().String()
			tw := answer.Track(w)
			returned := false
			defer func() { endSpan(span, finalStatus(tw, returned)) }() // deferred for handlers that panic
			next.ServeHTTP(tw, r.WithContext(ctx))
			returned = true
		})
	}
}

// endSpan ends the span of a request that was answered with that status.
func endSpan(span trace.Span, status int) {
	span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	if status >= http.StatusInternalServerError {
		span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(status)))
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
