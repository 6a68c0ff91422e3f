package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"limnomap/api/answer"
	"limnomap/colormap"
)

// The width of a drawn legend in pixels, at scale 1.
const (
	minLegendWidth     = 160
	defaultLegendWidth = 320
	maxLegendWidth     = 1024
	maxLegendScale     = 2
)

// maxLegends is how many drawn legends are kept: they change with nothing but their parameters, and to draw a PNG takes
// longer than to draw a tile.
const maxLegends = 64

// A legendKey names a legend.
type legendKey struct {
	contentType  string
	colormap     colormap.ID
	width, scale int
}

// legendQuery returns the query that asks for the legend of that colour map.
func legendQuery(id, otherwise colormap.ID) string {
	if id == otherwise {
		return ""
	}
	return "?" + url.Values{"colormap": {string(id)}}.Encode()
}

// legend returns a handler that answers with a legend of that type.
func (s *Server) legend(contentType string) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		params := paramsOf(r)
		key := legendKey{
			contentType: contentType,
			colormap:    oneOf(params, "colormap", s.colormapIDs),
			width:       params.integer("width", minLegendWidth, maxLegendWidth, defaultLegendWidth),
			scale:       params.integer("scale", 1, maxLegendScale, 1),
		}
		if err := params.err(); err != nil {
			return err
		}
		// What does not show in a form does not tell two legends apart.
		if contentType != answer.TypePNG {
			key.scale = 1
		}
		if contentType == answer.TypeJSON {
			key.width = defaultLegendWidth
		}
		content, ok := s.legends.Get(key)
		if !ok {
			var err error
			if content, err = s.drawLegend(key); err != nil {
				return fmt.Errorf("legend of %s: %w", key.colormap, err)
			}
			s.legends.Add(key, content)
		}
		k := answer.NewKind(contentType, answer.CacheMinute).Timeless()
		return s.sender.Send(w, r, k, answer.Bytes(content))
	}
}

func (s *Server) drawLegend(key legendKey) ([]byte, error) {
	scale := s.colormaps[key.colormap]
	switch key.contentType {
	case answer.TypePNG:
		return s.opts.Legends.LegendPNG(scale, key.width, key.scale)
	case answer.TypeSVG:
		return s.opts.Legends.LegendSVG(scale, key.width)
	}
	content, err := json.Marshal(scale.Legend())
	return append(content, '\n'), err
}
