package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"limnomap/api/answer"
	"limnomap/api/route"
	"limnomap/data"
)

// CSV follows RFC 4180: lines end with CR and LF, which all programs read, and there is no byte-order mark, which R and
// others read as part of the first column's name. A column has the name of the member in JSON, and is empty where that is
// null. A name that starts like a spreadsheet's formula is not changed: the data would be wrong in all other programs, and
// could not be imported again.

// csvKind is the kind of tables whose first line names the columns (RFC 4180, section 3).
var csvKind = answer.NewKind("text/csv; charset=utf-8; header=present", answer.CacheMinute)

const (
	csvLineEnd      = "\r\n"
	statusCSVHeader = "id,name,lat,lon,chl,who_level,cell_density_cells_ml,risk,color,trophic,measured_at," +
		"chl_level,measured_by,stale,age_days,advisory,level_by" + csvLineEnd
	historyCSVColumns = "lake_id,date,chl,who_level,cell_density_cells_ml,data_type,"
)

// statusCSV answers as status does, as a table.
func (h *lakeHandlers) statusCSV(w http.ResponseWriter, r *http.Request, p *published) error {
	f, err := p.filterOf(r)
	if err != nil {
		return err
	}
	view, name := f.view, "status"
	if view != p.snap.Current {
		name += "-" + view.Week.Monday().String()
	}
	nameFile(w, name)
	line := func(b []byte, i int) []byte { return h.encoder.statusLine(b, view, i) }
	return h.sender.Send(w, r, csvKind, answer.Items(len(view.Lakes), func() answer.List {
		sel := f.selected()
		return sel.list([]byte(statusCSVHeader), line, "", "")
	}))
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
	content := []byte(historyCSVColumns + strings.Join(detailColumns, ",") + "," + forecastCSVColumns + csvLineEnd)
	for i := range found.observations {
		content = h.encoder.observationLine(content, found.lake.ID, &found.observations[i], p.snap.Profile)
	}
	return h.sender.Send(w, r, csvKind, answer.Bytes(content))
}

// nameFile sets the name of the file in which a browser saves the answer. The name needs no quoting.
func nameFile(w http.ResponseWriter, name string) {
	w.Header()["Content-Disposition"] = []string{`attachment; filename="` + name + `.csv"`}
}

// statusLine appends the line of Lakes[i] of a view.
func (e *encoder) statusLine(b []byte, view *data.View, i int) []byte {
	lake, state := &view.Lakes[i], &view.States[i]
	b = append(b, lake.ID...)
	b = appendCell(append(b, ','), lake.Name)
	b = appendFloat(append(b, ','), lake.Point.Lat())
	b = appendFloat(append(b, ','), lake.Point.Lon())
	b = appendValues(append(b, ','), state.Chlorophyll, state.Level, state.CellDensity())
	b = append(b, ',')
	if state.Risk != data.RiskUnknown {
		b = append(b, state.Risk.String()...)
	}
	b = append(append(b, ','), e.color(state.Chlorophyll)...)
	b = append(append(b, ','), state.Trophic.String()...)
	b = append(b, ',')
	if state.Risk != data.RiskUnknown {
		b = appendTimeText(b, time.Unix(state.MeasuredAt(), 0))
	}
	b = append(b, ',')
	if level := view.Profile.Level(state.Chlorophyll); level >= 0 {
		b = appendLevel(b, level)
	}
	b = append(b, ',')
	if state.Risk != data.RiskUnknown {
		b = append(b, state.MeasuredBy.String()...)
	}
	b = strconv.AppendBool(append(b, ','), state.Stale())
	b = append(b, ',')
	if days, ok := state.Age(view.AsOf); ok {
		b = strconv.AppendInt(b, int64(days), 10)
	}
	b = append(append(b, ','), view.Advisories.Kind(i).String()...)
	b = append(append(b, ','), view.Profile.Basis(state.Level, state.Chlorophyll, state.CountedCells).String()...)
	return append(b, csvLineEnd...)
}

// observationLine appends the line of an observation.
func (e *encoder) observationLine(b []byte, lake data.LakeID, o *data.Observation, profile *data.Profile) []byte {
	level, density := profile.Classify(*o)
	b = append(b, lake...)
	b = append(append(b, ','), o.Date.String()...)
	b = appendValues(append(b, ','), o.Chlorophyll, level, density)
	b = append(append(b, ','), o.Type.String()...)
	details := detailsOf(o, profile.Basis(level, o.Chlorophyll, o.CellDensity))
	for _, name := range detailColumns {
		b = append(b, ',')
		if len(details) > 0 && details[0].name == name {
			b = appendCell(b, details[0].text)
			details = details[1:]
		}
	}
	b = append(b, ',')
	if o.Type == data.Forecast {
		d := forecastDetailsOf(o, profile)
		b = d.appendCells(b)
	} else {
		b = append(b, noForecastCells...)
	}
	return append(b, csvLineEnd...)
}

// appendValues appends the cells of a value, its level and its cell density. A missing one is empty.
func appendValues(b []byte, c data.Chlorophyll, level data.Level, density float64) []byte {
	if c.Valid() {
		b = appendChlorophyll(b, c)
	}
	b = append(b, ',')
	if level >= 0 {
		b = appendLevel(b, level)
	}
	b = append(b, ',')
	if density >= 0 {
		b = appendDensity(b, density)
	}
	return b
}

// appendCell appends a text. It is quoted if it contains a character that ends a cell, also for programs that guess the
// separator, or a space that could be trimmed.
func appendCell(b []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",;|\t\r\n") && strings.TrimSpace(s) == s {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}
