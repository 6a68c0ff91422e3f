package main

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/data/admission"
	"limnomap/data/store"
)

const (
	// waitingTurns is how many tiles, long lists and weeks may wait to be made.
	waitingTurns = 512
	// historiesWaiting is how many may wait for their turn to read a history. With more of them, the last would wait for longer
	// than a request may.
	historiesWaiting = 64
)

// historyReaders returns how many histories may be read from a database at once: fewer than its connections, so that a poll
// need not wait for them. s is nil for the demo, whose histories are computed.
func historyReaders(s store.Store) int {
	if s == nil {
		return runtime.GOMAXPROCS(0)
	}
	return max(1, s.Readers()-store.SpareReaders)
}

// newHistoryTurns returns the turns in which histories are read from a database.
func newHistoryTurns(s store.Store) *admission.Turns {
	return admission.NewTurns(admission.TurnsOptions{Count: historyReaders(s), Waiting: historiesWaiting, Waits: true})
}

// newTurns returns the turns in which tiles, long lists and weeks are made.
func newTurns(reg prometheus.Registerer) *admission.Turns {
	waiting := promauto.With(reg).NewGauge(prometheus.GaugeOpts{
		Name: "limnomap_turns_waiting",
		Help: "Tiles, long lists and weeks that wait to be made.",
	})
	return admission.NewTurns(admission.TurnsOptions{
		Count:   runtime.GOMAXPROCS(0),
		Waiting: waitingTurns,
		Length:  func(n int) { waiting.Set(float64(n)) },
	})
}
