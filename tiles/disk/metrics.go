package disk

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Metrics are the metrics of one Cache. A server that runs without a disk cache has them too, all of them zero.
type Metrics struct {
	enabled                   prometheus.Gauge
	bytes, entries            prometheus.Gauge
	evictions                 prometheus.Counter
	readFaults, writeFaults   prometheus.Counter
	trimFaults                prometheus.Counter
	readFailing, writeFailing prometheus.Gauge
	trimFailing, spaceFailing prometheus.Gauge
	damaged, dropped          prometheus.Counter
}

// NewMetrics makes the metrics and registers them with reg, unless it is nil.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	auto := promauto.With(reg)
	// Package tiles has the same three metrics for the tiles in memory: their label must be constant in both.
	tier := prometheus.Labels{"tier": "disk"}
	faults := auto.NewCounterVec(prometheus.CounterOpts{
		Name: "limnomap_tile_disk_faults_total", Help: "Faults of the disk cache's folder, by operation.",
	}, []string{"operation"})
	failing := auto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "limnomap_tile_disk_failing", Help: "1 while an operation of the disk cache fails and is tried only now and then; of space: while too little is free.",
	}, []string{"operation"})
	return &Metrics{
		enabled:      auto.NewGauge(prometheus.GaugeOpts{Name: "limnomap_tile_disk_enabled", Help: "1 if there is a tile cache on disk, failing or not; 0 if the server was started without."}),
		bytes:        auto.NewGauge(prometheus.GaugeOpts{Name: "limnomap_tile_cache_bytes", Help: "Bytes that cached tiles occupy, by tier.", ConstLabels: tier}),
		entries:      auto.NewGauge(prometheus.GaugeOpts{Name: "limnomap_tile_cache_entries", Help: "Cached tiles, by tier.", ConstLabels: tier}),
		evictions:    auto.NewCounter(prometheus.CounterOpts{Name: "limnomap_tile_cache_evictions_total", Help: "Tiles dropped to stay within the budget, by tier.", ConstLabels: tier}),
		readFaults:   faults.WithLabelValues("read"),
		writeFaults:  faults.WithLabelValues("write"),
		trimFaults:   faults.WithLabelValues("trim"),
		readFailing:  failing.WithLabelValues("read"),
		writeFailing: failing.WithLabelValues("write"),
		trimFailing:  failing.WithLabelValues("trim"),
		spaceFailing: failing.WithLabelValues("space"),
		damaged:      auto.NewCounter(prometheus.CounterOpts{Name: "limnomap_tile_disk_damaged_total", Help: "Damaged tiles found on disk and removed."}),
		dropped:      auto.NewCounter(prometheus.CounterOpts{Name: "limnomap_tile_disk_dropped_total", Help: "Tiles not written to disk: the queue was full or the disk failing."}),
	}
}
