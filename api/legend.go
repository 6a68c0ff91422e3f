package api

import (
	"encoding/binary"
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
	"limnomap/api/words"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/tiles"
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

// keptLanguages is of how many languages a server keeps all legends. It keeps those that were used last: a site requests few widths in
// the languages of its readers.
const keptLanguages = 2

// maxLegends is the largest number of legends that are kept of that many colour maps and styles: some 30 kB each.
func maxLegends(colormaps, styles int) int {
	return keptLanguages * colormaps * (1 + styles*len(legendWidths)*(1+maxLegendScale)) // JSON, SVG, PNG
}

// A legendKey names a legend.
type legendKey struct {
	mediaType    string
	mapChoice    // forecast is 0: all weeks have the same legend
	language     string
	width, scale int
}

// queryOf returns the parameters that choose m. It leaves out what is the default.
func (s *common) queryOf(m mapChoice) url.Values {
	query := make(url.Values)
	if m.style != s.styleIDs[0] {
		query.Set("style", string(m.style))
	}
	switch {
	case m.forecast != 0:
		query.Set("forecast", strconv.Itoa(m.forecast))
		if m.of == data.RiskHigh {
			query.Set("of", m.of.String())
		}
	case m.colormap != s.colormaps.ids[0]:
		query.Set("colormap", string(m.colormap))
	}
	return query
}

// legendQuery returns the query for the legend of m.
func (s *common) legendQuery(m mapChoice) string {
	query := s.queryOf(m)
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}

// legend returns a handler that answers with a legend of that media type.
func (h *descriptionHandlers) legend(mediaType string) answer.Handler {
	kind := answer.NewKind(mediaType, answer.CacheMinute).Timeless()
	return func(w http.ResponseWriter, r *http.Request) error {
		query := params.Of(r)
		key := legendKey{
			mediaType: mediaType,
			mapChoice: h.readMap(&query),
			language:  params.OneOf(&query, "lang", words.Languages),
			width:     params.Parsed(&query, "width", defaultLegendWidth, parseLegendWidth, legendWidthMistake),
			scale:     query.Integer("scale", 1, maxLegendScale, 1),
		}
		if err := query.Err(); err != nil {
			return err
		}
		return h.sendLegend(w, r, kind, key)
	}
}

var legendPicture = answer.NewKind(answer.TypePNG, answer.CacheMinute).Timeless()

// styleLegendKey returns the key of the legend of a style as a picture, in English.
func (h *descriptionHandlers) styleLegendKey(style tiles.StyleID) legendKey {
	choice := mapChoice{style: style, colormap: h.colormaps.ids[0]}
	return legendKey{mediaType: answer.TypePNG, mapChoice: choice, language: words.Languages[0], width: defaultLegendWidth, scale: 1}
}

// styleLegend answers with that legend.
func (h *descriptionHandlers) styleLegend(w http.ResponseWriter, r *http.Request, style tiles.StyleID) error {
	return h.sendLegend(w, r, legendPicture, h.styleLegendKey(style))
}

// legendSize returns the width and the height of that legend.
func (h *descriptionHandlers) legendSize(style tiles.StyleID) (width, height int, err error) {
	content, err := h.keptLegend(h.styleLegendKey(style))
	if err != nil {
		return 0, 0, err
	}
	const sizeAt = 16 // in the header of a PNG file (PNG, third edition, section 11.2.1)
	if len(content) < sizeAt+8 {
		return 0, 0, errors.New("the legend is no PNG")
	}
	size := content[sizeAt:]
	return int(binary.BigEndian.Uint32(size)), int(binary.BigEndian.Uint32(size[4:])), nil
}

// sendLegend answers with a legend.
func (h *descriptionHandlers) sendLegend(w http.ResponseWriter, r *http.Request, kind answer.Kind, key legendKey) error {
	key.forecast = 0
	// Parameters that do not change a form must not make two legends of one.
	if key.mediaType != answer.TypePNG {
		key.scale = 1
	}
	if key.mediaType == answer.TypeJSON {
		key.style, key.width = h.styleIDs[0], defaultLegendWidth
	}
	content, err := h.keptLegend(key)
	if err != nil {
		return fmt.Errorf("legend of %s: %w", key.colormap, err)
	}
	return h.sender.SendBytes(w, r, kind, content)
}

// keptLegend returns a legend that was drawn before, or draws it. One is drawn at a time: a crowd that requests all of a language before
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

// allSigns returns the signs of all styles, each once.
func allSigns(styles []tiles.Style) []tiles.Sign {
	all := []tiles.Sign{}
	for _, style := range styles {
		for _, sign := range style.Signs {
			if !slices.Contains(all, sign) {
				all = append(all, sign)
			}
		}
	}
	return all
}

func (h *descriptionHandlers) drawLegend(key legendKey) ([]byte, error) {
	scale := h.colormaps.byID[key.colormap]
	if key.colormap == colormap.Forecast {
		scale = h.colormaps.forecasts[key.of]
	}
	switch key.mediaType {
	case answer.TypePNG:
		return h.opts.Legends.LegendPNG(scale, h.look(key.mapChoice), key.language, key.width, key.scale)
	case answer.TypeSVG:
		return h.opts.Legends.LegendSVG(scale, h.look(key.mapChoice), key.language, key.width)
	}
	described, err := h.opts.Legends.Legend(scale, allSigns(h.opts.Styles), key.language)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(described)
	return append(content, '\n'), err
}
