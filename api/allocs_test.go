package api

import (
	"context"
	"image"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/paulmach/orb/maptile"
	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"limnomap/data/snapshot"
	"limnomap/tiles"
)

// heldTiles returns one tile from memory, as the tile service does for a hit.
type heldTiles struct{ tile tiles.Tile }

func (h *heldTiles) Tile(context.Context, *snapshot.Values, tiles.Request) (tiles.Tile, error) {
	return h.tile, nil
}

func (h *heldTiles) Paint(context.Context, *snapshot.Values, tiles.Request, image.Rectangle) (tiles.Painting, error) {
	return tiles.Painting{}, nil
}

func (h *heldTiles) Prepare(*snapshot.View) {}

func (h *heldTiles) Affords(*snapshot.Values) bool { return true }

func (h *heldTiles) PrepareVectors(*snapshot.View) {}

func (h *heldTiles) Vector(context.Context, *snapshot.View, maptile.Tile) (tiles.Tile, error) {
	return h.tile, nil
}

// The middleware allocates twice for each answer: the RequestInfo with the copy of the request, and the id. A tile from memory
// adds nothing, a limit its RateLimit field. The header is not counted: its map belongs to net/http.
func TestAllocations(t *testing.T) {
	opts := testOptions(t)
	opts.Tiles = &heldTiles{tiles.Tile{Bytes: make([]byte, 4096), ETag: "7e57", Note: new(tiles.Note)}}
	opts.Notice = "simulated"
	at := testNow()
	opts.Now = func() time.Time { at = at.Add(137 * time.Microsecond); return at } // a histogram has a separate bucket for durations of zero
	unlimited := newServer(t, opts, testSource(t))
	opts.Registry, opts.TileRate = prometheus.NewRegistry(), 1e9
	limited := newServer(t, opts, testSource(t))
	opts.Registry, opts.TileRate = prometheus.NewRegistry(), 0
	unconfirmed := newServer(t, opts, testSource(t))
	unconfirmed.Confirmed(testNow().Add(-time.Hour))
	opts.Registry = prometheus.NewRegistry()
	opts.Tiles = &heldTiles{tiles.Tile{Bytes: make([]byte, 4096), ETag: "7e57", Note: new(tiles.Note)}}
	vectors := newServer(t, opts, testSource(t)) // a Note is of one kind of tile
	opts.Registry, opts.Tiles = prometheus.NewRegistry(), unlimited.common.opts.Tiles
	opts.Tracer = sdktrace.NewTracerProvider().Tracer("test") // TraceRatio is 0: no request is traced
	untraced := newServer(t, opts, testSource(t))
	versioned := tileURL + "?v=" + unlimited.common.current.Load().state.MapVersion
	for _, test := range []struct {
		name         string
		server       *Server
		target, etag string
		want         float64
	}{
		{"tile", unlimited, tileURL, "", 2},
		{"tile that is not traced", untraced, tileURL, "", 2},
		{"tile, not modified", unlimited, tileURL, `"7e57"`, 2},
		{"tile at the address of its version", unlimited, versioned, "", 2},
		{"tile under a limit", limited, tileURL, "", 3},
		{"tile at its OGC address", unlimited, ogcTileURL, "", 2},
		{"vector tile", vectors, vectorURL, "", 2},
		{"vector tile, not modified", vectors, vectorURL, `"7e57-gzip"`, 2},
		{"geojson", unlimited, "/api/v1/bathing-lakes/geojson", "", 2},
		{"status", unlimited, statusURL, "", 3},                              // and the box in the query
		{"tile while the data are unconfirmed", unconfirmed, tileURL, "", 3}, // and its Age
		{"counts", unlimited, statsURL, "", 3},                               // as of status
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, test.target, nil)
			if test.server == vectors {
				r.Header.Set("Accept-Encoding", "gzip, deflate, br")
			}
			if test.etag != "" {
				r.Header.Set("If-None-Match", test.etag)
			}
			w := &nullWriter{header: make(http.Header)}
			got := testing.AllocsPerRun(1000, func() {
				clear(w.header)
				test.server.ServeHTTP(w, r)
			})
			if got > test.want {
				t.Errorf("%v allocations, want at most %v", got, test.want)
			}
		})
	}
}
