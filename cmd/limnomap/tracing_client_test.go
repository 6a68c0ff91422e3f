package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A busy receiver gets the spans again; other failures are returned, and none repeats the answer.
func TestTraceClient(t *testing.T) {
	for _, test := range []struct {
		name     string
		statuses []int // of the answers in turn
		body     string
		want     string // part of the error, "" for none
	}{
		{"accepted", []int{200}, "", ""},
		{"accepted with an empty message", []int{202}, "\x0a\x00", ""},
		{"busy", []int{503, 429, 200}, "", ""},
		{"refused", []int{400}, "secret", "400 Bad Request"},
		{"rejected in part", []int{200}, "\x0a\x0a\x08\x01\x12\x06secret", "rejected some"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, err := io.ReadAll(r.Body)
				var got tracepb.TracesData
				if err != nil || proto.Unmarshal(raw, &got) != nil || len(got.ResourceSpans) != 1 || r.Header.Get("X-Key") != "a b" {
					t.Errorf("%v, %v, header %v", err, &got, r.Header)
				}
				w.Header().Set("Content-Type", "application/x-protobuf")
				w.WriteHeader(test.statuses[asked])
				asked++
				_, _ = io.WriteString(w, test.body)
			}))
			defer server.Close()
			env := map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "X-Key=a%20b, Bad secret,X-Bad=%0asecret"}
			var log limnomaptest.Log
			c := newTraceClient(server.URL, func(name string) string { return env[name] }, slog.New(slog.NewTextHandler(&log, nil)))
			err := c.UploadTraces(context.Background(), []*tracepb.ResourceSpans{{}})
			if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if asked != len(test.statuses) {
				t.Errorf("%d requests, want %d", asked, len(test.statuses))
			}
			if text := log.String(); strings.Count(text, "ignoring a header") != 2 || strings.Contains(text, "secret") {
				t.Errorf("log: %s", text)
			}
		})
	}
}
