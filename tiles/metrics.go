package tiles

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// The metrics of a Service, each label value resolved once so that a hit costs one atomic addition.
type metrics struct {
	memoryHits, diskHits, blankHits prometheus.Counter
	misses                          prometheus.Counter
	memoryBytes, memoryEntries      prometheus.Gauge
	memoryEvictions                 prometheus.Counter
	renders, renderFailures, shed   prometheus.Counter
	renderDuration                  prometheus.Histogram
	renderQueue, rendersInFlight    prometheus.Gauge
	layerBuilds                     prometheus.Counter
}

// newMetrics makes the metrics and registers them with reg, unless it is nil.
func newMetrics(reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	counter := func(name, help string) prometheus.Counter {
		return auto.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return auto.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	hits := auto.NewCounterVec(prometheus.CounterOpts{
		Name: "limnomap_tile_cache_hits_total", Help: "Tiles answered without a render, by tier.",
	}, []string{"tier"})
	// Package tiles/disk has the same three metrics for the tiles on disk: their label must be constant in both.
	memory := prometheus.Labels{"tier": "memory"}
	return &metrics{
		memoryHits:      hits.WithLabelValues("memory"),
		diskHits:        hits.WithLabelValues("disk"),
		blankHits:       hits.WithLabelValues("blank"),
		misses:          counter("limnomap_tile_cache_misses_total", "Tiles found in no tier."),
		memoryBytes:     auto.NewGauge(prometheus.GaugeOpts{Name: "limnomap_tile_cache_bytes", Help: "Bytes that cached tiles occupy, by tier.", ConstLabels: memory}),
		memoryEntries:   auto.NewGauge(prometheus.GaugeOpts{Name: "limnomap_tile_cache_entries", Help: "Cached tiles, by tier.", ConstLabels: memory}),
		memoryEvictions: auto.NewCounter(prometheus.CounterOpts{Name: "limnomap_tile_cache_evictions_total", Help: "Tiles dropped to stay within the budget, by tier.", ConstLabels: memory}),
		renders:         counter("limnomap_tile_renders_total", "Tiles drawn, failures included."),
		renderFailures:  counter("limnomap_tile_render_failures_total", "Renders that ended in an error."),
		shed:            counter("limnomap_tile_shed_total", "Requests for a tile refused because too many waited, or for too long."),
		// From a tile of one lake (about 0.2 ms) to the timeout's default.
		renderDuration: auto.NewHistogram(prometheus.HistogramOpts{
			Name:    "limnomap_tile_render_duration_seconds",
			Help:    "Time to draw a tile, without waiting.",
			Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .025, .05, .1, .25, 1, 2.5, 10},
			// Also a native histogram, as in package api.
			NativeHistogramBucketFactor:     1.1,
			NativeHistogramMaxBucketNumber:  160,
			NativeHistogramMinResetDuration: time.Hour,
		}),
		renderQueue:     gauge("limnomap_tile_render_queue", "Tiles that wait for their turn to be looked up or drawn."),
		rendersInFlight: gauge("limnomap_tile_renders_in_flight", "Tiles being drawn."),
		layerBuilds:     counter("limnomap_tile_layers_built_total", "Layers built, one for each view and sort of tile."),
	}
}
