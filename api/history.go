package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/route"
	"limnomap/data"
)

const (
	// defaultHistory is two years of weeks, and maxHistory a hundred.
	defaultHistory = 104
	maxHistory     = 5200
	// historyTimeout bounds a query of the store.
	historyTimeout = 10 * time.Second
)

// history answers with the newest observations of one lake.
func (h *lakeHandlers) history(w http.ResponseWriter, r *http.Request, p *published) error {
	return h.historyJSON(w, r, p, data.LakeID(route.Values(r)[0]))
}

// historyJSON answers with the history of the lake with that id.
func (h *lakeHandlers) historyJSON(w http.ResponseWriter, r *http.Request, p *published, id data.LakeID) error {
	lake, observations, err := h.find(r, p, id)
	if err != nil {
		return err
	}
	content := append([]byte(nil), `{"lake_id":`...)
	content = appendString(content, string(lake.ID))
	content = append(content, `,"name":`...)
	content = appendString(content, lake.Name)
	content = append(content, `,"history":[`...)
	for i, o := range observations {
		if i > 0 {
			content = append(content, ',')
		}
		content = h.encoder.observation(content, o, p.snap.Profile)
	}
	content = append(content, "]}\n"...)
	return h.sender.Send(w, r, jsonKind, answer.Bytes(content))
}

// find returns a lake, and its observations that the request asks for, newest first. They come from memory, of the same snapshot
// as the map. If older rows may be among them, they come from the store.
func (h *lakeHandlers) find(r *http.Request, p *published, id data.LakeID) (data.Lake, []data.Observation, error) {
	query := params.Of(r)
	q := data.HistoryQuery{
		Limit:  query.Integer("limit", 1, maxHistory, defaultHistory),
		Period: periodOf(&query),
		Types:  dataTypesOf(&query),
	}
	if err := query.Err(); err != nil {
		return data.Lake{}, nil, err
	}
	// An unknown lake is requested by mistake or by a scanner: neither may cost the store anything.
	i, ok := p.snap.Index(id)
	if !ok {
		return data.Lake{}, nil, data.ErrNoLake
	}
	if observations, whole := p.snap.History(i, q); whole {
		return p.snap.Lakes[i], observations, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), historyTimeout)
	defer cancel()
	lake, observations, err := h.opts.Historian.History(ctx, id, q)
	if err != nil {
		return data.Lake{}, nil, fmt.Errorf("history of %s: %w: %w", id, errStore, err)
	}
	return lake, observations, nil
}
