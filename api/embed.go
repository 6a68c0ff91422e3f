package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/words"
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
	h.checkEmbed(&query)
	if err := query.Err(); err != nil {
		return err
	}
	return h.send(w, r, h.files[embedFile])
}

// checkEmbed checks the parameters of an embedded map.
func (s *common) checkEmbed(query *params.Params) {
	params.Parsed(query, "lake", "", data.ParseLakeID, mistakeInLakeID)
	bboxOf(query)
	params.OneOf(query, "style", s.styleIDs)
	params.OneOf(query, "colormap", s.colormaps.ids)
	dayOf(query, "date", 0)
	params.OneOf(query, "lang", words.Languages)
}
