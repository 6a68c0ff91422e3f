package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/api/route"
	"limnomap/data"
	"limnomap/tiles/admission"
)

const (
	// defaultHistory is two years of weeks, and maxHistory a hundred.
	defaultHistory = 104
	maxHistory     = 5200
	// historyTimeout bounds the wait for a turn to query the store, and the query.
	historyTimeout = 10 * time.Second
)

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
	content := record.Object("{").Text("lake_id", string(found.lake.ID)).Text("name", found.lake.Name).TextOrNull("region", found.lake.Region).Array("history")
	for i := range found.observations {
		if i > 0 {
			content = append(content, ',')
		}
		content = newObservationRecord(&found, i, p.snap.Profile).appendObject(content)
	}
	content = addLakeForecast(content.Close("]"), &found.forecast, p.snap.ForecastTest, found.lake.Region)
	if i, ok := p.snap.Index(found.lake.ID); ok {
		content = appendWater(content, p.snap, i)
	}
	return h.sender.SendBytes(w, r, jsonKind, content.Close("}\n"))
}

// A lakeHistory is a lake and its observations that a request asks for, newest first, with its forecasts of one issue.
type lakeHistory struct {
	lake         data.Lake
	observations []data.Observation
	forecast     issuedForecast
	shares       map[passKey]*passShares // of passes whose pixels are kept
}

// find returns the history that the request asks for. It comes from memory, of the same snapshot as the map. If older rows may be
// among it, they come from the store, as do the forecasts of an earlier issue.
func (h *lakeHandlers) find(r *http.Request, p *published, id data.LakeID) (lakeHistory, error) {
	query := params.Of(r)
	q := data.HistoryQuery{
		Limit:  query.Integer("limit", 1, maxHistory, defaultHistory),
		Period: periodOf(&query),
		Types:  dataTypesOf(&query),
	}
	issued := issuedOf(&query)
	if err := query.Err(); err != nil {
		return lakeHistory{}, err
	}
	// An unknown lake is requested by mistake or by a scanner: neither may cost the store anything.
	i, ok := p.snap.Index(id)
	if !ok {
		return lakeHistory{}, data.ErrNoLake
	}
	found := lakeHistory{lake: p.snap.Lakes[i]}
	var err error
	if found.forecast, err = h.forecastOf(r, &query, p.snap, i, issued); err != nil {
		return lakeHistory{}, err
	}
	observations, whole := p.snap.History(i, q)
	if !whole {
		stored := q
		stored.Period.Last = min(q.Period.Last, p.snap.AsOf.Last())
		err = h.askStore(r, errStore, func(ctx context.Context) (err error) {
			if found.lake, observations, err = h.historyOf(ctx, id, stored); err == nil {
				found.shares = h.sharesOf(ctx, r, p.snap, i, observations)
			}
			return err
		})
		if err != nil {
			return lakeHistory{}, fmt.Errorf("history of %s: %w", id, err)
		}
	}
	if issued.Known {
		found.observations = found.forecast.issue.AddForecasts(&found.forecast.LakeForecast, q, observations)
	} else {
		found.observations = p.snap.AddForecasts(i, q, observations)
	}
	return found, nil
}

// readHistory reads the history of a lake from the store in a turn.
func (h *lakeHandlers) readHistory(r *http.Request, id data.LakeID, q data.HistoryQuery) (lake data.Lake, observations []data.Observation, err error) {
	err = h.askStore(r, errStore, func(ctx context.Context) (err error) {
		lake, observations, err = h.historyOf(ctx, id, q)
		return err
	})
	return lake, observations, err
}

// historyOf reads the history of a lake from the store.
func (h *lakeHandlers) historyOf(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	lake, observations, err := h.opts.Historian.History(ctx, id, q)
	if err != nil {
		return lake, nil, err
	}
	return lake, observations, checkHistory(lake, observations)
}

// askStore asks the store something in one of the turns for histories. If ask fails, the error is also failure.
func (h *common) askStore(r *http.Request, failure error, ask func(context.Context) error) error {
	return askInTurn(r, h.opts.Histories, historyTimeout, failure, ask)
}

// askInTurn asks the store something, when it is the client's turn: a store that is slow would otherwise hold all connections, and the
// goroutine of every request, for as long as it takes. The timeout bounds the wait and the question. If ask fails, the error is also failure.
func askInTurn(r *http.Request, turns *admission.Turns, timeout time.Duration, failure error, ask func(context.Context) error) error {
	waiting, stop := answer.Waiting(r, timeout)
	defer stop()
	failed := false
	err := turns.Do(waiting, answer.ClientOf(r), func() error {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		err := ask(ctx)
		failed = err != nil
		return err
	})
	if failed {
		err = fmt.Errorf("%w: %w", failure, err)
	}
	return err
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
