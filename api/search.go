package api

import (
	"net/http"
	"unicode/utf8"

	"limnomap/api/params"
	"limnomap/data/index"
)

// maxSearch is the largest length of a text to search for, in characters: that of the longest name.
const maxSearch = 200

// search answers with the lakes whose name, id or region contains a text, the best match first.
func (h *lakeHandlers) search(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	q := searchOf(&query)
	limit := query.Integer("limit", 1, maxFound, defaultFound)
	view, err := p.viewFor(w, r, &query)
	if err != nil {
		return err
	}
	sel := selection{view: view}
	err = h.sender.InTurn(r, len(p.snap.Lakes), func() error {
		for _, lake := range p.lookup.names.Find(q, limit) {
			sel.add(lake)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return h.sendFound(w, r, p, sel, nil)
}

// searchOf returns the value of the parameter q.
func searchOf(p *params.Params) string {
	q, given := p.Required("q")
	if given && checkText(p, q) && !index.Searchable(q) {
		p.Refuse("q", "%s has neither a letter nor a digit to search for", params.Quote(q))
	}
	return q
}

// checkText reports whether q, the value of the parameter q, can be part of a name.
func checkText(p *params.Params, q string) bool {
	n := utf8.RuneCountInString(q)
	switch {
	case !utf8.ValidString(q):
		p.Refuse("q", "%s is not UTF-8", params.Quote(q))
	case n > maxSearch:
		p.Refuse("q", "%s has %d characters, at most %d are allowed", params.Quote(q), n, maxSearch)
	default:
		return true
	}
	return false
}
