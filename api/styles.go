package api

import (
	"net/http"

	"limnomap/colormap"
	"limnomap/tiles"
)

// A styleEntry is a style in the list.
type styleEntry struct {
	tiles.Style
	Default bool `json:"default"`
}

// A colormapEntry is a colour map in the list.
type colormapEntry struct {
	ID      colormap.ID `json:"id"`
	Title   string      `json:"title"`
	Default bool        `json:"default"`
	Legend  string      `json:"legend"`
}

// styles answers with the styles and the colour maps.
func (h *descriptionHandlers) styles(w http.ResponseWriter, r *http.Request) error {
	var list struct {
		Styles    []styleEntry    `json:"styles"`
		Colormaps []colormapEntry `json:"colormaps"`
	}
	for i, style := range h.opts.Styles {
		list.Styles = append(list.Styles, styleEntry{Style: style, Default: i == 0})
	}
	for i, id := range h.colormaps.ids {
		list.Colormaps = append(list.Colormaps, colormapEntry{
			ID:      id,
			Title:   h.colormaps.byID[id].Title,
			Default: i == 0,
			Legend:  h.prefix + pathLegend + ".json" + h.legendQuery(mapChoice{style: h.styleIDs[0], colormap: id}),
		})
	}
	return h.sender.SendJSON(w, r, timelessKind, list)
}
