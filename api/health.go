package api

import (
	"log/slog"
	"net/http"
	"time"

	"limnomap/api/answer"
)

// A readiness is the body of /readyz.
type readiness struct {
	Status      string `json:"status"` // "ready"
	Snapshot    string `json:"snapshot"`
	GeneratedAt string `json:"generated_at"`
	// RefreshFailedSince is when newer data could first not be loaded, while those of before are still served. Why, is
	// in the log: an error's text may hold what is nobody else's business.
	RefreshFailedSince *string `json:"refresh_failed_since"`
	// StaleSince is when the snapshot was last known to be the newest, if nobody has been able to say so since.
	StaleSince *string `json:"stale_since"`
	// Refresh is what became of the refreshes of the database from its source; null if there was none. It tells whether
	// newer data could be had, RefreshFailedSince whether those that the database holds could be loaded.
	Refresh *refreshState `json:"refresh"`
}

// healthy answers that the process runs.
func (s *Server) healthy(w http.ResponseWriter, r *http.Request) error {
	return s.sender.Send(w, r, instantKind, answer.JSON(struct {
		Status string `json:"status"`
	}{"ok"}))
}

// ready answers whether requests for data should be sent here. Old data are better than none, so a failed refresh does
// not take a server out of service.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	if s.draining.Load() {
		return &answer.Problem{
			Status: http.StatusServiceUnavailable,
			Detail: "The server is shutting down.",
			Header: http.Header{"Retry-After": {"5"}},
		}
	}
	p, err := s.published()
	if err != nil {
		return err
	}
	state := readiness{
		Status:      "ready",
		Snapshot:    p.version,
		GeneratedAt: string(appendTimeText(nil, generatedAt(p.snap))),
	}
	if since := s.refreshFault.Load(); since != nil {
		text := string(appendTimeText(nil, *since))
		state.RefreshFailedSince = &text
	}
	now := s.now()
	if since, ok := s.contact.lost(now); ok {
		// By the clock as it is now, whatever it was set by since.
		text := string(appendTimeText(nil, now.Add(-now.Sub(since)).UTC().Truncate(time.Second)))
		state.StaleSince = &text
	}
	if r := s.refreshed.Load(); r != nil && r.Turn > 0 {
		state.Refresh = newRefreshState(r)
	}
	return s.sender.Send(w, r, instantKind, answer.JSON(state))
}

// RefreshFailed tells that a newer snapshot could not be loaded: /readyz's body, a metric and the log say so.
func (s *Server) RefreshFailed(err error) {
	now := s.now().UTC().Truncate(time.Second)
	s.refreshFault.CompareAndSwap(nil, &now)
	s.metrics.refreshFailed()
	s.logger.Warn("refresh failed, the last good data stay in service", slog.Any("error", err))
}

// Drain turns /readyz to 503, so that a load balancer sends no more requests before the listener closes.
func (s *Server) Drain() { s.draining.Store(true) }
