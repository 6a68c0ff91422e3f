package api

import (
	"net/http"
	"strconv"

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
		return p.status.send(w, r) // prepared: a map that shows the whole country asks for its box
	}
	head := appendStatusHead(nil, p.snap, sel.n, sel.withData)
	if sel.view == p.snap.Current && p.records != nil {
		return s.respond(w, r, jsonKind, p.records.appendSome(head, sel.lakes))
	}
	return s.respondList(w, r, jsonKind, jsonList(head, s.statusRecord(sel.view)), sel)
}

// statusRecord returns how the status record of a lake in that week is appended.
func (s *Server) statusRecord(view *data.View) func(b []byte, lake int) []byte {
	return func(b []byte, i int) []byte { return s.encoder.status(b, &view.Lakes[i], &view.States[i]) }
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
		return p.geojson.send(w, r)
	}
	return s.respondList(w, r, geoJSONKind, s.features(view), everything(view))
}

// features returns the list of a view's lakes as GeoJSON features.
func (s *Server) features(view *data.View) list {
	return jsonList([]byte(`{"type":"FeatureCollection","features":[`),
		func(b []byte, i int) []byte { return s.encoder.feature(b, &view.Lakes[i], &view.States[i]) })
}
