package api

import (
	"net/http"
	"unsafe"

	"limnomap/api/answer"
	"limnomap/api/atom"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/api/weekpage"
	"limnomap/data"
	"limnomap/data/snapshot"
)

const pathWeek = "/week"

// maxChanges is of how many weeks the changes are kept, since comparing a million lakes takes a while: some 100 KB each.
const maxChanges = 16

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
	if c, ok := p.changes.Get(week); ok {
		return c, nil
	}
	err = p.weeks.during(r, p.snap, week, func(view *snapshot.View) error {
		if c = weekpage.Of(p.snap, view); !view.Later {
			p.changes.Add(week, c)
		}
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

// A weekRow is a line of the table of changes.
type weekRow struct {
	lake *data.Lake
	weekpage.Change
}

// weekCells are the columns of the table of changes.
var weekCells = record.Columns[weekRow]{
	record.Word("id", func(r weekRow) string { return string(r.lake.ID) }),
	record.Text("name", func(r weekRow) string { return r.lake.Name }),
	record.Text("region", func(r weekRow) string { return r.lake.Region }),
	record.Word("change", func(r weekRow) string { return r.Kind.String() }),
	record.Word("risk_before", func(r weekRow) string { return knownRisk(r.Before) }),
	record.Word("risk", func(r weekRow) string { return knownRisk(r.Now) }),
}

// knownRisk returns the name of a risk, empty if it is not known.
func knownRisk(r data.Risk) string {
	if r < data.RiskLow {
		return ""
	}
	return r.String()
}

// csv answers with all changes as a table, which is written piece by piece.
func (h *weekHandler) csv(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	view, err := p.viewFor(w, r, &query)
	if err != nil {
		return err
	}
	nameFile(w, "week-"+p.snap.MeasuredWeek(view).Monday().String())
	return h.sender.SendList(w, r, csvKind, len(view.Lakes), func() answer.List {
		all := weekpage.All(p.snap, view)
		return answer.List{
			Head: weekCells.Header(),
			Append: func(b []byte, i int) []byte {
				return weekCells.AppendLine(b, weekRow{&view.Lakes[all[i].Lake], all[i]})
			},
			Len:    len(all),
			Memory: int64(cap(all)) * int64(unsafe.Sizeof(weekpage.Change{})),
		}
	})
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
