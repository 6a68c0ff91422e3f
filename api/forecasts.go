package api

import (
	"net/http"
	"strconv"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/data"
)

const (
	pathForecast       = "/api/v1/bathing-lakes/forecast"
	forecastListHeader = "id,external_id,name,lat,lon,region,week,target_date,chl,who_level,risk,color," + forecastCSVColumns + ",withheld" + csvLineEnd
)

// A forecastWeek is the forecasts of an issue for a week, and which lakes an answer is about.
type forecastWeek struct {
	*data.Forecasts
	snap   *data.Snapshot
	week   int // ahead, from 1 on
	within data.Box
	risk   data.Risk // of the median; RiskUnknown: any, also lakes without a forecast
	all    bool      // all lakes
}

// forecastWeekOf returns what a request for forecasts asks for.
func (h *lakeHandlers) forecastWeekOf(r *http.Request, p *published) (*forecastWeek, error) {
	query := params.Of(r)
	w := &forecastWeek{snap: p.snap, week: query.Integer("week", 1, data.ForecastWeeks, 1), within: boxOf(&query), risk: riskOf(&query)}
	w.all = w.risk == data.RiskUnknown && w.within.Includes(p.bound)
	issued := issuedOf(&query)
	if err := query.Err(); err != nil {
		return nil, err
	}
	var err error
	if w.Forecasts, err = h.issueOf(r, &query, p.snap, issued); err != nil {
		return nil, err
	}
	if w.week > w.Issue.Weeks {
		query.Refuse("week", "%d is not a whole number from 1 to %d, the weeks of the issue of %s", w.week, w.Issue.Weeks, w.Issue.Issued)
	}
	return w, query.Err()
}

// forecastJSON answers with the forecasts of the lakes, all or those that pass the filters.
func (h *lakeHandlers) forecastJSON(w http.ResponseWriter, r *http.Request, p *published) error {
	f, err := h.forecastWeekOf(r, p)
	if err != nil {
		return err
	}
	return h.sender.Send(w, r, jsonKind, answer.Items(len(p.snap.Lakes), func() answer.List {
		sel := f.selected()
		return sel.list(f.head(&sel), func(b []byte, i int) []byte { return h.encoder.forecast(b, f, i) }, ",", listTail)
	}))
}

// forecastCSV answers as forecastJSON does, as a table without what is known of the issue as a whole.
func (h *lakeHandlers) forecastCSV(w http.ResponseWriter, r *http.Request, p *published) error {
	f, err := h.forecastWeekOf(r, p)
	if err != nil {
		return err
	}
	nameFile(w, "forecast-"+f.Issue.Issued.String()+"-week-"+strconv.Itoa(f.week))
	return h.sender.Send(w, r, csvKind, answer.Items(len(p.snap.Lakes), func() answer.List {
		sel := f.selected()
		return sel.list([]byte(forecastListHeader), func(b []byte, i int) []byte { return h.encoder.forecastLine(b, f, i) }, "", "")
	}))
}

// forecastGeoJSON answers with the rows of forecastCSV as GeoJSON features.
func (h *lakeHandlers) forecastGeoJSON(w http.ResponseWriter, r *http.Request, p *published) error {
	f, err := h.forecastWeekOf(r, p)
	if err != nil {
		return err
	}
	return h.sender.Send(w, r, geoJSONKind, answer.Items(len(p.snap.Lakes), func() answer.List {
		sel := f.selected()
		return sel.list([]byte(`{"type":"FeatureCollection","features":[`), func(b []byte, i int) []byte { return h.encoder.forecastFeature(b, f, i) }, ",", listTail)
	}))
}

// selected returns the lakes that the answer is about. withData is how many of them have a forecast.
func (w *forecastWeek) selected() selection {
	sel := selection{view: w.snap.Current}
	for i := range w.snap.Lakes {
		l, _ := w.Of(i)
		stored := l.Weeks[w.week-1]
		if !w.all {
			point := w.snap.Lakes[i].Point
			if !w.within.Contains(point.Lon(), point.Lat()) || w.risk != data.RiskUnknown && w.riskOf(stored) != w.risk {
				continue
			}
			sel.lakes = append(sel.lakes, int32(i))
		}
		sel.n++
		if stored.Known() {
			sel.withData++
		}
	}
	return sel
}

// riskOf returns the risk of a median, RiskUnknown without a forecast.
func (w *forecastWeek) riskOf(f data.StoredForecast) data.Risk {
	if !f.Known() {
		return data.RiskUnknown
	}
	return w.snap.Profile.Level(f.Chlorophyll()).Risk()
}

// head returns the beginning of the JSON answer.
func (w *forecastWeek) head(sel *selection) []byte {
	b := append([]byte(nil), `{"generated_at":`...)
	b = appendTime(b, generatedAt(w.snap))
	b = append(b, `,"total_lakes":`...)
	b = strconv.AppendInt(b, int64(sel.n), 10)
	b = append(b, `,"lakes_with_forecast":`...)
	b = strconv.AppendInt(b, int64(sel.withData), 10)
	b = append(b, `,"issue":{"issued_at":`...)
	b = appendString(b, w.Issue.Issued.String())
	b = append(b, `,"model":`...)
	b = appendString(b, w.Issue.Model)
	b = append(b, `,"week":`...)
	b = strconv.AppendInt(b, int64(w.week), 10)
	b = append(b, `,"target_date":`...)
	b = appendString(b, w.Issue.Target(w.week).String())
	b = append(b, `,"weeks":`...)
	b = strconv.AppendInt(b, int64(w.Issue.Weeks), 10)
	b = append(b, `,"lakes":`...)
	b = strconv.AppendInt(b, w.Issue.Counts.Lakes, 10)
	b = append(b, `,"withheld":{`...)
	withheld := w.Issue.Counts.WithheldOf(len(w.snap.Lakes))
	for i, r := range data.WithheldReasons() {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, r.Code())
		b = append(b, ':')
		b = strconv.AppendInt(b, withheld[r], 10)
	}
	b = append(b, `}},"skill":`...)
	b = appendSkill(b, &w.snap.ForecastTest, w.Issue.Model, "")
	return append(b, `,"lakes":[`...)
}

