package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"limnomap/api/answer"
	"limnomap/data"
)

const (
	// defaultHistory is two years of weeks, and maxHistory a hundred.
	defaultHistory = 104
	maxHistory     = 5200
	// historyTimeout bounds a question to the store.
	historyTimeout = 10 * time.Second
)

// A history is observations of one lake, newest first.
type history struct {
	lake         data.Lake
	observations []data.Observation
	profile      *data.Profile
}

// history answers with the newest observations of one lake.
func (s *Server) history(w http.ResponseWriter, r *http.Request) error {
	p, err := s.published()
	if err != nil {
		return err
	}
	return s.historyJSON(w, r, p, data.LakeID(mux.Vars(r)["lake_id"]))
}

// historyJSON answers with the history of the lake with that id.
func (s *Server) historyJSON(w http.ResponseWriter, r *http.Request, p *published, id data.LakeID) error {
	h, err := s.historyOf(r, p, id)
	if err != nil {
		return err
	}
	content := append([]byte(nil), `{"lake_id":`...)
	content = appendString(content, string(h.lake.ID))
	content = append(content, `,"name":`...)
	content = appendString(content, h.lake.Name)
	content = append(content, `,"history":[`...)
	for i, o := range h.observations {
		if i > 0 {
			content = append(content, ',')
		}
		content = s.encoder.observation(content, o, h.profile)
	}
	content = append(content, "]}\n"...)
	return s.sender.Send(w, r, jsonKind, answer.Bytes(content))
}

// historyOf returns what a request for the history of the lake with that id asks for: from memory, of the same moment as
// the map, or where older rows may belong to it, from the store.
func (s *Server) historyOf(r *http.Request, p *published, id data.LakeID) (history, error) {
	params := paramsOf(r)
	q := data.HistoryQuery{
		Limit:  params.integer("limit", 1, maxHistory, defaultHistory),
		Period: params.period(),
		Types:  params.dataTypes(),
	}
	if err := params.err(); err != nil {
		return history{}, err
	}
	// A lake that no other answer shows is asked for by mistake or by a scanner: neither costs the store anything.
	i, ok := p.snap.Index(id)
	if !ok {
		return history{}, data.ErrNoLake
	}
	if observations, whole := p.snap.History(i, q); whole {
		return history{p.snap.Lakes[i], observations, p.snap.Profile}, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), historyTimeout)
	defer cancel()
	lake, observations, err := s.opts.Historian.History(ctx, id, q)
	if err != nil {
		return history{}, fmt.Errorf("history of %s: %w: %w", id, errStore, err)
	}
	return history{lake, observations, p.snap.Profile}, nil
}
