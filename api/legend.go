package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/colormap"
)

const (
	// The width of a drawn legend in pixels, at scale 1.
	minLegendWidth     = 160
	defaultLegendWidth = 320
	maxLegendWidth     = 1024
	maxLegendScale     = 2
	// maxLegends is how many drawn legends are kept: they change only with their parameters, and drawing a PNG takes longer
	// than drawing a tile.
	maxLegends = 64
)

// A legendKey names a legend.
type legendKey struct {
	mediaType    string
	colormap     colormap.ID
	width, scale int
}

// legendQuery returns the query for the legend of a colour map, nothing for that of the default one.
func legendQuery(id, byDefault colormap.ID) string {
	if id == byDefault {
		return ""
	}
	return "?" + url.Values{"colormap": {string(id)}}.Encode()
}

// legend returns a handler that answers with a legend of that media type.
func (h *descriptionHandlers) legend(mediaType string) answer.Handler {
	kind := answer.NewKind(mediaType, answer.CacheMinute).Timeless()
	return func(w http.ResponseWriter, r *http.Request) error {
		query := params.Of(r)
		key := legendKey{
			mediaType: mediaType,
			colormap:  params.OneOf(&query, "colormap", h.colormaps.ids),
			width:     query.Integer("width", minLegendWidth, maxLegendWidth, defaultLegendWidth),
			scale:     query.Integer("scale", 1, maxLegendScale, 1),
		}
		if err := query.Err(); err != nil {
			return err
		}
		// Parameters that do not change a form must not make two legends of one.
		if mediaType != answer.TypePNG {
			key.scale = 1
		}
		if mediaType == answer.TypeJSON {
			key.width = defaultLegendWidth
		}
		content, ok := h.drawn.Get(key)
		if !ok {
			var err error
			if content, err = h.drawLegend(key); err != nil {
				return fmt.Errorf("legend of %s: %w", key.colormap, err)
			}
			h.drawn.Add(key, content)
		}
		return h.sender.Send(w, r, kind, answer.Bytes(content))
	}
}

func (h *descriptionHandlers) drawLegend(key legendKey) ([]byte, error) {
	scale := h.colormaps.byID[key.colormap]
	switch key.mediaType {
	case answer.TypePNG:
		return h.opts.Legends.LegendPNG(scale, key.width, key.scale)
	case answer.TypeSVG:
		return h.opts.Legends.LegendSVG(scale, key.width)
	}
	content, err := json.Marshal(scale.Legend())
	return append(content, '\n'), err
}
