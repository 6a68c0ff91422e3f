package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/params"
)

// lakeHandlers answer requests about lakes.
type lakeHandlers struct{ *common }

// status answers with the state of the lakes, all or those that pass the filters, now or in a week.
func (h *lakeHandlers) status(w http.ResponseWriter, r *http.Request, p *published) error {
	f, err := p.filterOf(w, r)
	if err != nil {
		return err
	}
	if f.all && f.view == p.snap.Current { // also for a box with all lakes, which a map of the whole country asks for
		b, err := p.lists.status.get(r.Context())
		if err != nil {
			return err
		}
		if b != nil {
			return h.sender.SendBody(w, r, jsonKind, b)
		}
	}
	return h.sender.SendList(w, r, jsonKind, f.count(), func() answer.List { return h.filtered(p, f) })
}

// filtered returns the status envelope of the lakes that pass a filter.
func (h *lakeHandlers) filtered(p *published, f lakeFilter) answer.List {
	return p.statusList(h.encoder, f.selected())
}

// geojson answers with every lake as a GeoJSON feature, now or in a week.
func (h *lakeHandlers) geojson(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	view, err := p.viewFor(w, r, &query)
	if err != nil {
		return err
	}
	if view == p.snap.Current {
		b, err := p.lists.geojson.get(r.Context())
		if err != nil {
			return err
		}
		if b != nil {
			return h.sender.SendBody(w, r, geoJSONKind, b)
		}
	}
	return h.sender.SendList(w, r, geoJSONKind, len(view.Lakes), func() answer.List { return h.encoder.featureList(view) })
}
