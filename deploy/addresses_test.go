//go:build long

package deploy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// newcomerPage shows what a newcomer tries first: MapLibre with the addresses of the two descriptions of tiles. %[1]s is the server.
const newcomerPage = `<!doctype html>
<html lang="en">
<title>MapLibre with TileJSON</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/maplibre-gl/dist/maplibre-gl.css">
<style>#map { width: 512px; height: 512px }</style>
<div id="map"></div>
<script type="module">
import { Map } from "/maplibre-gl/dist/maplibre-gl.mjs";
window.faults = [];
window.map = new Map({ container: "map", center: [10, 51], zoom: 5, style: {
  version: 8,
  sources: {
    heat: { type: "raster", url: "%[1]s/api/v1/tiles.json", tileSize: 256 },
    lakes: { type: "vector", url: "%[1]s/api/v1/tiles/vector.json" },
  },
  layers: [
    { id: "heat", type: "raster", source: "heat" },
    { id: "lakes", type: "circle", source: "lakes", "source-layer": "lakes" },
  ],
} });
map.on("error", (e) => faults.push(e.error.message));
map.once("idle", () => { window.shown = map.querySourceFeatures("lakes", { sourceLayer: "lakes" }).length; });
</script>
`

// Without --public-url, MapLibre on a page of another origin shows both kinds of tiles from their TileJSON.
func TestMapLibreReadsTileJSON(t *testing.T) {
	limnomaptest.NeedFolder(t, "examples/node_modules")
	server := limnomaptest.Start(t)
	static := http.NewServeMux()
	static.Handle("/maplibre-gl/", http.FileServer(http.Dir("examples/node_modules")))
	static.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, newcomerPage, server.Base)
	})
	pages := httptest.NewServer(static)
	defer pages.Close()

	v := startMaps(t, pages.URL)
	v.others = []string{server.Base}
	v.Do(t, chromedp.Navigate(pages.URL+"/"), browsertest.Until("window.shown !== undefined || window.faults?.length > 0"))
	if faults := browsertest.Ask(t, v.Browser, chromedp.Evaluate[[]string]("faults")); len(faults) > 0 {
		t.Fatalf("MapLibre: %q", faults)
	}
	if lakes := browsertest.Ask(t, v.Browser, chromedp.Evaluate[int]("shown")); lakes == 0 {
		t.Error("no lakes in the vector tiles")
	}
	if !slices.ContainsFunc(v.tileRequests(), func(url string) bool {
		return strings.HasPrefix(url, server.Base+"/") && strings.Contains(url, ".png?v=")
	}) {
		t.Errorf("no image among the requests for tiles %q", v.tileRequests())
	}
	for _, problem := range v.problems() {
		t.Errorf("on the page: %s", problem)
	}
}

// Without --public-url, GDAL reads the WMTS at the address that the server listens on.
func TestGDALWithoutPublicURL(t *testing.T) {
	limnomaptest.Need(t, "gdal_translate")
	server := limnomaptest.Start(t)
	dir := t.TempDir()
	command(t, "", dir, "gdal_translate", "-q", "-of", "PNG", "-outsize", "256", "0",
		"WMTS:"+server.Base+"/wmts,layer=chlorophyll,style=dots,zoom_level=4", dir+"/lakes.png")
}
