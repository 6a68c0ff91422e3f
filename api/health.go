package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/api/answer"
	"limnomap/api/middleware"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/snapshot"
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
	// Forecast is the state of limnomap's own forecasts; null if there are none, and nothing is wrong with them.
	Forecast *forecastState `json:"forecast"`
	// Webhooks are those of the database; null if there are none.
	Webhooks *Webhooks `json:"webhooks"`
}

// Webhooks are the part of /readyz about the webhooks of the database.
type Webhooks struct {
	Healthy int `json:"healthy"`
	Failing int `json:"failing"` // are tried again
	Paused  int `json:"paused"`
	// Dead are the ids of those whose receivers failed for too long: an operator has to resume or delete them.
	Dead []string `json:"dead"`
}

// none reports whether there are no webhooks.
func (w *Webhooks) none() bool {
	return w == nil || w.Healthy+w.Failing+w.Paused+len(w.Dead) == 0
}

// A forecastState is the part of /readyz about limnomap's own forecasts.
type forecastState struct {
	IssuedAt *string `json:"issued_at"` // day of the newest issue; null if there is none
	Lakes    int64   `json:"lakes"`     // with a forecast
	Withheld int64   `json:"withheld"`  // lakes without one
	// Stopped is why no newer ones are made: those of past years were not worth showing. Null if they are made.
	Stopped *string `json:"stopped"`
}

func newForecastState(snap *snapshot.Snapshot) *forecastState {
	state := new(forecastState)
	if why := snap.ForecastStopped(); why != "" {
		state.Stopped = &why
	}
	if f := snap.Forecasts; f != nil {
		day := f.Issue.Issued.String()
		state.IssuedAt, state.Lakes, state.Withheld = &day, f.Issue.Counts.Lakes, max(0, int64(len(snap.Lakes))-f.Issue.Counts.Lakes)
	}
	if *state == (forecastState{}) {
		return nil
	}
	return state
}

// A refreshState is the part of /readyz about the refreshes from the source of the data. Another process may have made them.
type refreshState struct {
	LastAttempt *string `json:"last_attempt"` // when it began
	LastSuccess *string `json:"last_success"` // when it ended
	// LastError is why the last one failed, in a few words without internals; null if it did not.
	LastError *string     `json:"last_error"`
	Failures  int         `json:"failures"` // in a row
	Rows      refreshRows `json:"rows"`
	// Rasters is null if the sources have never had a satellite file.
	Rasters *refreshRasters `json:"rasters"`
}

type refreshRows struct {
	Added     int64 `json:"added"`
	Changed   int64 `json:"changed"`
	Unchanged int64 `json:"unchanged"`
	Rejected  int64 `json:"rejected"`
}

// refreshRasters is the state of the satellite files at the sources.
type refreshRasters struct {
	Taken     int64 `json:"taken"`  // files whose values were imported
	Failed    int64 `json:"failed"` // attempts
	BytesRead int64 `json:"bytes_read"`
	// Waiting, Failing and Skipped are those of the last refresh.
	Waiting int64 `json:"waiting"`
	Failing int64 `json:"failing"`
	Skipped int64 `json:"skipped"`
	// The others are of the file that was taken last; null if there is none.
	LastTaken *string `json:"last_taken"`
	Product   *string `json:"product"`
	Date      *string `json:"date"`
}

func newRefreshRasters(r *data.RefreshRasters) *refreshRasters {
	if *r == (data.RefreshRasters{}) {
		return nil
	}
	state := &refreshRasters{Taken: r.Taken, Failed: r.Failed, BytesRead: r.Bytes, Waiting: r.Waiting, Failing: r.Failing, Skipped: r.Skipped,
		LastTaken: timeText(r.LastTaken)}
	if !r.LastTaken.IsZero() {
		date := r.LastDate.String()
		state.Product, state.Date = &r.LastProduct, &date
	}
	return state
}

func newRefreshState(r *data.Refresh) *refreshState {
	state := &refreshState{
		LastAttempt: timeText(r.LastAttempt),
		LastSuccess: timeText(r.LastSuccess),
		Failures:    r.Failures,
		Rows:        refreshRows(r.Rows),
		Rasters:     newRefreshRasters(&r.Rasters),
	}
	if r.LastError != "" {
		state.LastError = &r.LastError
	}
	return state
}

// timeText returns t as answers write it, nil for the zero time.
func timeText(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := string(record.AppendTime(nil, t))
	return &text
}

// health answers health checks, and holds what they report.
type health struct {
	*common
	freshness *middleware.Freshness

	reloadFailedSince atomic.Pointer[time.Time] // nil if the last reload of the snapshot worked
	reloadFailures    prometheus.Counter
	refreshed         atomic.Pointer[data.Refresh] // state of the database's refreshes; nil before the first report
	webhooks          atomic.Pointer[Webhooks]     // nil before the first report
	draining          atomic.Bool
}

