package api

import (
	"net/http"
	"strconv"

	"limnomap/api/answer"
	"limnomap/data"
)

// status answers with the state of the lakes, all or those that the filters leave, now or as it was in a week.
func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	p, err := s.published()
	if err != nil {
		return err
	}
	sel, err := p.selected(r)
	if err != nil {
		return err
	}
	if sel.whole(p.snap) {
		return s.sender.Send(w, r, jsonKind, answer.Prepared(p.status)) // prepared: a map that shows the whole country asks for its box
	}
	if sel.view == p.snap.Current && p.records != nil {
		head := appendStatusHead(nil, p.snap, sel.n, sel.withData)
		return s.sender.Send(w, r, jsonKind, answer.Bytes(p.records.Pick(head, sel.lakes)))
	}
	return s.sender.Send(w, r, jsonKind, answer.Items(s.statusList(p.snap, sel)))
}

// listTail ends each JSON answer that is a list of lakes.
const listTail = "]}\n"

// statusList returns the status envelope of the selection.
func (s *Server) statusList(snap *data.Snapshot, sel selection) answer.List {
	view := sel.view
	return sel.list(appendStatusHead(nil, snap, sel.n, sel.withData),
		func(b []byte, i int) []byte { return s.encoder.status(b, &view.Lakes[i], &view.States[i]) }, ",", listTail)
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

// geojson answers with every lake as a GeoJSON feature, now or as it was in a week.
func (s *Server) geojson(w http.ResponseWriter, r *http.Request) error {
	p, err := s.published()
	if err != nil {
		return err
	}
	view, err := p.viewFor(r, paramsOf(r))
	if err != nil {
		return err
	}
	if view == p.snap.Current {
		return s.sender.Send(w, r, geoJSONKind, answer.Prepared(p.geojson))
	}
	return s.sender.Send(w, r, geoJSONKind, answer.Items(s.featureList(view)))
}

// featureList returns a view's lakes as GeoJSON features.
func (s *Server) featureList(view *data.View) answer.List {
	sel := everything(view)
	return sel.list([]byte(`{"type":"FeatureCollection","features":[`),
		func(b []byte, i int) []byte { return s.encoder.feature(b, &view.Lakes[i], &view.States[i]) }, ",", listTail)
}
