package api

import (
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"limnomap/api/middleware"
	"limnomap/data"
)

// registerMetrics registers the metrics of the server that are not those of its parts. Another user of the registry may have
// registered those of the process already.
func registerMetrics(opts *Options, current *snapshots, h *health) {
	version := opts.Version
	if info, ok := debug.ReadBuildInfo(); ok && version == "" {
		version = info.Main.Version
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "limnomap_build_info",
		Help: "Always 1; the labels tell what is running.",
	}, []string{"version", "go_version", "renderer"})
	build.WithLabelValues(version, runtime.Version(), opts.RendererVersion).Set(1)
	opts.Registry.MustRegister(build, h.reloadFailures,
		&snapshotCollector{snapshot: current.snapshot, freshness: h.freshness, now: opts.Now},
		&refreshCollector{h.refreshed.Load})
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		var already prometheus.AlreadyRegisteredError
		if err := opts.Registry.Register(c); err != nil && !errors.As(err, &already) {
			opts.Logger.Warn("process metrics are not exported", slog.Any("error", err))
		}
	}
}

// newReloadFailures returns the counter of snapshots that could not be loaded.
func newReloadFailures() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "limnomap_snapshot_refresh_failures_total",
		Help: "Attempts to load a newer snapshot that failed; the last good one was kept.",
	})
}

// A snapshotCollector reports the snapshot that is being served. All values of one scrape are of one snapshot, which separate
// gauges would not guarantee. Before the first snapshot it reports nothing.
type snapshotCollector struct {
	snapshot  func() *data.Snapshot // nil before the first one
	freshness *middleware.Freshness
	now       func() time.Time
}

var (
	snapshotAge = prometheus.NewDesc("limnomap_snapshot_age_seconds",
		"Time since the data that are served were last changed by an import.", nil, nil)
	snapshotStale = prometheus.NewDesc("limnomap_snapshot_stale_seconds",
		"Time since the data that are served were last known to be the newest: a second or two while their source answers.", nil, nil)
	newestObservation = prometheus.NewDesc("limnomap_newest_observation_timestamp_seconds",
		"Midnight UTC of the day of the newest satellite observation, in seconds since 1970.", nil, nil)
	snapshotInfo = prometheus.NewDesc("limnomap_snapshot_info",
		"Always 1; the label is the version of the snapshot that is served.", []string{"version"}, nil)
	snapshotRevision = prometheus.NewDesc("limnomap_snapshot_revision",
		"Number of the data's revision that is served.", nil, nil)
	snapshotLakes = prometheus.NewDesc("limnomap_lakes",
		"Lakes in the snapshot, with and without a current value.", []string{"state"}, nil)
)

// Describe implements prometheus.Collector.
func (c *snapshotCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{snapshotAge, snapshotStale, newestObservation, snapshotInfo, snapshotRevision, snapshotLakes} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *snapshotCollector) Collect(ch chan<- prometheus.Metric) {
	snap := c.snapshot()
	if snap == nil {
		return
	}
	if !snap.Revision.ChangedAt.IsZero() { // an age of two thousand years would only raise alarms
		gauge(ch, snapshotAge, c.now().Sub(snap.Revision.ChangedAt).Seconds())
	}
	if since, ok := c.freshness.Confirmed(); ok {
		gauge(ch, snapshotStale, max(c.now().Sub(since), 0).Seconds())
	}
	if len(snap.Weeks) > 0 { // else there is no observation, and 1970 would look like one
		gauge(ch, newestObservation, float64(snap.Current.AsOf.Time().Unix()))
	}
	gauge(ch, snapshotInfo, 1, snap.Version)
	gauge(ch, snapshotRevision, float64(snap.Revision.Number))
	with := 0
	if snap.Current != nil {
		with = snap.Current.WithData
	}
	gauge(ch, snapshotLakes, float64(with), "with_data")
	gauge(ch, snapshotLakes, float64(len(snap.Lakes)-with), "without_data")
}

// gauge sends a gauge with that value.
func gauge(ch chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}
