package api

import (
	"net/http"
	"strconv"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/table"
	"limnomap/data"
)

// embedFile is the file with the map for frames of other sites.
const embedFile = "/embed.html"

// embedded answers with the map for frames of other sites. The script of the page reads the query; here it is checked, so that
// the author of the address sees mistakes. A lake or a week that does not exist any more is not a mistake: a site that was made
// years ago still shows the map, with a message.
func (s *Server) embedded(w http.ResponseWriter, r *http.Request) error {
	answer.SetDocument(w, answer.EmbedDocument)
	params := paramsOf(r)
	params.lakeID("lake")
	params.bbox("bbox")
	oneOf(params, "style", s.styleIDs)
	params.day("date")
	oneOf(params, "lang", table.Languages)
	if err := params.err(); err != nil {
		return err
	}
	return s.page.send(w, r, s.page.embed)
}

// lakeID checks the value of the named parameter, which is an id.
func (p *params) lakeID(name string) {
	s, ok := p.text(name)
	if !ok {
		return
	}
	if _, err := data.ParseLakeID(s); err != nil {
		p.refuse(name, "%s is not an id: at most 64 letters, digits, _, . or -, the first a letter or digit", echo(s))
	}
}

// day checks the value of the named parameter, which is a day.
func (p *params) day(name string) {
	s, ok := p.text(name)
	if !ok {
		return
	}
	if _, err := data.ParseDate(s); err != nil {
		p.refuse(name, "%s is not a day as YYYY-MM-DD", echo(s))
	}
}

// bbox checks the value of the named parameter, a bounding box: west, south, east, north, in degrees. If west is greater than
// east, it crosses the antimeridian (RFC 7946, section 5.2).
func (p *params) bbox(name string) {
	s, ok := p.text(name)
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
		// ParseFloat also accepts hexadecimal numbers, underscores, NaN and infinities.
		good = err == nil && strings.Trim(texts[i], "+-.0123456789eE") == "" && bound[i] >= -highest[i] && bound[i] <= highest[i]
	}
	switch {
	case !good:
		p.refuse(name, "%s is not west,south,east,north: four numbers of degrees, -180 to 180 and -90 to 90", echo(s))
	case bound[1] > bound[3]:
		p.refuse(name, "south, %v, is greater than north, %v; it must not be", bound[1], bound[3])
	}
}
