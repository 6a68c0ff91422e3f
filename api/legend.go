package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/colormap"
)

const (
	defaultLegendWidth = 320
	maxLegendScale     = 2
)

// legendWidths are the widths of a drawn legend in pixels, at scale 1. They are few because drawing a PNG takes some 40 ms, a
// hundred times as long as drawing a tile: each legend is drawn once and kept.
var legendWidths = []int{160, 200, 240, 256, 300, defaultLegendWidth, 400, 480, 512, 640, 800, 1024}

// errLegendWidth is an error of parseLegendWidth.
var errLegendWidth = errors.New("not a width of legends")

// parseLegendWidth reads the width of a legend.
func parseLegendWidth(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || s[0] == '+' || !slices.Contains(legendWidths, n) {
		return 0, errLegendWidth
	}
	return n, nil
}

// legendWidthMistake follows a width that is not allowed in the error.
var legendWidthMistake = "is none of " + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(legendWidths)), ", "), "[]")

// maxLegends is the number of legends of that many colour maps: some 30 kB each.
func maxLegends(colormaps int) int {
	return colormaps * (1 + len(legendWidths)*(1+maxLegendScale)) // JSON, SVG, PNG
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
func (h *descriptionHandlers) legend(mediaType string) answer.Handler {
	kind := answer.NewKind(mediaType, answer.CacheMinute).Timeless()
	return func(w http.ResponseWriter, r *http.Request) error {
		query := params.Of(r)
		key := legendKey{
			mediaType: mediaType,
			colormap:  params.OneOf(&query, "colormap", h.colormaps.ids),
			width:     params.Parsed(&query, "width", defaultLegendWidth, parseLegendWidth, legendWidthMistake),
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
		content, err := h.keptLegend(key)
		if err != nil {
			return fmt.Errorf("legend of %s: %w", key.colormap, err)
		}
		return h.sender.Send(w, r, kind, answer.Bytes(content))
	}
}

// keptLegend returns a legend that was drawn before, or draws it. One is drawn at a time: a crowd that requests them all before
// they are kept draws each once.
func (h *descriptionHandlers) keptLegend(key legendKey) ([]byte, error) {
	if content, ok := h.drawn.Get(key); ok {
		return content, nil
	}
	h.drawing.Lock()
	defer h.drawing.Unlock()
	if content, ok := h.drawn.Get(key); ok {
		return content, nil
	}
	content, err := h.drawLegend(key)
	if err == nil {
		h.drawn.Add(key, content)
	}
	return content, err
}

// A legendWithSigns is the body of legend.json.
type legendWithSigns struct {
	colormap.Legend
	Signs []legendSign `json:"signs"`
}

// A legendSign is a sign that the styles dots and lakes draw on the marker of a lake, whatever its colour.
type legendSign struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

var legendSigns = []legendSign{
	{"closed", "Closed by an official statement"},
	{"worse", "Level worse than the colour: cell count or report"},
}

func (h *descriptionHandlers) drawLegend(key legendKey) ([]byte, error) {
	scale := h.colormaps.byID[key.colormap]
	switch key.mediaType {
	case answer.TypePNG:
		return h.opts.Legends.LegendPNG(scale, key.width, key.scale)
	case answer.TypeSVG:
		return h.opts.Legends.LegendSVG(scale, key.width)
	}
	content, err := json.Marshal(legendWithSigns{scale.Legend(), legendSigns})
	return append(content, '\n'), err
}
