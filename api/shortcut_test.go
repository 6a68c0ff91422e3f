package api

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gorilla/mux"
	"pgregory.net/rapid"
)

// routed returns the answer of h to GET path, and the name of the route that counted it.
func routed(tb testing.TB, s *Server, h http.Handler, path string) (*httptest.ResponseRecorder, string) {
	tb.Helper()
	before := requestsByRoute(tb, s)
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.URL = &url.URL{Path: path}
	h.ServeHTTP(w, r)
	route := "none"
	for name, n := range requestsByRoute(tb, s) {
		if n != before[name] {
			route = name
		}
	}
	return w, route
}

func requestsByRoute(tb testing.TB, s *Server) map[string]float64 {
	tb.Helper()
	families, err := s.opts.Registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	n := make(map[string]float64)
	for _, f := range families {
		if f.GetName() != "limnomap_http_requests_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "route" {
					n[label.GetValue()] += m.GetCounter().GetValue()
				}
			}
		}
	}
	return n
}

// Whatever is asked, the shortcut answers as the router behind it would have, and counts it under the same route.
func TestTheShortcutLeadsWhereTheRouterDoes(t *testing.T) {
	segments := []string{
		"api", "v1", "tiles", "6", "33", "21.png", "21.mvt", "21@2x.png", "21.jpg", ".png", "x.png", "21.png.png", "a\nb.png", "tiles.json",
		"legend.svg", "bathing-lakes", "status", "geojson", "history", "de_by_clean", "healthz", "page.json", "index.html",
		"ogc", "map", "WebMercatorQuad", "33@2x", "wmts", "collections",
		"lakes", "", ".", "..", "{z}", "{y}.png", " ", "ü",
	}
	whole := []string{tileURL, vectorURL, vectorJSONURL, statusURL, "/api/v1/tiles/6/33/21@2x.png", "/api/v1/tiles/", "/api/v1/bathing-lakes/geojson", "/", "/healthz",
		ogcTileURL, ogcVectorURL, "/ogc/map/tiles/WebMercatorQuad", "/ogc/tiles/WebMercatorQuad/6", "/ogc", wmtsURL}
	for _, base := range []string{"", "/lakes"} {
		t.Run("base "+base, func(t *testing.T) {
			opts := testOptions(t)
			opts.BasePath = base
			s := newServer(t, opts, testSource(t))
			short := s.router()
			rapid.Check(t, func(rt *rapid.T) {
				path := rapid.SampledFrom([]string{base, base, ""}).Draw(rt, "base")
				path += rapid.SampledFrom(append(whole, "/api/v1/tiles", "/api/v1", "")).Draw(rt, "start")
				if more := rapid.SliceOfN(rapid.SampledFrom(segments), 0, 4).Draw(rt, "segments"); len(more) > 0 {
					path += "/" + strings.Join(more, "/")
				}
				got, route := routed(t, s, short, path)
				want, wantRoute := routed(t, s, short.router, path)
				if route != wantRoute || got.Code != want.Code || got.Body.String() != want.Body.String() ||
					!reflect.DeepEqual(got.Header(), want.Header()) {
					rt.Errorf("%q: the shortcut leads to %s: %d %v %.200s\nthe router to %s: %d %v %.200s",
						path, route, got.Code, got.Header(), got.Body, wantRoute, want.Code, want.Header(), want.Body)
				}
			})
		})
	}
}

// FuzzTilePath holds that a path is taken apart as the router's expression for it would.
func FuzzTilePath(f *testing.F) {
	for _, seed := range []string{
		tileURL, "/api/v1/tiles/6/33/21@2x.png", "/api/v1/tiles/.png/.png/.png.png", "/api/v1/tiles///.png", "/api/v1/tiles/6/33/.png",
		"/api/v1/tiles/6/33/21.png/", "/api/v1/tiles/6/33/4/21.png", "/api/v1/tiles/\n/\xff/\x00.png", vectorURL, "/api/v1/tiles/.mvt/.png/.png.mvt", "/api/v1/tiles.json", "",
	} {
		f.Add(seed)
	}
	patterns := map[string]*regexp.Regexp{
		tileSuffix:   regexp.MustCompile(`^/api/v1/tiles/([^/]+)/([^/]+)/([^/]+)\.png$`),
		vectorSuffix: regexp.MustCompile(`^/api/v1/tiles/([^/]+)/([^/]+)/([^/]+)\.mvt$`),
	}
	sets := map[string]*regexp.Regexp{
		pathMapSet:    regexp.MustCompile(`^/ogc/map/tiles/WebMercatorQuad/([^/]+)/([^/]+)/([^/]+)$`),
		pathVectorSet: regexp.MustCompile(`^/ogc/tiles/WebMercatorQuad/([^/]+)/([^/]+)/([^/]+)$`),
	}
	for _, seed := range []string{ogcTileURL, ogcVectorURL, pathMapSet, pathMapSet + "/", pathMapSet + "x/6/21/33", pathMapSet + "/6/21/", pathMapSet + "//21/33", pathVectorSet + "/6/21/33/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		for set, pattern := range sets {
			matrix, row, column, ok := splitOGCTile(path, set)
			match := pattern.FindStringSubmatch(path)
			if ok != (match != nil) {
				t.Fatalf("splitOGCTile(%q, %s) = %t, want %t", path, set, ok, !ok)
			}
			if ok && (matrix != match[1] || row != match[2] || column != match[3]) {
				t.Fatalf("splitOGCTile(%q, %s) = %q, %q, %q, want %q", path, set, matrix, row, column, match[1:])
			}
		}
		for suffix, pattern := range patterns {
			z, x, y, ok := splitTile(path, suffix)
			match := pattern.FindStringSubmatch(path)
			if ok != (match != nil) {
				t.Fatalf("splitTile(%q, %s) = %t, want %t", path, suffix, ok, !ok)
			}
			if ok && (z != match[1] || x != match[2] || y != match[3]) {
				t.Fatalf("splitTile(%q, %s) = %q, %q, %q, want %q", path, suffix, z, x, y, match[1:])
			}
		}
	})
}

// Without this the property above would hold of a shortcut that leads nowhere.
func TestTheShortcutIsTaken(t *testing.T) {
	short := testServer(t).router()
	for path, past := range map[string]bool{
		tileURL: true, vectorURL: true, "/api/v1/tiles/x/y/z.png": true, statusURL: true, "/healthz": true, "/metrics": true,
		"/api/v1/bathing-lakes/history/de_by_clean": false, "/": false, "/nowhere": false, "/api/v1/tiles/6/33.png": false,
		ogcTileURL: true, ogcVectorURL: true, wmtsURL: true, "/ogc/map/tiles/WebMercatorQuad/6/21": false,
	} {
		if _, router := short.lead(path).(*mux.Router); router == past {
			t.Errorf("%s is left to the router: %t, want %t", path, router, !past)
		}
	}
}
