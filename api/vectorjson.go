package api

import (
	"fmt"
	"net/http"
	"net/url"

	"limnomap/api/params"
	"limnomap/tiles"
)

// A vectorLayer describes a layer of vector tiles (TileJSON 3.0.0, 3.3).
type vectorLayer struct {
	ID          string            `json:"id"`
	Description string            `json:"description"`
	MinZoom     int               `json:"minzoom"`
	MaxZoom     int               `json:"maxzoom"`
	Fields      map[string]string `json:"fields"`
}

// vectorFieldTypes are the types of a lake's properties in a vector tile, in the words of MBTiles 1.3 ("vector_layers"). GDAL
// uses them as the types of its columns, and text for any other word: a value of 8.62 would become "8.619999999999999".
var vectorFieldTypes = map[string]string{
	"id":              "String",
	"name":            "String",
	"chl":             "Number",
	"who_level":       "Number",
	"color":           "String",
	"risk":            "String",
	"trophic":         "String",
	"measured_at":     "String",
	"measured_by":     "String",
	"stale":           "Boolean",
	"advisory":        "String",
	"cell_density_by": "String",
	"below_limit":     "Boolean",
	"share_high":      "Number",
	"p90":             "Number",
}

// vectorLayerText explains those properties.
const vectorLayerText = "Each lake's state in the week that is shown. " +
	"id: the lake's id, unique; use it as promoteId. name: its name. " +
	"chl: chlorophyll-a in µg/l; absent without a current value. " +
	"who_level: warning level, 0 to 3, the worst that the observation supports, so that it may be worse than the colour; " +
	"absent without a current value. " +
	"color: #rrggbb of the value, as in the other tiles and the legend; #9aa0a6 without a current value, and nothing else has that. " +
	"risk: low, medium or high; without a current value that of the last known one, absent only if there never was one. " +
	"trophic: trophic status of the year: ultraoligotrophic, oligotrophic, mesotrophic, eutrophic, hypertrophic, or unknown. " +
	"measured_at: when the value, or without a current one the last known one, was measured: RFC 3339 in UTC; " +
	"absent only if there never was one. " +
	"measured_by: satellite or in_situ, a sample from the lake; absent only if there never was a value. " +
	"stale: true if the last known value is too old to be current. " +
	"advisory: the gravest official statement that is valid: closure, warning, info, season, or empty; it outranks every level. " +
	"cell_density_by: counted, index or derived, where the cell density of the other answers is from; absent without one. " +
	"below_limit: true if the value is only known to be below a limit of detection, absent otherwise. " +
	"share_high: the part of the lake with a high risk, by the pixels of the satellite, and p90: their ninetieth percentile in µg/l; absent if they are not kept."

// maxVectorZoom is the largest zoom that the description offers. A unit of a tile is 0.6 m there, and map libraries draw the
// larger zooms from those tiles, without requesting more.
const maxVectorZoom = 14

// vectorJSON answers with the description of the vector tiles.
func (h *descriptionHandlers) vectorJSON(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	week, dated := query.Week(p.snap)
	if err := query.Err(); err != nil {
		return err
	}
	chosen := url.Values{"v": {p.state.VectorVersion}}
	if dated {
		chosen.Set("date", week.Monday().String())
	}
	base, private := h.base(w, r)
	if !dated {
		week = p.snap.Current.Week
	}
	description := h.describe(p.state, week, min(maxVectorZoom, h.opts.MaxZoom))
	description.Name = "limnomap lakes"
	description.Description = fmt.Sprintf("Lakes as points, with their chlorophyll-a measured by satellite or in samples. "+
		"What is not known is absent, and absent never means low: a lake without a current value has no chl and no who_level. "+
		"A tile holds at most %d lakes: where there are more, closed ones first, then the largest, and of equals those of higher risk. "+
		"Lakes just beyond a tile's edge are in it too. ", tiles.MaxFeatures) + levelCaveat
	description.Format = "pbf" // what MBTiles and its readers call the format, whatever the addresses end in
	description.Tiles = []string{base + pathTiles + "/{z}/{x}/{y}.mvt?" + chosen.Encode()}
	description.LegendURL = base + pathLegend + ".svg"
	description.Snapshot = p.state.VectorVersion
	description.VectorLayers = []vectorLayer{{
		ID:          tiles.VectorLayer,
		Description: vectorLayerText,
		MinZoom:     0,
		MaxZoom:     description.MaxZoom,
		Fields:      vectorFieldTypes,
	}}
	return h.sender.SendJSON(w, r, jsonKind.PrivateIf(private), description)
}
