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

// A history is observations of one lake, newest first.
type history struct {
	lake         data.Lake
	observations []data.Observation
	profile      *data.Profile
}

// history answers with the newest observations of one lake.
func (h *lakeHandlers) history(w http.ResponseWriter, r *http.Request, p *published) error {
	return h.historyJSON(w, r, p, data.LakeID(route.Values(r)[0]))
}

// historyJSON answers with the history of the lake with that id.
func (h *lakeHandlers) historyJSON(w http.ResponseWriter, r *http.Request, p *published, id data.LakeID) error {
	found, err := h.find(r, p, id)
	if err != nil {
		return err
	}
	content := append([]byte(nil), `{"lake_id":`...)
	content = appendString(content, string(found.lake.ID))
	content = append(content, `,"name":`...)
	content = appendString(content, found.lake.Name)
	content = append(content, `,"history":[`...)
	for i, o := range found.observations {
		if i > 0 {
			content = append(content, ',')
		}
		content = h.encoder.observation(content, o, found.profile)
	}
	content = append(content, "]}\n"...)
	return h.sender.Send(w, r, jsonKind, answer.Bytes(content))
}

// find returns the history that the request asks for: from memory, of the same snapshot as the map, or from the store if
// older rows may belong to it.
func (h *lakeHandlers) find(r *http.Request, p *published, id data.LakeID) (history, error) {
	query := params.Of(r)
	q := data.HistoryQuery{
		Limit:  query.Integer("limit", 1, maxHistory, defaultHistory),
		Period: periodOf(&query),
		Types:  dataTypesOf(&query),
	}
	if err := query.Err(); err != nil {
		return history{}, err
	}
	// An unknown lake is requested by mistake or by a scanner: neither may cost the store anything.
	i, ok := p.snap.Index(id)
	if !ok {
		return history{}, data.ErrNoLake
	}
	if observations, whole := p.snap.History(i, q); whole {
		return history{p.snap.Lakes[i], observations, p.snap.Profile}, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), historyTimeout)
	defer cancel()
	lake, observations, err := h.opts.Historian.History(ctx, id, q)
	if err != nil {
		return history{}, fmt.Errorf("history of %s: %w: %w", id, errStore, err)
	}
	return history{lake, observations, p.snap.Profile}, nil
}
