package api

import (
	"limnomap/api/answer"
	"limnomap/api/edr"
	"limnomap/api/features"
	"limnomap/api/ogc"
)

// The addresses that answers contain.
const (
	pathMonitor = "/api/v1/monitor/lakes"
	pathTiles   = "/api/v1/tiles"
	pathLegend  = "/api/v1/legend"
	pathGeoJSON = "/api/v1/bathing-lakes/geojson"
	pathOpenAPI = "/openapi.json"
	pathHealthy = "/healthz"
	pathReady   = "/readyz"
	pathMetrics = "/metrics"
)

// A routeEntry is an address and its handler. Its access says with which methods it is asked.
type routeEntry struct {
	name   string // in the metrics
	path   string // below the base path
	access routeAccess
	answer.Handler
}

// routes are all routes but those of the page's files and of unknown addresses.
func (h *handlers) routes(withMetrics bool) []routeEntry {
	data := h.lakes.onData
	routes := []routeEntry{
		{"status", "/api/v1/bathing-lakes/status", perAddress, data(h.lakes.status)},
		{"status_csv", "/api/v1/bathing-lakes/status.csv", perAddress, data(h.lakes.statusCSV)},
		{"history_csv", "/api/v1/bathing-lakes/history/{lake_id}.csv", perAddress, data(h.lakes.historyCSV)}, // before history, which takes any id
		{"history", "/api/v1/bathing-lakes/history/{lake_id}", perAddress, data(h.lakes.history)},
		{"pixels", "/api/v1/bathing-lakes/pixels/{lake_id}", perAddress, data(h.maps.pixels)},
		{"value", pathValue, perAddress, data(h.lakes.value)},
		{"statistics_csv", "/api/v1/bathing-lakes/statistics/{lake_id}.csv", perAddress, data(h.lakes.statisticsCSV)}, // before statistics, which takes any id
		{"statistics", "/api/v1/bathing-lakes/statistics/{lake_id}", perAddress, data(h.lakes.statistics)},
		{"statistics_all_csv", "/api/v1/bathing-lakes/statistics.csv", perAddress, data(h.lakes.allStatisticsCSV)},
		{"accuracy", pathAccuracy, perAddress, data(h.lakes.accuracy)},
		{"sampling_plan", pathSamplingPlan, perAddress, data(h.lakes.samplingPlan)},
		{"geojson", pathGeoJSON, perAddress, data(h.lakes.geojson)},
		{"forecast", pathForecast, perAddress, data(h.lakes.forecastJSON)},
		{"forecast_csv", pathForecast + ".csv", perAddress, data(h.lakes.forecastCSV)},
		{"forecast_geojson", pathForecast + ".geojson", perAddress, data(h.lakes.forecastGeoJSON)},
		{"near", "/api/v1/bathing-lakes/near", perAddress, data(h.lakes.near)},
		{"search", "/api/v1/bathing-lakes/search", perAddress, data(h.lakes.search)},
		{"stats", "/api/v1/bathing-lakes/stats", perAddress, data(h.lakes.stats)},
		{"dates", "/api/v1/bathing-lakes/dates", perAddress, data(h.lakes.dates)},
		{"advisories", "/api/v1/bathing-lakes/advisories", perAddress, data(h.lakes.advisories)},
		{"advisories_cap", pathAdvisoryFeed, perAddress, data(h.lakes.advisoryFeed)},
		{"advisory_cap", pathAdvisory("{advisory_id}"), perAddress, data(h.lakes.advisoryMessage)},
		{"events", pathEvents, perAddress, data(h.events.events)},
		{"events_atom", pathEventFeed, perAddress, data(h.events.eventFeed)},
		{"events_stream", pathEventStream, perAddress, h.events.stream},
		{"changes", "/api/v1/changes", perAddress, data(h.events.changes)},
		{"push_subscribe", pathSubscriptions, subscribing, h.push.subscribe},
		{"push_unsubscribe", pathSubscriptions + "/{subscription_id}", unsubscribing, h.push.unsubscribe},
		{"swimguide", pathSwimGuide, perAddress, data(h.lakes.swimGuide)},
		{"monitor", pathMonitor, perKey, data(h.lakes.monitor)},
		{"tile", pathTiles + "/{z}/{x}/{y}.png", perMap, h.tiles.tile},
		{"vector", pathTiles + "/{z}/{x}/{y}.mvt", perMap, h.tiles.vector},
		{"tilejson", pathTiles + ".json", perAddress, data(h.descriptions.tileJSON)},
		{"vector_tilejson", pathTiles + "/vector.json", perAddress, data(h.descriptions.vectorJSON)},
		{"styles", "/api/v1/styles", perAddress, h.descriptions.styles},
		{"legend", pathLegend + ".json", perAddress, h.descriptions.legend(answer.TypeJSON)},
		{"legend", pathLegend + ".svg", perAddress, h.descriptions.legend(answer.TypeSVG)},
		{"legend", pathLegend + ".png", perAddress, h.descriptions.legend(answer.TypePNG)},
		{"wmts", ogc.PathWMTS, perMap, h.ogc.WMTS}, // tiles too
		{"wms", ogc.PathWMS, perMap, h.ogc.WMS},
		{"wmts", ogc.PathCapabilities, perAddress, h.ogc.Capabilities},
		{"ogc_tile", ogc.PatternMapTile, perMap, h.ogc.MapTile},
		{"ogc_vector", ogc.PatternVectorTile, perMap, h.ogc.VectorTile},
		{"map", pathMap, perMap, data(h.maps.picture)},
		{"ogc_map", ogc.PathMap, perMap, data(h.maps.ogcMap)},
		{"ogc", features.PathDescription, perAddress, data(h.features.description)},
		{"ogc", features.Path + "/{collection_id}", perAddress, data(h.features.of(h.features.describe))},
		{"ogc_queryables", features.Path + "/{collection_id}/queryables", perAddress, data(h.features.of(h.features.queryables))},
		{"ogc_items", features.Path + "/{collection_id}/items", perAddress, data(h.features.of(h.features.items))},
		{"ogc_item", features.Path + "/{collection_id}/items/{feature_id}", perAddress, data(h.features.of(h.features.item))},
		{"edr_locations", pathSeries + string(edr.Locations), perAddress, data(h.features.locations(series.ID))},
		{"edr_locations", pathLakePixels + string(edr.Locations), perAddress, data(h.features.locations(lakePixels.ID))},
		{"edr", pathLakePixels + string(edr.Locations) + "/{lake_id}", perAddress, data(h.features.lakePixels(edr.Locations))},
		{"edr", pathLakePixels + string(edr.Position), perAddress, data(h.features.lakePixels(edr.Position))},
		{"edr", pathLakePixels + string(edr.Radius), perAddress, data(h.features.lakePixels(edr.Radius))},
		{"edr", pathLakePixels + string(edr.Area), perAddress, data(h.features.lakePixels(edr.Area))},
		{"edr", pathLakePixels + string(edr.Cube), perAddress, data(h.features.lakePixels(edr.Cube))},
		{"edr", pathSeries + string(edr.Locations) + "/{lake_id}", perAddress, data(h.features.series(edr.Locations))},
		{"edr", pathSeries + string(edr.Position), perAddress, data(h.features.series(edr.Position))},
		{"edr", pathSeries + string(edr.Radius), perAddress, data(h.features.series(edr.Radius))},
		{"edr", pathSeries + string(edr.Area), perAddress, data(h.features.series(edr.Area))},
		{"edr", pathSeries + string(edr.Cube), perAddress, data(h.features.series(edr.Cube))},
		{"openapi", pathOpenAPI, unlimited, h.page.description},
		{"docs", "/docs", unlimited, h.page.docsPage},
		{"page", "/page.json", unlimited, h.page.settings},
		{"oembed", pathOEmbed, perAddress, data(h.signs.oEmbed)},
		{"embed", "/embed", unlimited, h.page.embedPage},
		{"contact_logo", pathLogoPNG, unlimited, h.page.logo(false)},
		{"contact_logo", pathLogoSVG, unlimited, h.page.logo(true)},
		{"table", "/table", perAddress, h.table.page},
		{"week", pathWeek, perAddress, data(h.week.page)},
		{"week_csv", pathWeek + ".csv", perAddress, data(h.week.csv)},
		{"week_atom", pathWeek + ".atom", perAddress, data(h.week.feed)},
		{"region_json", pathRegions + "{region}.json", perAddress, data(h.region.json)}, // before region, which takes any name
		{"region", pathRegions + "{region}", perAddress, data(h.region.page)},
		{"lake", pathLakes + "{lake_id}", perAddress, data(h.lakePage.page)},
		{"lake_sign", pathLakes + "{lake_id}/sign", perAddress, data(h.signs.sheet)},
		{"lake_preview", pathLakes + "{lake_id}/preview.png", perAddress, data(h.signs.preview)},
		{"lake_badge", pathLakes + "{lake_id}/badge.svg", perAddress, data(h.signs.badge)},
		{"sitemap", "/sitemap.xml", perAddress, data(h.lakePage.sitemapIndex)},
		{"sitemap", "/sitemap/{part}.xml", perAddress, data(h.lakePage.sitemapPart)},
		{"robots", "/robots.txt", unlimited, h.lakePage.robots},
		{"healthz", pathHealthy, unlimited, h.health.healthy},
		{"readyz", pathReady, unlimited, h.health.ready},
	}
	for _, d := range h.ogc.Documents() {
		routes = append(routes, routeEntry{"ogc", d.Path, perAddress, d.Handler})
	}
	if withMetrics {
		routes = append(routes, routeEntry{"metrics", pathMetrics, perMetricsKey, h.metrics})
	}
	return routes
}
