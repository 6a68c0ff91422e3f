package api

import (
	"net/http"
	"unicode/utf8"

	"limnomap/data/index"
)

// maxSearch is how many characters may be searched for: as many as a name has at most.
const maxSearch = 200

// search answers with the lakes whose name, id or region holds a text, the best first.
func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	p, err := s.published()
	if err != nil {
		return err
	}
	params := paramsOf(r)
	q := params.search()
	limit := params.integer("limit", 1, maxFound, defaultFound)
	view, err := p.viewFor(r, params)
	if err != nil {
		return err
	}
	sel := selection{view: view}
	for _, lake := range p.lookup.names.Find(q, limit) {
		sel.add(lake)
	}
	return s.sendFound(w, r, p, sel, nil)
}

// search returns the value of the parameter q.
func (p *params) search() string {
	q, given := p.required("q")
	switch {
	case !given:
	case !utf8.ValidString(q):
		p.refuse("q", "%s is not UTF-8", echo(q))
	case utf8.RuneCountInString(q) > maxSearch:
		p.refuse("q", "%s has %d characters, at most %d are allowed", echo(q), utf8.RuneCountInString(q), maxSearch)
	case !index.Searchable(q):
		p.refuse("q", "%s has neither a letter nor a digit to search for", echo(q))
	}
	return q
}
