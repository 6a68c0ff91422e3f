package api

import (
	"net/http"
	"strconv"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/snapshot"
)

const pathForecast = "/api/v1/bathing-lakes/forecast"

// A forecastWeek is the forecasts of an issue for a week, and which lakes an answer is about.
type forecastWeek struct {
	*snapshot.Forecasts
	snap   *snapshot.Snapshot
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
	if !issued.Known { // an earlier issue is asked for as what it was
		if w.week, err = weekAhead(p.snap, w.week); err != nil {
			return nil, err
		}
	}
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
	return h.sender.SendList(w, r, jsonKind, len(p.snap.Lakes), func() answer.List {
		sel := f.selected()
		return sel.list(f.head(&sel), func(b []byte, i int) []byte {
			return forecastRecordMembers.AppendObject(b, record.Member, f.record(h.encoder, i))
		}, ",", listTail)
	})
}

// forecastCSV answers as forecastJSON does, as a table without what is known of the issue as a whole.
func (h *lakeHandlers) forecastCSV(w http.ResponseWriter, r *http.Request, p *published) error {
	f, err := h.forecastWeekOf(r, p)
	if err != nil {
		return err
	}
	nameFile(w, "forecast-"+f.Issue.Issued.String()+"-week-"+strconv.Itoa(f.week))
	return h.sender.SendList(w, r, csvKind, len(p.snap.Lakes), func() answer.List {
		sel := f.selected()
		return sel.list(forecastRecordCells.Header(), func(b []byte, i int) []byte { return forecastRecordCells.AppendLine(b, f.record(h.encoder, i)) }, "", "")
	})
}

// forecastGeoJSON answers with the rows of forecastCSV as GeoJSON features.
func (h *lakeHandlers) forecastGeoJSON(w http.ResponseWriter, r *http.Request, p *published) error {
	f, err := h.forecastWeekOf(r, p)
	if err != nil {
		return err
	}
	return h.sender.SendList(w, r, geoJSONKind, len(p.snap.Lakes), func() answer.List {
		sel := f.selected()
		return sel.list([]byte(`{"type":"FeatureCollection","features":[`), func(b []byte, i int) []byte {
			return forecastProperties.AppendFeature(b, &f.snap.Lakes[i], f.record(h.encoder, i))
		}, ",", listTail)
	})
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
	issue := w.Issue
	b := dataHead(w.snap, w.snap.Current.Week).Int("total_lakes", sel.n).Int("lakes_with_forecast", sel.withData).Open("issue")
	b = b.Text("issued_at", issue.Issued.String()).Text("model", issue.Model).Int("week", w.week).Text("target_date", issue.Target(w.week).String())
	b = b.Int("weeks", issue.Weeks).Int("lakes", int(issue.Counts.Lakes)).Open("withheld")
	withheld := issue.Counts.WithheldOf(len(w.snap.Lakes))
	for _, r := range data.WithheldReasons() {
		b = b.Int(r.Code(), int(withheld[r]))
	}
	return addSkill(b.Close("}}"), &w.snap.ForecastTest, issue.Model, "").Array("lakes")
}

// A forecastRecord is the forecast of a lake for a week.
type forecastRecord struct {
	lake     *data.Lake
	week     int
	target   data.Date
	chl      data.Chlorophyll // NoChlorophyll if there is no forecast
	level    data.Level
	color    string
	withheld string
	forecastDetails
}

func (w *forecastWeek) record(e *encoder, i int) forecastRecord {
	l, hasValues := w.Of(i)
	stored := l.Weeks[w.week-1]
	r := forecastRecord{lake: &w.snap.Lakes[i], week: w.week, target: w.Issue.Target(w.week), chl: data.NoChlorophyll,
		withheld: l.WithheldIn(w.week).Code(), forecastDetails: newForecastDetails(stored, w.snap.Profile)}
	if stored.Known() {
		r.chl = stored.Chlorophyll()
	}
	r.level, r.color = w.snap.Profile.Level(r.chl), e.color(r.chl)
	r.model, r.issued = w.Issue.Model, data.Known(w.Issue.Issued)
	r.lastValue = data.Optional[data.Date]{Value: l.BasedOn, Known: hasValues}
	return r
}

var forecastRecordColumns = append(record.Columns[forecastRecord]{
	record.Word("id", func(r forecastRecord) string { return string(r.lake.ID) }),
	record.Text("external_id", func(r forecastRecord) string { return r.lake.ExternalID }),
	record.Text("name", func(r forecastRecord) string { return r.lake.Name }),
	record.Number("lat", func(r forecastRecord) float64 { return r.lake.Point.Lat() }),
	record.Number("lon", func(r forecastRecord) float64 { return r.lake.Point.Lon() }),
	record.Text("region", func(r forecastRecord) string { return r.lake.Region }).OrNull(),
	record.Integer("week", func(r forecastRecord) float64 { return float64(r.week) }),
	record.Word("target_date", func(r forecastRecord) string { return r.target.String() }),
	record.Chlorophyll("chl", func(r forecastRecord) data.Chlorophyll { return r.chl }),
	record.Level("who_level", func(r forecastRecord) data.Level { return r.level }),
	record.Word("risk", func(r forecastRecord) string { return riskText(r.level.Risk()) }).OrNull(),
	record.Word("color", func(r forecastRecord) string { return r.color }),
	record.Text("model", func(r forecastRecord) string { return r.model }),
	record.Word("issued_at", func(r forecastRecord) string { return record.Day(r.issued) }),
	record.Word("withheld", func(r forecastRecord) string { return r.withheld }).OrNull(),
}, forecastColumns(func(r forecastRecord) forecastDetails { return r.forecastDetails })...)

// The columns of a forecast in JSON, in tables and in GeoJSON.
var (
	forecastRecordMembers = forecastRecordColumns.Pick("id,external_id,name,lat,lon,region,week,target_date,chl,who_level,risk,color," + forecastMembers + ",withheld")
	forecastRecordCells   = forecastRecordColumns.Pick("id,external_id,name,lat,lon,region,week,target_date,chl,who_level,risk,color," + forecastCells + ",withheld")
	forecastProperties    = forecastRecordColumns.Pick("id,external_id,name,region,week,target_date,chl,who_level,risk,color," + forecastCells + ",withheld")
)
