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
	memoryBytes, diskBytes          prometheus.Gauge
	memoryEntries, diskEntries      prometheus.Gauge
	memoryEvictions, diskEvictions  prometheus.Counter
	readFaults, writeFaults         prometheus.Counter
	trimFaults                      prometheus.Counter
	readFailing, writeFailing       prometheus.Gauge
	trimFailing, spaceFailing       prometheus.Gauge
	damaged, dropped                prometheus.Counter
	renders, renderFailures, shed   prometheus.Counter
	renderDuration                  prometheus.Histogram
	renderQueue, rendersInFlight    prometheus.Gauge
	layerBuilds                     prometheus.Counter
	diskEnabled                     prometheus.Gauge
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
	counters := func(label, name, help string) *prometheus.CounterVec {
		return auto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	}
	gauges := func(label, name, help string) *prometheus.GaugeVec {
		return auto.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{label})
	}
	hits := counters("tier", "limnomap_tile_cache_hits_total", "Tiles answered without a render, by tier.")
	bytes := gauges("tier", "limnomap_tile_cache_bytes", "Bytes that cached tiles occupy, by tier.")
	entries := gauges("tier", "limnomap_tile_cache_entries", "Cached tiles, by tier.")
	evictions := counters("tier", "limnomap_tile_cache_evictions_total", "Tiles dropped to stay within the budget, by tier.")
	faults := counters("operation", "limnomap_tile_disk_faults_total", "Faults of the disk cache's folder, by operation.")
	failing := gauges("operation", "limnomap_tile_disk_failing", "1 while an operation of the disk cache fails and is tried only now and then; of space: while too little is free.")
	return &metrics{
		memoryHits:      hits.WithLabelValues("memory"),
		diskHits:        hits.WithLabelValues("disk"),
		blankHits:       hits.WithLabelValues("blank"),
		misses:          counter("limnomap_tile_cache_misses_total", "Tiles found in no tier."),
		memoryBytes:     bytes.WithLabelValues("memory"),
		diskBytes:       bytes.WithLabelValues("disk"),
		memoryEntries:   entries.WithLabelValues("memory"),
		diskEntries:     entries.WithLabelValues("disk"),
		memoryEvictions: evictions.WithLabelValues("memory"),
		diskEvictions:   evictions.WithLabelValues("disk"),
		readFaults:      faults.WithLabelValues("read"),
		writeFaults:     faults.WithLabelValues("write"),
		trimFaults:      faults.WithLabelValues("trim"),
		readFailing:     failing.WithLabelValues("read"),
		writeFailing:    failing.WithLabelValues("write"),
		trimFailing:     failing.WithLabelValues("trim"),
		spaceFailing:    failing.WithLabelValues("space"),
		damaged:         counter("limnomap_tile_disk_damaged_total", "Damaged tiles found on disk and removed."),
		dropped:         counter("limnomap_tile_disk_dropped_total", "Tiles not written to disk: the queue was full or the disk failing."),
		renders:         counter("limnomap_tile_renders_total", "Tiles drawn, failures included."),
		renderFailures:  counter("limnomap_tile_render_failures_total", "Renders that ended in an error."),
		shed:            counter("limnomap_tile_shed_total", "Requests for a tile refused because too many waited, or for too long."),
		// From a tile of one lake (about 0.2 ms) to the timeout's default.
		renderDuration: auto.NewHistogram(prometheus.HistogramOpts{
			Name:    "limnomap_tile_render_duration_seconds",
			Help:    "Time to draw a tile, without waiting.",
			Buckets: []float64{.0002, .0005, .001, .002, .005, .01, .025, .05, .1, .25, 1, 2.5, 10},
			// And as a native histogram, as those of package api are.
			NativeHistogramBucketFactor:     1.1,
			NativeHistogramMaxBucketNumber:  160,
			NativeHistogramMinResetDuration: time.Hour,
		}),
		renderQueue:     gauge("limnomap_tile_render_queue", "Tiles that wait to be drawn."),
		rendersInFlight: gauge("limnomap_tile_renders_in_flight", "Tiles being drawn."),
		diskEnabled:     gauge("limnomap_tile_disk_enabled", "1 if there is a tile cache on disk, failing or not; 0 if the server was started without."),
		layerBuilds:     counter("limnomap_tile_layers_built_total", "Views made ready to draw."),
	}
}
