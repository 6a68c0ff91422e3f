package api

import (
	"net/http"

	"github.com/gorilla/mux"

	"limnomap/api/answer"
	"limnomap/api/middleware"
	"limnomap/api/ratelimit"
)

// The addresses that answers name.
const (
	pathMonitor = "/api/v1/monitor/lakes"
	pathTiles   = "/api/v1/tiles"
	pathLegend  = "/api/v1/legend"
	pathTable   = "/table"
	pathGeoJSON = "/api/v1/bathing-lakes/geojson"
	patternTile = pathTiles + "/{z}/{x}/{y}" + tileSuffix
)

// A route is an address and what answers there. All are read with GET or HEAD, and asked about with OPTIONS.
type route struct {
	name  string // in the metrics
	path  string // below the base path
	guard guard
	answer.Handler
}

// routes is the whole surface, except the page's files and what is not found.
func (s *Server) routes() []route {
	routes := []route{
		{"status", "/api/v1/bathing-lakes/status", perAddress, s.status},
		{"status_csv", "/api/v1/bathing-lakes/status.csv", perAddress, s.statusCSV},
		{"history_csv", "/api/v1/bathing-lakes/history/{lake_id}.csv", perAddress, s.historyCSV}, // before history, which takes any id
		{"history", "/api/v1/bathing-lakes/history/{lake_id}", perAddress, s.history},
		{"geojson", pathGeoJSON, perAddress, s.geojson},
		{"near", "/api/v1/bathing-lakes/near", perAddress, s.near},
		{"search", "/api/v1/bathing-lakes/search", perAddress, s.search},
		{"stats", "/api/v1/bathing-lakes/stats", perAddress, s.stats},
		{"dates", "/api/v1/bathing-lakes/dates", perAddress, s.dates},
		{"monitor", pathMonitor, perKey, s.monitor},
		{"tile", patternTile, perMap, s.tile},
		{"vector", patternVector, perMap, s.vector},
		{"tilejson", pathTiles + ".json", perAddress, s.tileJSON},
		{"vector_tilejson", pathTiles + "/vector.json", perAddress, s.vectorJSON},
		{"styles", "/api/v1/styles", perAddress, s.styles},
		{"legend", pathLegend + ".json", perAddress, s.legend(answer.TypeJSON)},
		{"legend", pathLegend + ".svg", perAddress, s.legend(answer.TypeSVG)},
		{"legend", pathLegend + ".png", perAddress, s.legend(answer.TypePNG)},
		{"wmts", pathWMTS, perMap, s.wmts}, // tiles too
		{"wmts", pathCapabilities, perAddress, s.capabilities},
		{"ogc", pathOGC, perAddress, s.ogcDocument(s.ogcLanding)},
		{"ogc", pathOGC + "/", perAddress, s.ogcDocument(s.ogcLanding)},
		{"ogc", pathConformance, perAddress, s.ogcDocument(s.ogcConformance)},
		{"ogc", pathCollections, perAddress, s.ogcDocument(s.ogcCollections)},
		{"ogc", pathCollection, perAddress, s.ogcDocument(func(p *published, base string) any { return s.ogcCollection(p, base) })},
		{"ogc", pathMatrixSets, perAddress, s.ogcDocument(s.ogcMatrixSets)},
		{"ogc", pathMatrixSet, perAddress, s.ogcDocument(s.ogcMatrixSet)},
		{"ogc", pathMapSets, perAddress, s.tilesets(mapTiles)},
		{"ogc", pathMapSet, perAddress, s.tileset(mapTiles)},
		{"ogc", pathVectorSets, perAddress, s.tilesets(vectorTiles)},
		{"ogc", pathVectorSet, perAddress, s.tileset(vectorTiles)},
		{"ogc_tile", patternMapTile, perMap, s.ogcTile},
		{"ogc_vector", patternVectorTile, perMap, s.ogcVector},
		{"openapi", "/openapi.json", unlimited, s.describe},
		{"docs", "/docs", unlimited, s.viewer},
		{"page", "/page.json", unlimited, s.settings},
		{"embed", "/embed", unlimited, s.embedded},
		{"table", pathTable, perAddress, s.lakeTable},
		{"healthz", "/healthz", unlimited, s.healthy},
		{"readyz", "/readyz", unlimited, s.ready},
	}
	if !s.opts.SeparateAdmin {
		routes = append(routes, route{"metrics", "/metrics", perMetricsKey, s.exposition()})
	}
	return routes
}

// router returns the router of all routes, behind a shortcut to those that are asked for most. Methods are not its
// business: gorilla/mux answers HEAD with 405, and forgets Allow. Nor does it clean paths, which would redirect a wrong
// address instead of calling it wrong.
func (s *Server) router() *shortcut {
	router := mux.NewRouter().SkipClean(true)
	short := &shortcut{basePath: s.opts.BasePath, fixed: make(map[string]http.Handler), router: router}
	for _, route := range s.routes() {
		h := s.instrument(route.name, route.path, route.guard(s, s.errors.Handler(route.Handler)))
		router.Handle(s.opts.BasePath+route.path, h)
		short.add(route.path, h)
	}
	router.NewRoute().
		MatcherFunc(func(r *http.Request, _ *mux.RouteMatch) bool { return s.page.has(s.below(r.URL.Path)) }).
		Handler(s.instrument("page", "", unlimited(s, s.errors.Handler(s.pageFile))))
	if s.opts.BasePath != "" {
		// Addresses in the page are relative to its folder, which starts behind the slash.
		redirect := http.RedirectHandler(s.prefix+"/", http.StatusPermanentRedirect)
		router.Handle(s.opts.BasePath, s.instrument("page", "", unlimited(s, redirect)))
	}
	router.NotFoundHandler = s.instrument("not_found", "", s.limits.api.By(ratelimit.Address)(s.errors.Handler(notFound)))
	return short
}

// instrument measures and traces the requests of one route. The pattern is the router's, empty for routes without one.
func (s *Server) instrument(route, pattern string, h http.Handler) http.Handler {
	if pattern != "" {
		pattern = s.opts.BasePath + pattern
	}
	return middleware.Wrap(h, s.tracer.Route(route, pattern), s.metrics.Route(route))
}
