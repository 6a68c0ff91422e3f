package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/route"
	"limnomap/data"
)

// csvKind is the kind of tables whose first line names the columns (RFC 4180, section 3).
var csvKind = answer.NewKind("text/csv; charset=utf-8; header=present", answer.CacheMinute)

// statusCSV answers as status does, as a table.
func (h *lakeHandlers) statusCSV(w http.ResponseWriter, r *http.Request, p *published) error {
	f, err := p.filterOf(w, r)
	if err != nil {
		return err
	}
	view, name := f.view, "status"
	if view != p.snap.Current {
		name += "-" + view.Week.Monday().String()
	}
	nameFile(w, name)
	line := func(b []byte, i int) []byte { return statusCells.AppendLine(b, h.encoder.lake(view, i)) }
	n, selected := f.selecting()
	return h.sender.SendList(w, r, csvKind, n, func() answer.List {
		sel := selected()
		return sel.list(statusCells.Header(), line, "", "")
	})
}

// historyCSV answers as history does, as a table. The ids of lakes may contain dots: if .csv is part of an id, the address
// is that of the lake's history as JSON, which each lake has, and its table is at its id with a second .csv.
func (h *lakeHandlers) historyCSV(w http.ResponseWriter, r *http.Request, p *published) error {
	id := data.LakeID(route.Values(r)[0])
	if _, ok := p.snap.Index(id + ".csv"); ok {
		return h.historyJSON(w, r, p, id+".csv")
	}
	found, err := h.find(r, p, id)
	if err != nil {
		return err
	}
	nameFile(w, "history-"+string(found.lake.ID))
	content := observationCells.Header()
	for i := range found.observations {
		content = observationCells.AppendLine(content, newObservationRecord(&found, i, p.snap.Profile))
	}
	return h.sender.SendBytes(w, r, csvKind, content)
}

// nameFile sets the name of the file in which a browser saves the answer. The name needs no quoting.
func nameFile(w http.ResponseWriter, name string) {
	w.Header()["Content-Disposition"] = []string{`attachment; filename="` + name + `.csv"`}
}
