package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/api/answer"
	"limnomap/tiles"
)

const (
	vectorURL     = "/api/v1/tiles/6/33/21.mvt"
	vectorJSONURL = "/api/v1/tiles/vector.json"
)

func TestVectorTileAddresses(t *testing.T) {
	s, service := tileServer(t)
	for path, want := range map[string]maptile.Tile{
		"0/0/0.mvt":             maptile.New(0, 0, 0),
		"6/33/21.mvt":           maptile.New(33, 21, 6),
		"18/262143/262143.mvt":  maptile.New(262143, 262143, 18),
		"6/33/21.mvt?style=jet": maptile.New(33, 21, 6), // vector tiles have no styles
	} {
		w := get(t, s, http.StatusOK, "/api/v1/tiles/"+path)
		if service.asked.Tile != want {
			t.Errorf("%s asks for %v, want %v", path, service.asked.Tile, want)
		}
		if got := w.Header().Get("Content-Type"); got != "application/vnd.mapbox-vector-tile" {
			t.Errorf("Content-Type = %q", got)
		}
	}
	for _, path := range []string{
		"19/0/0.mvt", "6/64/0.mvt", "6/33/21@2x.mvt", "6/33/21.mvt.gz",
	} {
		wantProblem(t, do(s, http.MethodGet, "/api/v1/tiles/"+path), http.StatusNotFound)
	}
}

func TestVectorTileDate(t *testing.T) {
	s, service := tileServer(t)
	get(t, s, http.StatusOK, vectorURL+"?date=2026-08-09")
	if got := service.week.String(); got != "2026-W32" {
		t.Errorf("date=2026-08-09 asks for week %s, want 2026-W32", got)
	}
	wantProblem(t, do(s, http.MethodGet, vectorURL+"?date=2026-08-02"), http.StatusBadRequest, "date")
	wantProblem(t, do(s, http.MethodGet, vectorURL+"?v=1&v=2"), http.StatusBadRequest, "v")
}

