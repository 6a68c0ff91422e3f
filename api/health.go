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

// Webhooks are the part of /readyz about the webhooks of the database.
type Webhooks struct {
	Healthy, Paused int
	Failing         int      // are tried again
	Dead            []string // the ids of those whose receivers failed for too long: an operator has to resume or delete them
}

// append appends the webhooks to the body of /readyz; null if there are none.
func (w *Webhooks) append(b record.Object) record.Object {
	if w == nil || w.Healthy+w.Failing+w.Paused+len(w.Dead) == 0 {
		return b.TextOrNull("webhooks", "")
	}
	b = b.Open("webhooks").Int("healthy", w.Healthy).Int("failing", w.Failing).Int("paused", w.Paused).Array("dead")
	for _, id := range w.Dead {
		b = b.Entry(id)
	}
	return b.Close("]}")
}

// appendForecast appends the state of limnomap's own forecasts to the body of /readyz; null if there are none, and nothing is wrong with them.
func appendForecast(b record.Object, snap *snapshot.Snapshot) record.Object {
	f, stopped := snap.Forecasts, snap.ForecastStopped()
	if f == nil && stopped == "" {
		return b.TextOrNull("forecast", "")
	}
	day, lakes, withheld := "", 0, 0
	if f != nil {
		day, lakes = f.Issue.Issued.String(), int(f.Issue.Counts.Lakes)
		withheld = max(0, len(snap.Lakes)-lakes)
	}
	return b.Open("forecast").TextOrNull("issued_at", day).Int("lakes", lakes).Int("withheld", withheld).TextOrNull("stopped", stopped).Close("}")
}

// lateAfter is how long the tables of a refresh may take before their source is called late: a closure must be known within a minute.
const lateAfter = time.Minute

// appendRefresh appends the state of the refreshes from the source of the data, which another process may have made; null if there was none.
// It says whether the database got newer data, refresh_failed_since whether this server could load them from it. The last error is in a few
// words without internals. late_since is when a refresh began that has been waiting for its tables for longer than lateAfter.
func appendRefresh(b record.Object, r *data.Refresh, now time.Time) record.Object {
	if r == nil || r.Turn == 0 {
		return b.TextOrNull("refresh", "")
	}
	var lateSince time.Time
	if !r.LeasedUntil.IsZero() && r.LastSuccess.Before(r.LastAttempt) && now.Sub(r.LastAttempt) > lateAfter {
		lateSince = r.LastAttempt
	}
	b = b.Open("refresh").TimeOrNull("last_attempt", r.LastAttempt).TimeOrNull("last_success", r.LastSuccess).TextOrNull("last_error", r.LastError).
		TimeOrNull("late_since", lateSince).Int("failures", r.Failures)
	b = b.Open("rows").Int("added", int(r.Rows.Added)).Int("changed", int(r.Rows.Changed)).Int("unchanged", int(r.Rows.Unchanged)).
		Int("rejected", int(r.Rows.Rejected)).Close("}")
	files := &r.Rasters
	if *files == (data.RefreshRasters{}) { // the sources have never had a satellite file
		return b.TextOrNull("rasters", "").Close("}")
	}
	product, day := "", ""
	if !files.LastTaken.IsZero() {
		product, day = files.LastProduct, files.LastDate.String()
	}
	return b.Open("rasters").Int("taken", int(files.Taken)).Int("failed", int(files.Failed)).Int("bytes_read", int(files.Bytes)).
		Int("waiting", int(files.Waiting)).Int("failing", int(files.Failing)).Int("skipped", int(files.Skipped)).
		TimeOrNull("last_taken", files.LastTaken).TextOrNull("product", product).TextOrNull("date", day).Close("}}")
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
	if !isHealthPath(s.routePath(r)) {
		return false
	}
	peer := answer.PeerAddr(r)
	if len(r.Header["X-Forwarded-For"]) > 0 || len(r.Header["Forwarded"]) > 0 { // somebody's behind a proxy
		return false
	}
	return peer.IsLoopback() || slices.ContainsFunc(s.trustedProxies(), func(p netip.Prefix) bool { return p.Contains(peer) })
}

func isHealthPath(path string) bool { return path == pathHealthy || path == pathReady }

// isRoutine reports whether r is for a health check or for /metrics, which programs ask for all the time.
func (s *common) isRoutine(r *http.Request) bool {
	path := s.routePath(r)
	return isHealthPath(path) || path == pathMetrics
}

// routePath returns the path of r below that of the server.
func (s *common) routePath(r *http.Request) string {
	return strings.TrimPrefix(r.URL.Path, s.opts.BasePath)
}

// logAddresses returns how much of the addresses of clients is logged.
func (s *common) logAddresses() LogAddresses { return s.adjustable().LogAddresses }

// healthy answers that the process runs.
func (h *health) healthy(w http.ResponseWriter, r *http.Request) error {
	return h.sender.SendBytes(w, r, instantKind, []byte(`{"status":"ok"}`+"\n"))
}

// ready answers whether requests for data should be sent here. Old data are better than none, so a server whose reloads fail
// stays in service.
func (h *health) ready(w http.ResponseWriter, r *http.Request) error {
	if h.draining.Load() {
		return errDraining
	}
	p, err := h.published()
	if err != nil && h.reloadFailedSince.Load() != nil {
		return errNoDataYet
	}
	if err != nil {
		return err
	}
	var failedSince, staleSince time.Time
	if since := h.reloadFailedSince.Load(); since != nil {
		failedSince = *since // only the log has the reason: the text of an error may contain internals
	}
	now := h.opts.Now()
	if since, ok := h.freshness.StaleSince(now); ok {
		// By the present clock, which may have been set meanwhile.
		staleSince = now.Add(-now.Sub(since))
	}
	b := record.Object("{").Text("status", "ready").Text("snapshot", p.state.MapVersion).Text("generated_at", p.state.Updated).
		TimeOrNull("refresh_failed_since", failedSince).TimeOrNull("stale_since", staleSince)
	b = b.TextOrNull("clock_doubt", h.opts.ClockDoubt())
	if lag, standby := h.opts.Standby(); standby {
		b = b.Decimals("standby_lag_seconds", lag.Seconds(), 1)
	} else {
		b = b.TextOrNull("standby_lag_seconds", "")
	}
	b = appendForecast(appendRefresh(b, h.refreshed.Load(), now), p.snap)
	return h.sender.SendBytes(w, r, instantKind, h.webhooks.Load().append(b).Close("}\n"))
}

// reloaded notes that a snapshot of that version was loaded, the first one or a later one.
func (h *health) reloaded(version string, first bool) {
	if since := h.reloadFailedSince.Swap(nil); since != nil {
		message := "loading newer data works again"
		if first {
			message = "the data are loaded"
		}
		h.opts.Logger.Info(message, slog.String("snapshot", version), slog.Time("failed_since", *since))
	}
}

// SnapshotReloadFailed reports that the first or a newer snapshot could not be loaded from the database, for the body of /readyz, a metric
// and the log.
func (s *Server) SnapshotReloadFailed(err error) {
	now := s.health.opts.Now().UTC().Truncate(time.Second)
	s.health.reloadFailedSince.CompareAndSwap(nil, &now)
	s.health.reloadFailures.Inc()
	message := "loading newer data failed: still serving the previous data"
	if s.common.current.Load() == nil {
		message = "the data cannot be loaded yet: trying again until it works"
	}
	s.common.opts.Logger.Warn(message, slog.Any("error", err))
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
