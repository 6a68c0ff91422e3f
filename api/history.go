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
	"limnomap/data/admission"
)

const (
	// defaultHistory is two years of weeks, and maxHistory a hundred.
	defaultHistory = 104
	maxHistory     = 5200
	// historyTimeout bounds the wait for a turn to query the store, and the query.
	historyTimeout = 10 * time.Second
)

// errNoHistoryTurn is returned when the turn of a request has not come for too long.
var errNoHistoryTurn = fmt.Errorf("no turn to read the history came in time: %w", admission.ErrBusy)

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
	lake, observations, err := h.readHistory(r, id, q)
	if err != nil {
		return data.Lake{}, nil, fmt.Errorf("history of %s: %w", id, err)
	}
	return lake, observations, nil
}

// readHistory reads the history of a lake from the store, when it is the client's turn: a store that is slow would otherwise hold
// all connections, and the goroutine of every request, for as long as it takes.
func (h *lakeHandlers) readHistory(r *http.Request, id data.LakeID, q data.HistoryQuery) (lake data.Lake, observations []data.Observation, err error) {
	waiting, stop := context.WithTimeoutCause(r.Context(), historyTimeout, errNoHistoryTurn)
	defer stop()
	failed := false
	err = h.opts.Histories.Do(waiting, answer.ClientOf(r), func() error {
		ctx, cancel := context.WithTimeout(r.Context(), historyTimeout)
		defer cancel()
		var err error
		if lake, observations, err = h.opts.Historian.History(ctx, id, q); err == nil {
			err = checkHistory(lake, observations)
		}
		failed = err != nil
		return err
	})
	if failed {
		err = fmt.Errorf("%w: %w", errStore, err)
	}
	return lake, observations, err
}

// checkHistory returns an error for what no import would have stored. The rows may be newer than the snapshot, which was checked.
func checkHistory(lake data.Lake, observations []data.Observation) error {
	lake.Outline = "" // not shown
	if err := lake.Check(); err != nil {
		return err
	}
	for _, o := range observations {
		if err := o.Check(); err != nil {
			return fmt.Errorf("observation on %s: %w", o.Date, err)
		}
	}
	return nil
}
