package route

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"limnomap/api/answer"
)

var patterns = []string{
	"/api/v1/status", "/api/v1/history/{lake_id}.csv", "/api/v1/history/{lake_id}", "/api/v1/tiles/{z}/{x}/{y}.png",
	"/api/v1/tiles/{z}/{x}/{y}.mvt", "/api/v1/tiles.json", "/api/v1/tiles/vector.json", "/ogc", "/ogc/", "/ogc/map/tiles/WebMercatorQuad",
	"/ogc/map/tiles/WebMercatorQuad/{tileMatrix}/{tileRow}/{tileCol}", "/healthz",
}

// testRouter returns a Router whose handlers write their pattern and the values in the path.
func testRouter(basePath string) *Router {
	r := New(basePath, write("not found"))
	for _, pattern := range patterns {
		r.Handle(pattern, write(pattern))
	}
	r.HandleMatch(func(below string) bool { return below == "/" || below == "/index.html" }, write("page"))
	return r
}

func write(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, _ = answer.WithInfo(r)
		fmt.Fprintf(w, "%s %q", name, Values(r))
	})
}

// found returns what the handler that h finds for a path writes.
func found(h http.Handler, path string) string {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.URL = &url.URL{Path: path}
	h.ServeHTTP(w, r)
	return w.Body.String()
}

func TestShortcutAgreesWithRouter(t *testing.T) {
	segments := []string{
		"api", "v1", "tiles", "6", "33", "21.png", "21.mvt", "21@2x.png", "21.jpg", ".png", "x.png", "21.png.png", "a\nb.png", "tiles.json",
		"status", "history", "de_by_clean", "de.csv", "healthz", "index.html", "ogc", "map", "WebMercatorQuad", "33@2x",
		"lakes", "", ".", "..", "{z}", "{y}.png", " ", "ü",
	}
	starts := append([]string{"/api/v1/tiles/6/33", "/api/v1/tiles/6/33/21.png", "/ogc/map/tiles/WebMercatorQuad/6/21", "/api/v1/tiles", "/api/v1", "/", ""}, patterns...)
	for _, base := range []string{"", "/lakes"} {
		t.Run("base "+base, func(t *testing.T) {
			r := testRouter(base)
			rapid.Check(t, func(t *rapid.T) {
				path := rapid.SampledFrom([]string{base, base, ""}).Draw(t, "base") + rapid.SampledFrom(starts).Draw(t, "start")
				if more := rapid.SliceOfN(rapid.SampledFrom(segments), 0, 4).Draw(t, "segments"); len(more) > 0 {
					path += "/" + strings.Join(more, "/")
				}
				if got, want := found(r, path), found(r.router, path); got != want {
					t.Errorf("%q: the shortcut finds %s, the router %s", path, got, want)
				}
			})
		})
	}
}

// TestShortcutIsTaken checks that the shortcut finds anything: otherwise it would agree with the router about nothing.
func TestShortcutIsTaken(t *testing.T) {
	r := testRouter("/lakes")
	for path, want := range map[string]bool{
		"/lakes/api/v1/tiles/6/33/21.png": true, "/lakes/api/v1/tiles/6/33/21.mvt": true, "/lakes/api/v1/tiles/x/y/z.png": true,
		"/lakes/api/v1/status": true, "/lakes/healthz": true, "/lakes/ogc/map/tiles/WebMercatorQuad/6/21/33": true,
		"/lakes/api/v1/history/de_by_clean": false, "/lakes/": false, "/lakes/nowhere": false, "/lakes/api/v1/tiles/6/33.png": false,
		"/api/v1/tiles/6/33/21.png": false, "/lakes/ogc/map/tiles/WebMercatorQuad/6/21": false,
	} {
		if _, _, ok := r.shortcut(path); ok != want {
			t.Errorf("the shortcut finds %s: %t, want %t", path, ok, want)
		}
	}
}

// FuzzTileRoute checks that a path is split as a regular expression would.
func FuzzTileRoute(f *testing.F) {
	for _, seed := range []string{
		"/api/v1/tiles/6/33/21.png", "/api/v1/tiles/6/33/21@2x.png", "/api/v1/tiles/.png/.png/.png.png", "/api/v1/tiles///.png",
		"/api/v1/tiles/6/33/.png", "/api/v1/tiles/6/33/21.png/", "/api/v1/tiles/6/33/4/21.png", "/api/v1/tiles/\n/\xff/\x00.png",
		"/api/v1/tiles/.mvt/.png/.png.mvt", "/api/v1/tiles.json", "", "/ogc/map/tiles/WebMercatorQuad/6/21/33", "/ogc/map/tiles/WebMercatorQuad",
		"/ogc/map/tiles/WebMercatorQuad/", "/ogc/map/tiles/WebMercatorQuadx/6/21/33", "/ogc/map/tiles/WebMercatorQuad/6/21/", "/ogc/map/tiles/WebMercatorQuad//21/33",
	} {
		f.Add(seed)
	}
	r := testRouter("")
	want := make([]*regexp.Regexp, len(r.tiles))
	for i, tile := range r.tiles {
		want[i] = regexp.MustCompile("^" + regexp.QuoteMeta(tile.prefix) + "([^/]+)/([^/]+)/([^/]+)" + regexp.QuoteMeta(tile.suffix) + "$")
	}
	f.Fuzz(func(t *testing.T, path string) {
		for i := range r.tiles {
			values, ok := r.tiles[i].match(path)
			match := want[i].FindStringSubmatch(path)
			if ok != (match != nil) {
				t.Fatalf("match(%q) of %s = %t, want %t", path, r.tiles[i].prefix, ok, !ok)
			}
			if ok && (values[0] != match[1] || values[1] != match[2] || values[2] != match[3]) {
				t.Fatalf("match(%q) of %s = %q, want %q", path, r.tiles[i].prefix, values, match[1:])
			}
		}
	})
}
