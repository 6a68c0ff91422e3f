package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	lru "github.com/hashicorp/golang-lru/v2"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/colormap"
	"limnomap/tiles"
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

// styleHandlers answer with the styles, the colour maps and their legends.
type styleHandlers struct {
	sender    *answer.Sender
	styles    []tiles.Style // the default first
	colormaps *colormaps
	draw      Legends
	drawn     *lru.Cache[legendKey, []byte]
	prefix    string // of addresses
}

func newStyleHandlers(sender *answer.Sender, styles []tiles.Style, maps *colormaps, draw Legends, prefix string) (*styleHandlers, error) {
	drawn, err := lru.New[legendKey, []byte](maxLegends)
	return &styleHandlers{sender: sender, styles: styles, colormaps: maps, draw: draw, drawn: drawn, prefix: prefix}, err
}

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
func (h *styleHandlers) legend(mediaType string) answer.Handler {
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

func (h *styleHandlers) drawLegend(key legendKey) ([]byte, error) {
	scale := h.colormaps.byID[key.colormap]
	switch key.mediaType {
	case answer.TypePNG:
		return h.draw.LegendPNG(scale, key.width, key.scale)
	case answer.TypeSVG:
		return h.draw.LegendSVG(scale, key.width)
	}
	content, err := json.Marshal(scale.Legend())
	return append(content, '\n'), err
}
