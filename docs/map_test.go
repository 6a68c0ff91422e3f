//go:build unix

package docs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// libraryFolder is where make setup puts the map libraries.
var libraryFolder = filepath.Join("..", "deploy", "examples", "node_modules")

// mapPages are the pages on which snippets run: each loads one library and makes a map of Germany, without anything on it.
var mapPages = map[string]string{
	"leaflet": `<link rel="stylesheet" href="/leaflet/dist/leaflet.css"><script src="/leaflet/dist/leaflet.js"></script>
<script>window.map = L.map("map").setView([51, 10], 6); window.ready = true;</script>`,
	"openlayers": `<link rel="stylesheet" href="/ol/ol.css"><script src="/ol/dist/ol.js"></script>
<script>window.map = new ol.Map({ target: "map", view: new ol.View({ center: ol.proj.fromLonLat([10, 51]), zoom: 6 }) }); window.ready = true;</script>`,
	"maplibre": `<link rel="stylesheet" href="/maplibre-gl/dist/maplibre-gl.css">
<script type="module">
import * as loaded from "/maplibre-gl/dist/maplibre-gl.mjs";
window.maplibregl = loaded;
</script>
<script type="module">
window.map = new maplibregl.Map({ container: "map", style: { version: 8, sources: {}, layers: [] }, center: [10, 51], zoom: 5 });
map.on("load", () => { window.ready = true; });
</script>`,
}

// A sight is something of a page that a browser is to show.
type sight struct {
	where   string // the page and line that it stands on
	library string // of mapPages; empty for a frame
	script  string // to be run with the library and a map
	address string // of the frame
}

// sights are what the pages' blocks want to be shown. It is safe for concurrent use.
type sights struct {
	mu  sync.Mutex
	all []sight
}

func (s *sights) add(one sight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, one)
}

// show shows the sights in one Chromium, one after the other. Each must ask the server for a tile, and nothing may go wrong:
// a tile that does not come is an error in Chromium's log.
func (s *sights) show(t *testing.T, base string) {
	limnomaptest.NeedFolder(t, libraryFolder)
	site := startSite(t)
	// Without a graphics card MapLibre's WebGL needs one in software.
	b := browsertest.Start(t, "en", chromedp.Flag("disable-gpu", false), chromedp.Flag("use-angle", "swiftshader"),
		chromedp.Flag("enable-unsafe-swiftshader", true))
	// What one snippet has shown, the next asks for again.
	browsertest.Enable(t, b, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	for _, one := range s.all {
		t.Run(one.where, func(t *testing.T) {
			before := len(faults(b, site, base))
			if one.library == "" {
				b.Do(t, chromedp.Navigate(one.address),
					browsertest.Until(`[...document.querySelectorAll("img.leaflet-tile-loaded")].some((i) => i.naturalWidth > 1)`))
			} else {
				b.Do(t, chromedp.Navigate(site+"/"+one.library), browsertest.Until(`window.ready === true`),
					chromedp.Evaluate[chromedp.Void](`(async () => {`+one.script+`
})()`, chromedp.EvalAwaitPromise),
					browsertest.Until(`performance.getEntriesByType("resource").some((r) => r.name.startsWith("`+base+`/api/v1/tiles/") && r.responseEnd > 0)`))
			}
			for _, fault := range faults(b, site, base)[before:] {
				t.Errorf("in Chromium: %s", fault)
			}
		})
	}
}

// faults are what went wrong in the browser so far, and what it has asked for elsewhere than at the given addresses.
func faults(b *browsertest.Browser, addresses ...string) []string {
	var found []string
	for _, problem := range b.Problems(addresses[0]) {
		ours := slices.ContainsFunc(addresses, func(a string) bool { return strings.HasPrefix(problem, "request to another origin: "+a) })
		if !ours {
			found = append(found, problem)
		}
	}
	return found
}

// startSite serves the map libraries and mapPages, and returns its address.
func startSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(libraryFolder)))
	for library, head := range mapPages {
		mux.HandleFunc("GET /"+library, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><title>A map</title><link rel="icon" href="data:,">
<div id="map" style="width:600px;height:400px"></div>%s`, head)
		})
	}
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	return site.URL
}