// A forecastRecord is the forecast of a lake for a week.
type forecastRecord struct {
	lake     *data.Lake
	target   data.Date
	chl      data.Chlorophyll // NoChlorophyll if there is no forecast
	level    data.Level
	withheld string
	forecastDetails
}

func (w *forecastWeek) record(i int) forecastRecord {
	l, hasValues := w.Of(i)
	stored := l.Weeks[w.week-1]
	r := forecastRecord{lake: &w.snap.Lakes[i], target: w.Issue.Target(w.week), chl: data.NoChlorophyll,
		withheld: l.WithheldIn(w.week).Code(), forecastDetails: newForecastDetails(stored, w.snap.Profile)}
	if stored.Known() {
		r.chl = stored.Chlorophyll()
	}
	r.level = w.snap.Profile.Level(r.chl)
	r.model, r.issued = w.Issue.Model, data.Known(w.Issue.Issued)
	r.lastValue = data.Optional[data.Date]{Value: l.BasedOn, Known: hasValues}
	return r
}

// risk returns the risk of the median as text, empty without a forecast.
func (r *forecastRecord) risk() string {
	if r.level == data.NoLevel {
		return ""
	}
	return r.level.Risk().String()
}

// forecast appends the record of Lakes[i].
func (e *encoder) forecast(b []byte, w *forecastWeek, i int) []byte {
	r := w.record(i)
	b = append(b, `{"id":`...)
	b = appendString(b, string(r.lake.ID))
	b = append(b, `,"external_id":`...)
	b = appendString(b, r.lake.ExternalID)
	b = append(b, `,"name":`...)
	b = appendString(b, r.lake.Name)
	b = append(b, `,"lat":`...)
	b = appendFloat(b, r.lake.Point.Lat())
	b = append(b, `,"lon":`...)
	b = appendFloat(b, r.lake.Point.Lon())
	b = e.appendForecastValues(append(b, ','), w, &r)
	b = append(b, ',')
	b = r.appendMembers(b)
	b = append(b, `,"withheld":`...)
	b = appendTextOrNull(b, r.withheld)
	return append(b, '}')
}

// appendForecastValues appends members that the record and the properties of a feature have in common.
func (e *encoder) appendForecastValues(b []byte, w *forecastWeek, r *forecastRecord) []byte {
	b = append(b, `"region":`...)
	b = appendTextOrNull(b, r.lake.Region)
	b = append(b, `,"week":`...)
	b = strconv.AppendInt(b, int64(w.week), 10)
	b = append(b, `,"target_date":`...)
	b = appendString(b, r.target.String())
	b = append(b, `,"chl":`...)
	b = appendChlorophyll(b, r.chl)
	b = append(b, `,"who_level":`...)
	b = appendLevel(b, r.level)
	b = append(b, `,"risk":`...)
	b = appendTextOrNull(b, r.risk())
	b = append(b, `,"color":`...)
	return appendString(b, e.color(r.chl))
}

// forecastFeature appends the GeoJSON feature of Lakes[i]. Its properties are not nested: few programs show such.
func (e *encoder) forecastFeature(b []byte, w *forecastWeek, i int) []byte {
	r := w.record(i)
	b = append(b, `{"type":"Feature","geometry":{"type":"Point","coordinates":[`...)
	b = appendFloat(b, r.lake.Point.Lon())
	b = append(b, ',')
	b = appendFloat(b, r.lake.Point.Lat())
	b = append(b, `]},"properties":{"id":`...)
	b = appendString(b, string(r.lake.ID))
	b = append(b, `,"external_id":`...)
	b = appendString(b, r.lake.ExternalID)
	b = append(b, `,"name":`...)
	b = appendString(b, r.lake.Name)
	b = e.appendForecastValues(append(b, ','), w, &r)
	b = append(b, ',')
	b = r.appendFlat(b)
	b = append(b, `,"withheld":`...)
	b = appendTextOrNull(b, r.withheld)
	return append(b, `}}`...)
}

// forecastLine appends the line of Lakes[i].
func (e *encoder) forecastLine(b []byte, w *forecastWeek, i int) []byte {
	r := w.record(i)
	b = append(b, r.lake.ID...)
	b = appendCell(append(b, ','), r.lake.ExternalID)
	b = appendCell(append(b, ','), r.lake.Name)
	b = appendFloat(append(b, ','), r.lake.Point.Lat())
	b = appendFloat(append(b, ','), r.lake.Point.Lon())
	b = appendCell(append(b, ','), r.lake.Region)
	b = strconv.AppendInt(append(b, ','), int64(w.week), 10)
	b = append(append(b, ','), r.target.String()...)
	b = append(b, ',')
	if r.chl.Valid() {
		b = appendChlorophyll(b, r.chl)
	}
	b = append(b, ',')
	if r.level >= 0 {
		b = appendLevel(b, r.level)
	}
	b = append(append(b, ','), r.risk()...)
	b = append(append(b, ','), e.color(r.chl)...)
	b = r.appendCells(append(b, ','))
	b = append(append(b, ','), r.withheld...)
	return append(b, csvLineEnd...)
}
