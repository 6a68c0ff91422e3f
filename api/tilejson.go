package api

import (
	"net/http"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"limnomap/api/ogc"
	"limnomap/api/params"
	"limnomap/data"
)

// A tileJSON describes the tiles to a map library (TileJSON 3.0.0).
type tileJSON struct {
	TileJSON    string     `json:"tilejson"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Version     string     `json:"version"`
	Attribution string     `json:"attribution,omitempty"`
	Scheme      string     `json:"scheme"`
	Format      string     `json:"format"`
	TileSize    int        `json:"tileSize,omitempty"` // of pictures
	Tiles       []string   `json:"tiles"`
	MinZoom     int        `json:"minzoom"`
	MaxZoom     int        `json:"maxzoom"`
	Bounds      [4]float64 `json:"bounds"`
	Center      [3]float64 `json:"center"`
	LegendURL   string     `json:"legend_url"` // legend itself is text that clients show unchanged (3.11)
	GeneratedAt string     `json:"generated_at"`
	DataDate    *string    `json:"data_date"`       // of the newest measurement that the map may show
	AsOf        string     `json:"as_of,omitempty"` // the day from which ages count, if it is not the present one
	Snapshot    string     `json:"snapshot"`        // the value of v= in the address of a tile

	VectorLayers []vectorLayer `json:"vector_layers,omitempty"` // required of vector tiles, and of no others
}

// descriptionHandlers answer with descriptions of the tiles, the styles, the colour maps and their legends.
type descriptionHandlers struct {
	*common
	drawn   *lru.Cache[legendKey, []byte] // holds those that were used last
	drawing sync.Mutex                    // held while a legend is drawn
}

// tileJSON answers with the description of the tiles, for the map that the parameters choose.
func (h *descriptionHandlers) tileJSON(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	m := h.readMap(&query, "date")
	week, dated := query.Week(p.snap)
	if err := query.Err(); err != nil {
		return err
	}
	if !dated {
		week = p.snap.Current.Week
	}
	base, private := h.base(w, r)
	description := h.describe(p.state, week, h.opts.MaxZoom)
	if m.forecast == 0 {
		description.Name = "limnomap chlorophyll-a"
		description.Description = "Chlorophyll-a of lakes, in µg/l, measured by satellite or in samples. " + levelCaveat
		description.Snapshot = p.state.MapVersion
	} else {
		ahead, err := weekAhead(p.snap, m.forecast)
		if err != nil {
			return err
		}
		description.Name, description.Description = h.forecastText(p.snap, ahead, m.of)
		description.Snapshot = p.state.ForecastVersion
	}
	// The addresses have what the client chose, and leave out what it left out.
	chosen := h.queryOf(m)
	chosen.Set("v", description.Snapshot)
	if dated {
		chosen.Set("date", week.Monday().String())
	}
	description.Format, description.TileSize = "png", 256
	description.Tiles = []string{base + pathTiles + "/{z}/{x}/{y}.png?" + chosen.Encode()}
	description.LegendURL = base + pathLegend + ".svg" + h.legendQuery(m)
	return h.sender.SendJSON(w, r, jsonKind.PrivateIf(private), description)
}

// levelCaveat is part of every description of the levels.
const levelCaveat = "Warning levels hold where cyanobacteria dominate, which total chlorophyll does not tell; an index of cyanobacteria (cell_density_by: index) does."

// describe returns what the descriptions of pictures and vector tiles have in common.
func (h *descriptionHandlers) describe(state *ogc.State, w data.Week, maxZoom int) tileJSON {
	description := tileJSON{
		TileJSON:    "3.0.0",
		Version:     "1.0.0",
		Attribution: h.attribution(state),
		Scheme:      "xyz",
		MinZoom:     0,
		MaxZoom:     maxZoom,
		Bounds:      state.Bounds,
		Center:      [3]float64{state.Center[0], state.Center[1], float64(min(state.Zoom, maxZoom))}, // TileJSON, 3.6
		GeneratedAt: state.Updated,
		AsOf:        ogc.AsOf(state.Snapshot),
	}
	if newest := ogc.DataDate(state.Snapshot, w); newest != "" {
		description.DataDate = &newest
	}
	return description
}
