package api

import (
	"net/http"

	"limnomap/api/atom"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/api/weekpage"
	"limnomap/data"
	"limnomap/data/snapshot"
)

const pathWeek = "/week"

// A weekHandler answers with what has changed in a week.
type weekHandler struct {
	*common
	pages *weekpage.Maker
}

// changes returns what has changed in the week that the query asks for.
func (h *weekHandler) changes(r *http.Request, p *published, query *params.Params) (c *weekpage.Changes, err error) {
	week, dated := query.Week(p.snap)
	if err := query.Err(); err != nil {
		return nil, err
	}
	if !dated {
		week = p.snap.Current.Week
	}
	err = p.weeks.during(r, p.snap, week, func(view *snapshot.View) error {
		c = weekpage.Of(p.snap, view)
		return nil
	})
	return c, err
}

// page answers with the changes as a page.
func (h *weekHandler) page(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	language := languageOf(&query)
	c, err := h.changes(r, p, &query)
	if err != nil {
		return err
	}
	content, language, err := h.pages.Page(c, h.readerOf(r, p, language))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", language)
	w.Header().Add("Vary", "Accept-Language")
	return h.sender.SendBytes(w, r, pageKind, content)
}

// weekCells are the columns of the table of changes.
var weekCells = record.Columns[weekpage.Change]{
	record.Word("id", func(c weekpage.Change) string { return string(c.Lake.ID) }),
	record.Text("name", func(c weekpage.Change) string { return c.Lake.Name }),
	record.Text("region", func(c weekpage.Change) string { return c.Lake.Region }),
	record.Word("change", func(c weekpage.Change) string { return string(c.Kind) }),
	record.Word("risk_before", func(c weekpage.Change) string { return knownRisk(c.Before) }),
	record.Word("risk", func(c weekpage.Change) string { return knownRisk(c.Now) }),
}

// knownRisk returns the name of a risk, empty if it is not known.
func knownRisk(r data.Risk) string {
	if r < data.RiskLow {
		return ""
	}
	return r.String()
}

// csv answers with the changes as a table.
func (h *weekHandler) csv(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	c, err := h.changes(r, p, &query)
	if err != nil {
		return err
	}
	nameFile(w, "week-"+c.Week.Monday().String())
	content := weekCells.Header()
	for _, change := range c.All {
		content = weekCells.AppendLine(content, change)
	}
	return h.sender.SendBytes(w, r, csvKind, content)
}

// feed answers with the newest week as an Atom feed of one entry, which readers keep.
func (h *weekHandler) feed(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	c, err := h.changes(r, p, &query)
	if err != nil {
		return err
	}
	base, private := h.base(w, r)
	author, monday := h.publisher().Sender, c.Week.Monday().String()
	feed := atom.Feed{
		ID:      atom.URN(author, "week"),
		Title:   h.marked("Water quality of lakes: what has changed in a week"),
		Updated: generatedAt(p.snap),
		Author:  author,
		Self:    base + pathWeek + ".atom",
		Link:    base + pathWeek,
	}
	entry := atom.Entry{
		Language: "en", ID: atom.URN(author, "week", monday), Title: h.marked("Week of " + monday), Author: author,
		Updated: atom.Time(feed.Updated), Published: atom.Time(c.Week.Monday().Time()),
		Category: atom.Category{Term: "week"}, Link: atom.Link{Rel: "alternate", Type: "text/html", Href: base + pathWeek + "?date=" + monday},
		Summary: h.pages.Sentence(c, "en"),
	}
	return h.sender.SendBytes(w, r, atomKind.PrivateIf(private), append(entry.Append(feed.Head()), atom.Tail...))
}