func newHealth(s *common) *health {
	return &health{
		common:    s,
		freshness: middleware.NewFreshness(s.opts.Now),
		reloadFailures: promauto.With(s.opts.Registry).NewCounter(prometheus.CounterOpts{
			Name: "limnomap_snapshot_refresh_failures_total",
			Help: "Attempts to load a newer snapshot that failed; the last good one was kept.",
		}),
	}
}

// healthCheck reports whether r is a health check of this machine or of a trusted proxy itself: in a crowd it must get through,
// or the load balancer would take the server out of service.
func (s *common) healthCheck(r *http.Request) bool {
	switch strings.TrimPrefix(r.URL.Path, s.opts.BasePath) {
	case pathHealthy, pathReady:
	default:
		return false
	}
	peer := answer.PeerAddr(r)
	if len(r.Header["X-Forwarded-For"]) > 0 || len(r.Header["Forwarded"]) > 0 { // somebody's behind a proxy
		return false
	}
	return peer.IsLoopback() || slices.ContainsFunc(s.trustedProxies(), func(p netip.Prefix) bool { return p.Contains(peer) })
}

// healthy answers that the process runs.
func (h *health) healthy(w http.ResponseWriter, r *http.Request) error {
	return h.sender.Send(w, r, instantKind, answer.JSON(struct {
		Status string `json:"status"`
	}{"ok"}))
}

// ready answers whether requests for data should be sent here. Old data are better than none, so a server whose reloads fail
// stays in service.
func (h *health) ready(w http.ResponseWriter, r *http.Request) error {
	if h.draining.Load() {
		return errDraining
	}
	p, err := h.published()
	if err != nil {
		return err
	}
	state := readiness{
		Status:      "ready",
		Snapshot:    p.state.MapVersion,
		GeneratedAt: p.state.Updated,
	}
	if since := h.reloadFailedSince.Load(); since != nil {
		state.RefreshFailedSince = timeText(*since)
	}
	now := h.opts.Now()
	if since, ok := h.freshness.StaleSince(now); ok {
		// By the present clock, which may have been set meanwhile.
		state.StaleSince = timeText(now.Add(-now.Sub(since)))
	}
	if r := h.refreshed.Load(); r != nil && r.Turn > 0 {
		state.Refresh = newRefreshState(r)
	}
	state.Forecast = newForecastState(p.snap)
	if w := h.webhooks.Load(); !w.none() {
		state.Webhooks = w
	}
	return h.sender.Send(w, r, instantKind, answer.JSON(state))
}

// reloaded notes that a snapshot of that version was loaded.
func (h *health) reloaded(version string) {
	if since := h.reloadFailedSince.Swap(nil); since != nil {
		h.opts.Logger.Info("loading newer data works again", slog.String("snapshot", version), slog.Time("failed_since", *since))
	}
}

// SnapshotReloadFailed reports that a newer snapshot could not be loaded from the database, for the body of /readyz, a metric
// and the log.
func (s *Server) SnapshotReloadFailed(err error) {
	now := s.health.opts.Now().UTC().Truncate(time.Second)
	s.health.reloadFailedSince.CompareAndSwap(nil, &now)
	s.health.reloadFailures.Inc()
	s.common.opts.Logger.Warn("loading newer data failed: still serving the previous data", slog.Any("error", err))
}

// DatabaseRefreshed reports the state of the refreshes of the database from its source, for the body of /readyz and the metrics.
// SnapshotReloadFailed reports whether the server could load the refreshed data.
func (s *Server) DatabaseRefreshed(r data.Refresh) { s.health.refreshed.Store(&r) }

// WebhooksKnown reports the state of the webhooks, for the body of /readyz and the metrics. It must not be changed afterwards.
func (s *Server) WebhooksKnown(w *Webhooks) { s.health.webhooks.Store(w) }

// Drain turns /readyz to 503, so that a load balancer sends no more requests before the listener closes, and ends the streams of events.
func (s *Server) Drain() {
	s.health.draining.Store(true)
	s.handlers.events.streams.close()
}

// Confirmed reports that the published snapshot was, at that time, the newest there is. If no one has confirmed it for some
// seconds, answers have an Age, and /readyz and a metric show it. A server whose data no one ever confirms sends no Age.
func (s *Server) Confirmed(at time.Time) { s.health.freshness.Confirm(at) }

// StoreKeyUses stores the last use of API keys until ctx ends; see [auth.Keyring.StoreUses].
func (s *Server) StoreKeyUses(ctx context.Context) { s.keyring.StoreUses(ctx) }
