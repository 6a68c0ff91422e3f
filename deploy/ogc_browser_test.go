//go:build long

package deploy

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// openLayers has OpenLayers in Chromium draw the area of one tile with each protocol, on a page of another origin, and
// compares the result with the XYZ tile, pixel by pixel.
func (s *ogcService) openLayers(t *testing.T) {
	limnomaptest.NeedFolder(t, "examples/node_modules")
	static := http.NewServeMux()
	static.Handle("/ol.js", fileHandler("examples/node_modules/ol/dist/ol.js"))
	static.Handle("/ogc.html", fileHandler("testdata/ogc.html"))
	static.Handle("/ogc.js", fileHandler("testdata/ogc.js"))
	static.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	pages := httptest.NewServer(static)
	defer pages.Close()

	query := url.Values{"server": {s.base}, "z": {itoa(s.tile.Z)}, "x": {itoa(s.tile.X)}, "y": {itoa(s.tile.Y)}}
	b := browsertest.Start(t, "en")
	s.requests()
	b.Do(t, chromedp.Navigate(pages.URL+"/ogc.html?"+query.Encode()), browsertest.Until("window.result !== undefined"))
	type drawn struct {
		Shown     int    // pixels that are not transparent
		Different int    // from those of the XYZ tile
		Address   string // of the tile
	}
	result := browsertest.Ask(t, b, chromedp.Evaluate[struct {
		Fault   string
		Version string
		Agent   string
		Ways    map[string]drawn
		Lakes   []string // in the vector tile
	}]("window.result"))
	if result.Fault != "" {
		t.Fatalf("%s\n%s", result.Fault, strings.Join(b.Problems(s.base), "\n"))
	}
	t.Logf("OpenLayers %s, %s", result.Version, result.Agent)
	path := tilePath(s.tile)
	for way, address := range map[string]string{
		"WMTS, RESTful":             path + ".png?style=heat&time=current&v=",
		"WMTS, KVP":                 "/wmts?",
		"WMTS, dots of an old week": path + ".png?style=dots&time=20",
		"OGC API":                   "/ogc/map/tiles/WebMercatorQuad/" + itoa(s.tile.Z) + "/" + itoa(s.tile.Y) + "/" + itoa(s.tile.X) + "?v=",
	} {
		got, ok := result.Ways[way]
		if !ok || got.Shown == 0 || got.Different != 0 {
			t.Errorf("%s: %+v, want the pixels of the XYZ tile, and some", way, got)
		}
		if !strings.HasPrefix(got.Address, s.base+address) {
			t.Errorf("%s: asks for %s, want %s…", way, got.Address, address)
		}
	}
	if len(result.Lakes) == 0 {
		t.Error("no lakes in the vector tile")
	}
	for _, p := range b.Problems(pages.URL) {
		if !strings.HasPrefix(p, "request to another origin: "+s.base) {
			t.Errorf("on the page: %s", p)
		}
	}
}

func fileHandler(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, name) })
}