// The compressed and the plain form are the same tile, each with its own entity tag.
func TestVectorTileCodings(t *testing.T) {
	s, _ := tileServer(t)
	const plain = "{33 21 6} 2026-W47"
	tags := map[string]string{}
	for accept, coding := range map[string]string{
		"": "", "gzip": "gzip", "gzip, deflate, br, zstd": "gzip", "br": "", "identity": "", "*": "gzip", "gzip;q=0": "",
	} {
		var headers []string
		if accept != "" {
			headers = []string{"Accept-Encoding", accept}
		}
		w := get(t, s, http.StatusOK, vectorURL, headers...)
		h := w.Header()
		if h.Get("Content-Encoding") != coding || !slices.Contains(h.Values("Vary"), "Accept-Encoding") {
			t.Errorf("%q: Content-Encoding %q, Vary %q, want %q and Accept-Encoding", accept, h.Get("Content-Encoding"), h.Values("Vary"), coding)
		}
		var body io.Reader = w.Body
		if coding == "gzip" {
			z, err := gzip.NewReader(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			body = z
		}
		if got, err := io.ReadAll(body); err != nil || string(got) != plain {
			t.Errorf("%q: the tile is %q, %v, want %q", accept, got, err, plain)
		}
		if tag := tags[coding]; tag != "" && tag != h.Get("ETag") {
			t.Errorf("%q: ETag = %s, and %s before", accept, h.Get("ETag"), tag)
		}
		tags[coding] = h.Get("ETag")
		get(t, s, http.StatusNotModified, vectorURL, append(headers, "If-None-Match", h.Get("ETag"))...)
		part := get(t, s, http.StatusPartialContent, vectorURL, "Range", "bytes=1-3")
		if got := part.Body.String(); got != plain[1:4] {
			t.Errorf("bytes 1 to 3 are %q, want %q", got, plain[1:4])
		}
	}
	if len(tags) != 2 || tags[""] == tags["gzip"] {
		t.Errorf("ETags = %v, want one for each coding", tags)
	}
	wantProblem(t, do(s, http.MethodGet, vectorURL, "Accept-Encoding", "identity;q=0, gzip;q=0"), http.StatusNotAcceptable)
	head := do(s, http.MethodHead, vectorURL)
	if got := head.Header().Get("Content-Length"); got != "18" || head.Body.Len() > 0 {
		t.Errorf("HEAD: Content-Length = %s and %d bytes, want 18 and none", got, head.Body.Len())
	}
}

func TestVectorTileCaching(t *testing.T) {
	s, _ := tileServer(t)
	target := strings.NewReplacer("{z}", "6", "{x}", "33", "{y}", "21").Replace(tileTemplate(t, s, vectorJSONURL))
	raster := s.common.current.Load().state.MapVersion
	for target, want := range map[string]string{
		vectorURL: cacheTile, target: answer.CacheForever, target + "&date=2026-11-16": answer.CacheForever,
		vectorURL + "?v=older":     cacheTile,
		vectorURL + "?v=" + raster: cacheTile, // pictures change when vector tiles do not
	} {
		if got := get(t, s, http.StatusOK, target).Header().Get("Cache-Control"); got != want {
			t.Errorf("Cache-Control of %q = %q, want %q", target, got, want)
		}
	}
}

func TestVectorTilesCountAsTiles(t *testing.T) {
	opts := testOptions(t)
	opts.APIRate, opts.TileRate = 1, 2
	s := newServer(t, opts, testSource(t))
	get(t, s, http.StatusOK, vectorURL)
	get(t, s, http.StatusOK, tileURL)
	for _, target := range []string{vectorURL, tileURL} {
		wantProblem(t, do(s, http.MethodGet, target), http.StatusTooManyRequests)
	}
	get(t, s, http.StatusOK, vectorJSONURL) // under the other limit
	if got := requestsByRoute(t, s)["vector"]; got != 2 {
		t.Errorf("route vector has %v requests, want 2", got)
	}
}

func TestVectorTileFaults(t *testing.T) {
	s, service := tileServer(t)
	service.err = tiles.ErrBusy
	if w := do(s, http.MethodGet, vectorURL); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" {
		t.Errorf("a full queue is answered with %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	service.err = tiles.ErrOutOfRange
	wantProblem(t, do(s, http.MethodGet, vectorURL), http.StatusNotFound)
}

func TestVectorTileJSON(t *testing.T) {
	opts := testOptions(t)
	opts.MaxZoom = 18
	s := newServer(t, opts, testSource(t))
	w := get(t, s, http.StatusOK, vectorJSONURL)
	body := object(t, w)
	for name, want := range map[string]any{"tilejson": "3.0.0", "scheme": "xyz", "format": "pbf", "minzoom": 0.0, "maxzoom": 14.0} {
		if body[name] != want {
			t.Errorf("%s = %v, want %v", name, body[name], want)
		}
	}
	if _, ok := body["tileSize"]; ok {
		t.Error("vector tiles have a size in pixels")
	}
	layers := body["vector_layers"].([]any)
	layer := layers[0].(map[string]any)
	fields := layer["fields"].(map[string]any)
	want := map[string]any{ // words that GDAL knows
		"id": "String", "name": "String", "chl": "Number", "who_level": "Number", "color": "String", "risk": "String",
		"trophic": "String", "measured_at": "String", "measured_by": "String", "stale": "Boolean", "advisory": "String", "cell_density_by": "String", "below_limit": "Boolean",
		"share_high": "Number", "p90": "Number",
	}
	if len(layers) != 1 || layer["id"] != "lakes" || !maps.Equal(fields, want) {
		t.Errorf("vector_layers = %v, want lakes with %v", layers, want)
	}
	for name := range want {
		if text, _ := layer["description"].(string); !strings.Contains(text, name+": ") {
			t.Errorf("the description does not say what %s is: %s", name, text)
		}
	}
	for _, text := range []string{"absent", "10000", "cyanobacteria"} {
		if !bytes.Contains(w.Body.Bytes(), []byte(text)) {
			t.Errorf("the description lacks %q", text)
		}
	}
	if got := tileTemplate(t, s, vectorJSONURL+"?date=2026-08-09"); !strings.Contains(got, "date=2026-08-03") || !strings.Contains(got, "{z}/{x}/{y}.mvt?") {
		t.Errorf("template = %s, want the week carried over", got)
	}
	wantProblem(t, do(s, http.MethodGet, vectorJSONURL+"?date=2020-01-01"), http.StatusBadRequest, "date")

	opts.MaxZoom, opts.Registry = 5, nil
	shallow := object(t, get(t, newServer(t, opts, testSource(t)), http.StatusOK, vectorJSONURL))
	if shallow["maxzoom"] != 5.0 || shallow["center"].([]any)[2].(float64) > 5 {
		t.Errorf("maxzoom, center = %v, %v with --max-zoom 5", shallow["maxzoom"], shallow["center"])
	}
}
