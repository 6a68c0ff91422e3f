package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

const (
	// tracesPath is the path for traces below the address of a receiver (OTLP 1.9, "OTLP/HTTP Request").
	tracesPath = "/v1/traces"
	// flushTimeout bounds how long the server sends the last spans when it stops.
	flushTimeout = 3 * time.Second
	// maxExportError bounds the length of an error in the log.
	maxExportError = 300
)

type tracingFlags struct {
	OTLPEndpoint string  `name:"otlp-endpoint" help:"Send traces to this OpenTelemetry receiver by OTLP over HTTP, such as http://127.0.0.1:4318; /v1/traces is added if it is missing. OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME are used. Off by default." check:"otlp-endpoint" placeholder:"URL" group:"Tracing"`
	TraceRatio   float64 `help:"Share of the requests that are traced, 0 to 1. For a request with a traceparent from one of --trusted-proxies, the traceparent decides." default:"0.01" allowed:"0..1" group:"Tracing"`
}

// A tracing sends the spans of the process. A nil *tracing sends nothing.
type tracing struct {
	provider *sdktrace.TracerProvider
	stop     context.CancelFunc // aborts an export
}

// openTraces returns nil without --otlp-endpoint. It connects when the first spans are sent.
func (f *tracingFlags) openTraces(reg prometheus.Registerer, log *slog.Logger) (*tracing, error) {
	if f.OTLPEndpoint == "" {
		return nil, nil
	}
	endpoint, err := traceEndpoint(f.OTLPEndpoint)
	if err != nil {
		return nil, fmt.Errorf("--otlp-endpoint: %w", err)
	}
	logTracing(log)
	life, stop := context.WithCancel(context.Background())
	sender, err := otlptrace.New(life, newTraceClient(endpoint, os.Getenv, log))
	if err != nil {
		stop()
		return nil, fmt.Errorf("--otlp-endpoint: %w", err)
	}
	// The environment comes last: it overrides the other attributes.
	described, err := resource.New(life, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(semconv.ServiceName("limnomap"), semconv.ServiceVersion(buildVersion())), resource.WithFromEnv())
	if err != nil {
		log.Warn("some attributes of this server are missing in traces", "error", err)
	}
	e := newExporter(sender, life, reg, log)
	log.Info("sending traces", "endpoint", endpoint, "ratio", f.TraceRatio)
	return &tracing{sdktrace.NewTracerProvider(
		sdktrace.WithResource(described),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), // the code that starts a span decides
		sdktrace.WithSpanProcessor(countingProcessor{sdktrace.NewBatchSpanProcessor(e), e.ended}),
	), stop}, nil
}

// traceEndpoint returns the URL for traces. Errors do not repeat text that may hold a password.
func traceEndpoint(s string) (string, error) {
	const want = "want http://HOST[:PORT][/PATH], or https://"
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", errors.New("not a URL: " + want)
	case u.User != nil:
		return "", errors.New("the URL has a user or password, but command lines are visible to other users: use " +
			"OTEL_EXPORTER_OTLP_HEADERS, such as Authorization=Basic%20…")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("the URL has a query or fragment: " + want)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", fmt.Errorf("%q is not the address of a receiver: %s", s, want)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if !strings.HasSuffix(u.Path, tracesPath) {
		u.Path += tracesPath
	}
	return u.String(), nil
}

// tracer returns the tracer that starts spans, or nil.
func (t *tracing) tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer("limnomap", trace.WithInstrumentationVersion(buildVersion()))
}

// close sends the last spans, for at most flushTimeout. Spans that cannot be sent are lost and counted; this is not an error of
// the server.
func (t *tracing) close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	defer t.stop()
	defer context.AfterFunc(ctx, t.stop)()
	_ = t.provider.Shutdown(ctx) // the exporter has logged its failures
}

// A countingProcessor counts the spans that have ended, to show how many a full queue has dropped.
type countingProcessor struct {
	sdktrace.SpanProcessor
	ended prometheus.Counter
}

func (c countingProcessor) OnEnd(s sdktrace.ReadOnlySpan) {
	c.ended.Inc()
	c.SpanProcessor.OnEnd(s)
}

// An exporter sends spans, counts failures, and logs when failures begin and end. It does not return them: the SDK would write
// them to stderr in its own format.
type exporter struct {
	sdktrace.SpanExporter
	life            context.Context
	log             *slog.Logger
	ended, exported prometheus.Counter
	failures        prometheus.Counter
	failing         atomic.Bool
}

// newExporter returns an exporter whose exports end at the latest when life ends.
func newExporter(to sdktrace.SpanExporter, life context.Context, reg prometheus.Registerer, log *slog.Logger) *exporter {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		reg.MustRegister(c)
		return c
	}
	return &exporter{
		SpanExporter: to,
		life:         life,
		log:          log,
		ended:        counter("limnomap_trace_spans_total", "Spans to send: those that limnomap_trace_spans_exported_total does not count are waiting or lost."),
		exported:     counter("limnomap_trace_spans_exported_total", "Spans that the receiver of traces accepted."),
		failures:     counter("limnomap_trace_export_failures_total", "Attempts to send spans that failed; these spans are lost."),
	}
}

// ExportSpans implements sdktrace.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.failures.Inc()
		if !e.failing.Swap(true) {
			text := err.Error()
			e.log.Warn("cannot send traces", "error", text[:min(len(text), maxExportError)])
		}
		return nil
	}
	e.exported.Add(float64(len(spans)))
	if e.failing.Swap(false) {
		e.log.Info("sending traces again")
	}
	return nil
}

// standardVariables are variables of OpenTelemetry that have no effect without --otlp-endpoint.
var standardVariables = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// warnOfEnvironment warns of an endpoint in the environment that is not used.
func (f *tracingFlags) warnOfEnvironment(log *slog.Logger) {
	if f.OTLPEndpoint != "" {
		return
	}
	for _, name := range standardVariables {
		if os.Getenv(name) != "" {
			log.Warn("traces are not sent: set --otlp-endpoint or LIMNOMAP_OTLP_ENDPOINT", "ignored", name)
		}
	}
}
