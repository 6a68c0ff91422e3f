package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"limnomap/tiles"
)

// What tracing costs a tile from memory: not there, there for none of the requests, and for each.
func BenchmarkTraced(b *testing.B) {
	for _, test := range []struct {
		name   string
		traced bool
		ratio  float64
	}{{"off", false, 0}, {"unsampled", true, 0}, {"default", true, .01}, {"sampled", true, 1}} {
		b.Run(test.name, func(b *testing.B) {
			opts := testOptions(b)
			opts.Tiles = &heldTiles{tiles.Tile{Bytes: make([]byte, 4096), ETag: "7e57", Note: new(tiles.Note)}}
			opts.Registry = prometheus.NewRegistry()
			if test.traced {
				opts.Tracer, opts.TraceRatio = sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample())).Tracer("test"), test.ratio
			}
			server := newServer(b, opts, testSource(b))
			r := httptest.NewRequest(http.MethodGet, tileURL, nil)
			w := &nullWriter{header: make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				server.ServeHTTP(w, r)
			}
		})
	}
}
