package api

import (
	"net/http"
	"strconv"

	"limnomap/data"
)

// status answers with the state of the lakes, all or those that the filters leave.
func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	p, err := s.published()
	if err != nil {
		return err
	}
	params := paramsOf(r)
	within, bounded := params.box()
	risk := params.risk()
	if err := params.err(); err != nil {
		return err
	}
	if !bounded && risk == data.RiskUnknown {
		return p.status.send(w, r)
	}
	content, all := p.filtered(within, risk)
	if all {
		return p.status.send(w, r)
	}
	return s.respond(w, r, jsonKind, content)
}

// filtered returns the status of the lakes within b, and at that risk unless it is RiskUnknown, or else reports that
// these are all, whose status is prepared: a map that shows the whole country asks for its box. It copies records that
// are written already, neighbours in one go.
func (p *published) filtered(b box, risk data.Risk) (content []byte, all bool) {
	lakes, states := p.snap.Lakes, p.snap.Current.States
	total, withData, size := 0, 0, 0
	type run struct{ start, end int } // lakes that match, one behind the other
	var runs []run
	for i := range lakes {
		if risk != data.RiskUnknown && states[i].Risk != risk || !b.contains(lakes[i].Point.Lon(), lakes[i].Point.Lat()) {
			continue
		}
		total++
		if states[i].Chlorophyll.Valid() {
			withData++
		}
		if n := len(runs); n > 0 && runs[n-1].end == i {
			runs[n-1].end++
		} else {
			runs = append(runs, run{i, i + 1})
		}
	}
	if total == len(lakes) {
		return nil, true
	}
	for _, r := range runs {
		size += len(p.records.slice(r.start, r.end)) + 1
	}
	const envelope = 160 // more than head and tail take
	content = appendStatusHead(make([]byte, 0, size+envelope), p.snap, total, withData)
	for i, r := range runs {
		if i > 0 {
			content = append(content, ',')
		}
		content = append(content, p.records.slice(r.start, r.end)...)
	}
	return append(content, "]}\n"...), false
}

// appendStatusHead appends a status envelope up to its first lake.
func appendStatusHead(b []byte, snap *data.Snapshot, total, withData int) []byte {
	b = append(b, `{"generated_at":`...)
	b = appendTime(b, generatedAt(snap))
	b = append(b, `,"total_lakes":`...)
	b = strconv.AppendInt(b, int64(total), 10)
	b = append(b, `,"lakes_with_data":`...)
	b = strconv.AppendInt(b, int64(withData), 10)
	return append(b, `,"lakes":[`...)
}

// geojson answers with every lake as a GeoJSON feature.
func (s *Server) geojson(w http.ResponseWriter, r *http.Request) error {
	p, err := s.published()
	if err != nil {
		return err
	}
	return p.geojson.send(w, r)
}
