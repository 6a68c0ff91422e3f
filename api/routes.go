package api

import (
	"limnomap/api/answer"
	"limnomap/api/ogc"
)

// The addresses that answers contain.
const (
	pathMonitor = "/api/v1/monitor/lakes"
	pathTiles   = "/api/v1/tiles"
	pathLegend  = "/api/v1/legend"
	pathGeoJSON = "/api/v1/bathing-lakes/geojson"
	pathOpenAPI = "/openapi.json"
)

// A routeEntry is an address and its handler. All are read with GET or HEAD.
type routeEntry struct {
	name  string // in the metrics
	path  string // below the base path
	guard guard
	answer.Handler
}

// routes are all routes but those of the page's files and of unknown addresses.
func (h *handlers) routes(g *guards, withMetrics bool) []routeEntry {
	routes := []routeEntry{
		{"status", "/api/v1/bathing-lakes/status", g.perAddress, h.lakes.status},
		{"status_csv", "/api/v1/bathing-lakes/status.csv", g.perAddress, h.lakes.statusCSV},
		{"history_csv", "/api/v1/bathing-lakes/history/{lake_id}.csv", g.perAddress, h.lakes.historyCSV}, // before history, which takes any id
		{"history", "/api/v1/bathing-lakes/history/{lake_id}", g.perAddress, h.lakes.history},
		{"geojson", pathGeoJSON, g.perAddress, h.lakes.geojson},
		{"near", "/api/v1/bathing-lakes/near", g.perAddress, h.lakes.near},
		{"search", "/api/v1/bathing-lakes/search", g.perAddress, h.lakes.search},
		{"stats", "/api/v1/bathing-lakes/stats", g.perAddress, h.lakes.stats},
		{"dates", "/api/v1/bathing-lakes/dates", g.perAddress, h.lakes.dates},
		{"monitor", pathMonitor, g.perKey, h.lakes.monitor},
		{"tile", pathTiles + "/{z}/{x}/{y}.png", g.perMap, h.tiles.tile},
		{"vector", pathTiles + "/{z}/{x}/{y}.mvt", g.perMap, h.tiles.vector},
		{"tilejson", pathTiles + ".json", g.perAddress, h.descriptions.tileJSON},
		{"vector_tilejson", pathTiles + "/vector.json", g.perAddress, h.descriptions.vectorJSON},
		{"styles", "/api/v1/styles", g.perAddress, h.styles.list},
		{"legend", pathLegend + ".json", g.perAddress, h.styles.legend(answer.TypeJSON)},
		{"legend", pathLegend + ".svg", g.perAddress, h.styles.legend(answer.TypeSVG)},
		{"legend", pathLegend + ".png", g.perAddress, h.styles.legend(answer.TypePNG)},
		{"wmts", ogc.PathWMTS, g.perMap, h.ogc.WMTS}, // tiles too
		{"wmts", ogc.PathCapabilities, g.perAddress, h.ogc.Capabilities},
		{"ogc_tile", ogc.PatternMapTile, g.perMap, h.ogc.MapTile},
		{"ogc_vector", ogc.PatternVectorTile, g.perMap, h.ogc.VectorTile},
		{"openapi", pathOpenAPI, g.unlimited, h.page.description},
		{"docs", "/docs", g.unlimited, h.page.docsPage},
		{"page", "/page.json", g.unlimited, h.page.settings},
		{"embed", "/embed", g.unlimited, h.page.embedPage},
		{"table", "/table", g.perAddress, h.table.page},
		{"healthz", "/healthz", g.unlimited, h.health.healthy},
		{"readyz", "/readyz", g.unlimited, h.health.ready},
	}
	for _, d := range h.ogc.Documents() {
		routes = append(routes, routeEntry{"ogc", d.Path, g.perAddress, d.Handler})
	}
	if withMetrics {
		routes = append(routes, routeEntry{"metrics", "/metrics", g.perMetricsKey, h.metrics})
	}
	return routes
}
