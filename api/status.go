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
		b, err := h.await(r, p, p.lists.status)
		if err != nil {
			return err
		}
		if b != nil {
			return h.sender.SendBody(w, r, jsonKind, b)
		}
	}
	n, selected := f.selecting()
	return h.sender.SendList(w, r, jsonKind, n, func() answer.List { return p.statusList(h.encoder, selected()) })
}

// await waits for a list of p. How long the answer is true counts from when it is made.
func (h *lakeHandlers) await(r *http.Request, p *published, list *preparedList) (*answer.Body, error) {
	info, wait := answer.InfoOf(r), listWait
	if !info.Start.IsZero() { // it may have waited for former lists
		wait -= max(0, h.opts.Now().Sub(info.Start))
	}
	b, err := list.get(r.Context(), wait)
	info.TrueFor = h.trueFor(p.snap)
	return b, err
}

// geojson answers with every lake as a GeoJSON feature, now or in a week.
func (h *lakeHandlers) geojson(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	view, err := p.viewFor(w, r, &query)
	if err != nil {
		return err
	}
	if view == p.snap.Current {
		b, err := h.await(r, p, p.lists.geojson)
		if err != nil {
			return err
		}
		if b != nil {
			return h.sender.SendBody(w, r, geoJSONKind, b)
		}
	}
	return h.sender.SendList(w, r, geoJSONKind, len(view.Lakes), func() answer.List { return h.encoder.featureList(view) })
}
