package api

import (
	"net/http"
	"strconv"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/table"
	"limnomap/data"
)

// mistakeInLakeID says what a wrong id of a lake is not.
const mistakeInLakeID = "is no id: at most 64 letters, digits, _, . or -, the first a letter or digit"

// embedPage answers with the map for pages of other sites. The page reads the query itself; here it is checked, so that the
// author of the address learns about mistakes. A lake or a week that no longer exists is no mistake: on a page that was made
// years ago the map still works, with a message.
func (h *pageHandlers) embedPage(w http.ResponseWriter, r *http.Request) error {
	answer.SetDocument(w, answer.EmbedDocument)
	query := params.Of(r)
	params.Parsed(&query, "lake", "", data.ParseLakeID, mistakeInLakeID)
	checkBbox(&query, "bbox")
	params.OneOf(&query, "style", h.styleIDs)
	dayOf(&query, "date", 0)
	params.OneOf(&query, "lang", table.Languages)
	if err := query.Err(); err != nil {
		return err
	}
	return h.send(w, r, h.files[embedFile])
}

// checkBbox checks the value of a parameter that is a part of the globe: west, south, east, north, in degrees. If west is east
// of east, it crosses the antimeridian (RFC 7946, section 5.2).
func checkBbox(p *params.Params, name string) {
	s, ok := p.Text(name)
	if !ok {
		return
	}
	highest := [4]float64{180, 90, 180, 90}
	var bound [4]float64
	texts := strings.Split(s, ",")
	good := len(texts) == len(bound)
	for i := 0; good && i < len(bound); i++ {
		var err error
		bound[i], err = strconv.ParseFloat(texts[i], 64)
		good = err == nil && params.IsDecimal(texts[i]) && bound[i] >= -highest[i] && bound[i] <= highest[i]
	}
	switch {
	case !good:
		p.Refuse(name, "%s is not west,south,east,north: four numbers of degrees, -180 to 180 and -90 to 90", params.Quote(s))
	case bound[1] > bound[3]:
		p.Refuse(name, "south, %v, is greater than north, %v; it must not be", bound[1], bound[3])
	}
}
