package api

import (
	"context"
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
	// RefreshFailedSince is since when newer data cannot be loaded and the previous data are served. Only the log has the
	// reason: the text of an error may contain internals.
	RefreshFailedSince *string `json:"refresh_failed_since"`
	// StaleSince is when the snapshot was last confirmed to be the newest, if that is too long ago.
	StaleSince *string `json:"stale_since"`
	// Refresh is the state of the refreshes of the database from its source; null if there was none. It says whether the
	// database got newer data, RefreshFailedSince whether the server could load them from the database.
	Refresh *refreshState `json:"refresh"`
}

// healthy answers that the process runs.
func (s *Server) healthy(w http.ResponseWriter, r *http.Request) error {
	return s.sender.Send(w, r, instantKind, answer.JSON(struct {
		Status string `json:"status"`
	}{"ok"}))
}

// ready answers whether requests for data should be sent here. Old data are better than none, so a server whose reloads fail
// stays in service.
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
	if since := s.reloadFailedSince.Load(); since != nil {
		text := string(appendTimeText(nil, *since))
		state.RefreshFailedSince = &text
	}
	now := s.now()
	if since, ok := s.freshness.StaleSince(now); ok {
		// By the present clock, which may have been set meanwhile.
		text := string(appendTimeText(nil, now.Add(-now.Sub(since)).UTC().Truncate(time.Second)))
		state.StaleSince = &text
	}
	if r := s.refreshed.Load(); r != nil && r.Turn > 0 {
		state.Refresh = newRefreshState(r)
	}
	return s.sender.Send(w, r, instantKind, answer.JSON(state))
}

// SnapshotReloadFailed reports that a newer snapshot could not be loaded from the database, for the body of /readyz, a metric
// and the log.
func (s *Server) SnapshotReloadFailed(err error) {
	now := s.now().UTC().Truncate(time.Second)
	s.reloadFailedSince.CompareAndSwap(nil, &now)
	s.reloadFailures.Inc()
	s.logger.Warn("loading newer data failed: still serving the previous data", slog.Any("error", err))
}

// Drain turns /readyz to 503, so that a load balancer sends no more requests before the listener closes.
func (s *Server) Drain() { s.draining.Store(true) }

// Confirmed reports that the published snapshot was, at that time, the newest there is. If no one has confirmed it for some
// seconds, answers have an Age, and /readyz and a metric show it. A server whose data no one ever confirms sends no Age.
func (s *Server) Confirmed(at time.Time) { s.freshness.Confirm(at) }

// StoreKeyUses stores the last use of API keys until ctx ends; see [auth.Keyring.StoreUses].
func (s *Server) StoreKeyUses(ctx context.Context) { s.keyring.StoreUses(ctx) }
