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
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

const (
	// tracesPath is where a receiver takes traces, below its address (OTLP 1.9, "OTLP/HTTP Request").
	tracesPath = "/v1/traces"
	// flushTimeout bounds how long the spans that are left may take to be sent when the server ends.
	flushTimeout = 3 * time.Second
	// maxExportError bounds what the log shows of an error.
	maxExportError = 300
)

type tracingFlags struct {
	OTLPEndpoint string  `name:"otlp-endpoint" help:"Send traces to this OpenTelemetry receiver by OTLP over HTTP, such as http://127.0.0.1:4318; /v1/traces is added where it is missing. OTEL_EXPORTER_OTLP_HEADERS, OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME are respected. Off by default." placeholder:"URL" group:"Tracing"`
	TraceRatio   float64 `help:"Share of the requests that are traced, 0 to 1. Of those that come with a traceparent from one of --trusted-proxies, what that says is done." default:"0.01" group:"Tracing"`
}

// A tracing is where the spans of the process go. A nil *tracing is none.
type tracing struct {
	provider *sdktrace.TracerProvider
	stop     context.CancelFunc // ends an export that is under way
}

// check returns an error if traces could not be sent with these flags, wherever they are to go.
func (f *tracingFlags) check() error {
	if !(f.TraceRatio >= 0 && f.TraceRatio <= 1) { // NaN is neither
		return fmt.Errorf("--trace-ratio %v: allowed are 0 to 1", f.TraceRatio)
	}
	if f.OTLPEndpoint == "" {
		return nil
	}
	if _, err := traceEndpoint(f.OTLPEndpoint); err != nil {
		return fmt.Errorf("--otlp-endpoint: %w", err)
	}
	return nil
}

// openTraces returns nil if there is nowhere to send traces to. Nothing is connected before the first spans are sent.
func (f *tracingFlags) openTraces(reg prometheus.Registerer, log *slog.Logger) (*tracing, error) {
	if err := f.check(); err != nil || f.OTLPEndpoint == "" {
		return nil, err
	}
	endpoint, err := traceEndpoint(f.OTLPEndpoint)
	if err != nil {
		return nil, fmt.Errorf("--otlp-endpoint: %w", err)
	}
	tellTracing(log)
	life, stop := context.WithCancel(context.Background())
	sender, err := otlptracehttp.New(life, otlptracehttp.WithEndpointURL(endpoint))
	if err != nil {
		stop()
		return nil, fmt.Errorf("--otlp-endpoint: %w", err)
	}
	// What the environment says stands over what we say of ourselves.
	described, err := resource.New(life, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(semconv.ServiceName("limnomap"), semconv.ServiceVersion(buildVersion())), resource.WithFromEnv())
	if err != nil {
		log.Warn("traces tell less of this server than they should", "error", err)
	}
	e := newExporter(sender, life, reg, log)
	log.Info("traces are sent", "endpoint", endpoint, "ratio", f.TraceRatio)
	return &tracing{sdktrace.NewTracerProvider(
		sdktrace.WithResource(described),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), // whoever begins a span has decided
		sdktrace.WithSpanProcessor(countingProcessor{sdktrace.NewBatchSpanProcessor(e), e.ended}),
	), stop}, nil
}

// traceEndpoint returns the address that traces are posted to. Errors do not repeat what may hold a password.
func traceEndpoint(s string) (string, error) {
	const want = "want http://HOST[:PORT][/PATH], or https://"
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", errors.New("this is no URL: " + want)
	case u.User != nil:
		return "", errors.New("the URL has a user or password, which a list of processes would show: say them by " +
			"OTEL_EXPORTER_OTLP_HEADERS, such as Authorization=Basic%20…")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("the URL has a query or fragment: " + want)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", fmt.Errorf("%q is no address of a receiver: %s", s, want)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if !strings.HasSuffix(u.Path, tracesPath) {
		u.Path += tracesPath
	}
	return u.String(), nil
}

// tracer returns what begins spans, nil for none.
func (t *tracing) tracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer("limnomap", trace.WithInstrumentationVersion(buildVersion()))
}

// close sends the spans that are left, if that takes no longer than flushTimeout. What cannot be sent is lost and counted:
// it is no error of the server's.
func (t *tracing) close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	defer t.stop()
	defer context.AfterFunc(ctx, t.stop)()
	_ = t.provider.Shutdown(ctx) // the exporter has told of its failures
}

// A countingProcessor counts the spans that have ended, so that those can be told that a full queue dropped.
type countingProcessor struct {
	sdktrace.SpanProcessor
	ended prometheus.Counter
}

func (c countingProcessor) OnEnd(s sdktrace.ReadOnlySpan) {
	c.ended.Inc()
	c.SpanProcessor.OnEnd(s)
}

// An exporter sends spans, and tells of failures by metrics, and in the log when they begin and end. They go no further:
// what the SDK did with them would be written to stderr in a form of its own.
type exporter struct {
	sdktrace.SpanExporter
	life            context.Context
	log             *slog.Logger
	ended, exported prometheus.Counter
	failures        prometheus.Counter
	failing         atomic.Bool
}

// newExporter returns an exporter whose exports end with life at the latest.
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
		ended:        counter("limnomap_trace_spans_total", "Spans that were to be sent: what is missing of them in limnomap_trace_spans_exported_total waits or is lost."),
		exported:     counter("limnomap_trace_spans_exported_total", "Spans that the receiver of traces took."),
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
			text, _, _ := strings.Cut(err.Error(), " (body: ") // of the answer, which may repeat the password that it refuses
			e.log.Warn("traces cannot be sent", "error", text[:min(len(text), maxExportError)])
		}
		return nil
	}
	e.exported.Add(float64(len(spans)))
	if e.failing.Swap(false) {
		e.log.Info("traces are sent again")
	}
	return nil
}

// standardVariables are the variables of OpenTelemetry that turn nothing on here by themselves, so that an operator who sets
// one and no flag is told.
var standardVariables = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// warnOfEnvironment tells of an endpoint in the environment that is not used.
func (f *tracingFlags) warnOfEnvironment(log *slog.Logger) {
	if f.OTLPEndpoint != "" {
		return
	}
	for _, name := range standardVariables {
		if os.Getenv(name) != "" {
			log.Warn("traces are not sent: the endpoint is said by --otlp-endpoint or LIMNOMAP_OTLP_ENDPOINT", "ignored", name)
		}
	}
}
