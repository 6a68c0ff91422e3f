package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/colormap"
	"limnomap/tiles"
)

// A styleEntry is a style as the list shows it.
type styleEntry struct {
	tiles.Style
	Default bool `json:"default"`
}

// A colormapEntry is a colour map as the list shows it.
type colormapEntry struct {
	ID      colormap.ID `json:"id"`
	Title   string      `json:"title"`
	Default bool        `json:"default"`
	Legend  string      `json:"legend"`
}

// styles answers with the ways to draw the lakes and the colours to draw them in.
func (s *Server) styles(w http.ResponseWriter, r *http.Request) error {
	var list struct {
		Styles    []styleEntry    `json:"styles"`
		Colormaps []colormapEntry `json:"colormaps"`
	}
	for i, style := range s.opts.Styles {
		list.Styles = append(list.Styles, styleEntry{Style: style, Default: i == 0})
	}
	for i, id := range s.colormapIDs {
		list.Colormaps = append(list.Colormaps, colormapEntry{
			ID:      id,
			Title:   s.colormaps[id].Title,
			Default: i == 0,
			Legend:  s.prefix + pathLegend + ".json" + legendQuery(id, s.colormapIDs[0]),
		})
	}
	return s.sender.Send(w, r, timelessKind, answer.JSON(list))
}
