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

// mapPages are the pages on which snippets run. Each loads one library and creates an empty map of Germany.
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

// A browserView is a part of a document that a browser must show.
type browserView struct {
	where   string // page and line
	library string // key of mapPages; empty for a frame
	script  string // runs with the library and a map
	address string // address of the frame
	base    string // address of the server in the script or frame
}

// browserViews collects the views of all pages. It is safe for concurrent use.
type browserViews struct {
	mu  sync.Mutex
	all []browserView
}

func (s *browserViews) add(one browserView) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, one)
}

// show shows the views in one Chromium, one after the other. Each must get a tile from the server without any problem.
func (s *browserViews) show(t *testing.T, base string) {
	limnomaptest.NeedFolder(t, libraryFolder)
	site, front := startSite(t), startFront(t, base)
	// Without a graphics card MapLibre needs WebGL in software.
	b := browsertest.Start(t, "en", chromedp.Flag("disable-gpu", false), chromedp.Flag("use-angle", "swiftshader"),
		chromedp.Flag("enable-unsafe-swiftshader", true))
	// So that each snippet requests its tiles.
	browsertest.Enable(t, b, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	for _, one := range s.all {
		t.Run(one.where, func(t *testing.T) {
			before := len(faults(b, site, front.address))
			front.forget()
			if one.library == "" {
				b.Do(t, chromedp.Navigate(strings.ReplaceAll(one.address, one.base, front.address)))
			} else {
				b.Do(t, chromedp.Navigate(site+"/"+one.library), browsertest.Until(`window.ready === true`),
					chromedp.Evaluate[chromedp.Void](`(async () => {`+strings.ReplaceAll(one.script, one.base, front.address)+`
})()`, chromedp.EvalAwaitPromise))
			}
			limnomaptest.Within(t, patience, "the server answers a tile", func() bool { return len(front.answers(answer.isTile)) > 0 })
			for _, a := range front.answers(answer.refused) {
				t.Errorf("the server answered %s", a)
			}
			for _, fault := range faults(b, site, front.address)[before:] {
				t.Errorf("in Chromium: %s", fault)
			}
		})
	}
}

// faults returns the problems in the browser so far, including requests to other addresses than the given ones.
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

// startSite serves the map libraries and mapPages, and returns the address.
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
