package api

import (
	"io"
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
	matching, withData := p.matching(within, risk)
	if len(matching) == len(p.snap.Lakes) {
		return p.status.send(w, r) // prepared: a map that shows the whole country asks for its box
	}
	head := appendStatusHead(nil, p.snap, len(matching), withData)
	if p.records == nil {
		t, err := newText(list{head, p.statusRecord}, matching, len(matching), io.Discard)
		if err != nil {
			return err
		}
		return s.respondText(w, r, jsonKind, t)
	}
	content := append(p.records.appendSome(head, matching), listTail...)
	return s.respond(w, r, jsonKind, content)
}

// matching returns the lakes within b, and at that risk unless it is RiskUnknown, and how many of them have a value.
func (p *published) matching(b box, risk data.Risk) (lakes []int32, withData int) {
	states := p.snap.Current.States
	for i := range p.snap.Lakes {
		point := p.snap.Lakes[i].Point
		if risk != data.RiskUnknown && states[i].Risk != risk || !b.contains(point.Lon(), point.Lat()) {
			continue
		}
		lakes = append(lakes, int32(i))
		if states[i].Chlorophyll.Valid() {
			withData++
		}
	}
	return lakes, withData
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
