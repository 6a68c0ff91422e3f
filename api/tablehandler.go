package api

import (
	"net/http"
	"slices"
	"unicode/utf8"

	"limnomap/api/answer"
	"limnomap/api/table"
	"limnomap/data"
)

var tableKind = answer.NewKind("text/html; charset=utf-8", answer.CacheMinute)

// lakeTable answers with the lakes as a table in HTML, for readers without JavaScript.
func (s *Server) lakeTable(w http.ResponseWriter, r *http.Request) error {
	answer.SetDocument(w, answer.FormDocument)
	p, err := s.published()
	if err != nil {
		return err
	}
	params := paramsOf(r)
	q := params.tableQuery()
	if err := params.err(); err != nil {
		return err
	}
	content, language, err := s.table.Page(p.table, q, table.Reader{
		AcceptLanguage: r.Header["Accept-Language"],
		Today:          data.DateOf(s.now()),
		Notice:         s.opts.Notice,
		Attribution:    s.adjustable().Attribution,
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", language)
	w.Header().Add("Vary", "Accept-Language")
	return s.sender.Send(w, r, tableKind, answer.Bytes(content))
}

// tableQuery reads the parameters. A form also sends fields that were left empty: they ask for nothing.
func (p *params) tableQuery() table.Query {
	q := table.Query{Class: table.AllClasses, Number: p.integer("page", 1, table.MaxNumber, 1)}
	q.Name, _ = p.text("q")
	switch {
	case !utf8.ValidString(q.Name):
		p.refuse("q", "%s is not UTF-8", echo(q.Name))
	case utf8.RuneCountInString(q.Name) > maxSearch:
		p.refuse("q", "%s has %d characters, at most %d are allowed", echo(q.Name), utf8.RuneCountInString(q.Name), maxSearch)
	}
	if risk, ok := p.text("risk"); ok && risk != "" {
		i := slices.Index(table.ClassNames[:], risk)
		if i < 0 {
			p.refuse("risk", "%s is none of low, medium, high, none", echo(risk))
		}
		q.Class = table.Class(i)
	}
	q.ByValue = oneOf(p, "sort", []string{"name", "value"}) == "value"
	if lang, ok := p.text("lang"); ok && lang != "" {
		q.Language = oneOf(p, "lang", table.Languages)
	}
	return q
}
