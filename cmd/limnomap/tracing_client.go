package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"golang.org/x/net/http/httpguts"
	"google.golang.org/protobuf/proto"
)

const (
	// sendTimeout is how long a receiver may take to answer, unless OTEL_EXPORTER_OTLP_TIMEOUT says otherwise (OTLP exporter, "Timeout").
	sendTimeout = 10 * time.Second
	// maxResend bounds for how long spans are sent again to a receiver that is busy.
	maxResend = time.Minute
)

// A traceClient sends spans by OTLP over HTTP, as an otlptrace.Client. That of OpenTelemetry links gRPC into the binary.
type traceClient struct {
	http   http.Client
	url    string
	header http.Header
}

// newTraceClient returns a client with the headers and the timeout of the environment.
func newTraceClient(url string, getenv func(string) string, log *slog.Logger) *traceClient {
	c := &traceClient{url: url, header: http.Header{}}
	c.http.Timeout = sendTimeout
	if ms, err := strconv.Atoi(getenv("OTEL_EXPORTER_OTLP_TIMEOUT")); err == nil && ms > 0 {
		c.http.Timeout = time.Duration(ms) * time.Millisecond
	}
	for field := range strings.SplitSeq(getenv("OTEL_EXPORTER_OTLP_HEADERS"), ",") {
		if err := c.addHeader(field); err != nil && strings.TrimSpace(field) != "" {
			log.Warn("ignoring a header of OTEL_EXPORTER_OTLP_HEADERS", "error", err)
		}
	}
	c.header.Set("Content-Type", "application/x-protobuf")
	return c
}

// addHeader adds a header of the form name=value, percent-encoded. Errors do not repeat it: it may be a password.
func (c *traceClient) addHeader(field string) error {
	name, value, found := strings.Cut(field, "=")
	if name = strings.TrimSpace(name); !found || !httpguts.ValidHeaderFieldName(name) {
		return errors.New("want NAME=VALUE")
	}
	value, err := url.PathUnescape(strings.TrimSpace(value))
	if err != nil || !httpguts.ValidHeaderFieldValue(value) {
		return errors.New("the value is not percent-encoded")
	}
	c.header.Set(name, value)
	return nil
}

func (c *traceClient) Start(context.Context) error { return nil }

func (c *traceClient) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

func (c *traceClient) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// It is encoded as an ExportTraceServiceRequest is, whose package needs gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	_, err = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.post(ctx, body) }, backoff.WithMaxElapsedTime(maxResend))
	return err
}

// post sends spans once. Its error says whether to try again (OTLP 1.9, "OTLP/HTTP Response").
func (c *traceClient) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	req.Header = c.header.Clone()
	resp, err := c.http.Do(req)
	if err != nil {
		return backoff.Permanent(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch {
	case err != nil:
		return backoff.Permanent(err)
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 502 && resp.StatusCode <= 504:
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			return backoff.RetryAfter(seconds)
		}
		return fmt.Errorf("the receiver answers %s", resp.Status)
	case resp.StatusCode/100 != 2:
		return backoff.Permanent(fmt.Errorf("the receiver answers %s", resp.Status))
	case len(answer) > 2 && resp.Header.Get("Content-Type") == "application/x-protobuf": // a message without partial_success is shorter
		return backoff.Permanent(errors.New("the receiver has rejected some of the spans"))
	}
	return nil
}
