package api

import (
	"net/http"
	"slices"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/table"
	"limnomap/api/words"
)

// pageKind is that of the pages that this server makes.
var pageKind = answer.NewKind("text/html; charset=utf-8", answer.CacheMinute)

// A tableHandler answers with the lakes as a table.
type tableHandler struct {
	*common
	table *table.Table
}

// page answers with the lakes as a table in HTML, for readers without JavaScript.
func (h *tableHandler) page(w http.ResponseWriter, r *http.Request) error {
	answer.SetDocument(w, answer.FormDocument)
	p, err := h.published()
	if err != nil {
		return err
	}
	answer.InfoOf(r).TrueFor = h.trueFor(p.snap)
	query := params.Of(r)
	q := tableQueryOf(&query)
	if err := query.Err(); err != nil {
		return err
	}
	reader := h.readerOf(r, p, q.Language)
	var content []byte
	var language string
	err = h.sender.InTurn(r, len(p.snap.Lakes), func() (err error) {
		content, language, err = h.table.Page(p.table, q, reader)
		return err
	})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", language)
	w.Header().Add("Vary", "Accept-Language")
	return h.sender.SendBytes(w, r, pageKind, content)
}

// tableQueryOf reads the parameters. A form also sends fields that were left empty: they ask for nothing.
func tableQueryOf(p *params.Params) table.Query {
	q := table.Query{Class: table.AllClasses, Number: p.Integer("page", 1, table.MaxNumber, 1)}
	q.Name, _ = p.Text("q")
	checkText(p, q.Name)
	if risk, ok := p.Text("risk"); ok && risk != "" {
		i := slices.Index(words.ClassNames(), risk)
		if i < 0 {
			p.Refuse("risk", "%s is none of closed, high, medium, low, none", params.Quote(risk))
		}
		q.Class = words.Class(i)
	}
	q.ByValue = params.OneOf(p, "sort", []string{"name", "value"}) == "value"
	q.Language = languageOf(p)
	return q
}
