package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"limnomap/data"
)

const (
	// defaultHistory is two years of weeks, and maxHistory a hundred.
	defaultHistory = 104
	maxHistory     = 5200
	// historyTimeout bounds a question to the store.
	historyTimeout = 10 * time.Second
)

// history answers with the newest observations of one lake.
func (s *Server) history(w http.ResponseWriter, r *http.Request) error {
	p, err := s.published()
	if err != nil {
		return err
	}
	params := paramsOf(r)
	limit := params.integer("limit", 1, maxHistory, defaultHistory)
	if err := params.err(); err != nil {
		return err
	}
	id := data.LakeID(mux.Vars(r)["lake_id"])
	// A lake that no other answer shows is asked for by mistake or by a scanner: neither costs the store anything.
	if _, ok := p.snap.Index(id); !ok {
		return data.ErrNoLake
	}
	ctx, cancel := context.WithTimeout(r.Context(), historyTimeout)
	defer cancel()
	lake, observations, err := s.opts.Historian.History(ctx, id, data.Newest(limit))
	if err != nil {
		return fmt.Errorf("history of %s: %w: %w", id, errStore, err)
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
		content = s.encoder.observation(content, o, p.snap.Profile)
	}
	content = append(content, "]}\n"...)
	return s.respond(w, r, jsonKind, content)
}
