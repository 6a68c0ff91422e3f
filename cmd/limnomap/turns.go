package main

import (
	"context"
	"runtime"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/api"
	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/store"
	"limnomap/tiles/admission"
)

const (
	// waitingTurns is how many tiles, long lists and weeks may wait to be made.
	waitingTurns = 512
	// historiesWaiting is how many may wait for their turn to read a history. With more of them, the last would wait for longer
	// than a request may.
	historiesWaiting = 64
	// weekReadsWaiting is how many requests may wait for weeks that are read from the source of the data.
	weekReadsWaiting = 512
)

// spareProcessor gives the Go runtime of this process one processor more than it has, once, and returns how many it had: as many as may
// make something at once. While all processors of the runtime work, it looks at the network only every 10 ms (sysmon in
// runtime/proc.go), and a cached tile waits that long. In a crowd, tiles, lists and weeks are made on threads of low priority, so the operating
// system lets the spare processor go first. The runtime no longer follows a CPU limit that changes.
var spareProcessor = sync.OnceValue(func() int {
	n := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(n + 1)
	return n
})

// historyReaders returns how many histories may be read from a database at once: fewer than its connections, so that a poll
// need not wait for them. s is nil for the demo, whose histories are computed.
func historyReaders(s *store.Store) int {
	if s == nil {
		return spareProcessor()
	}
	return max(1, s.Readers()-store.SpareReaders)
}

// newHistoryTurns returns the turns in which histories are read from a database.
func newHistoryTurns(s *store.Store) *admission.Turns {
	return admission.NewTurns(admission.TurnsOptions{Count: historyReaders(s), Waiting: historiesWaiting, Waits: true})
}

// newWeekReads returns the turns in which weeks that are not in memory are read: one at a time, since each takes the memory of a
// block of weeks.
func newWeekReads() *admission.Turns {
	return admission.NewTurns(admission.TurnsOptions{Count: 1, Waiting: weekReadsWaiting})
}

// newTurns returns the turns in which tiles, long lists and weeks are made, on so many processors.
func newTurns(processors int, reg prometheus.Registerer) *admission.Turns {
	waiting := promauto.With(reg).NewGauge(prometheus.GaugeOpts{
		Name: "limnomap_turns_waiting",
		Help: "Tiles, long lists and weeks that wait to be made.",
	})
	return admission.NewTurns(admission.TurnsOptions{
		Count:   processors,
		Waiting: waitingTurns,
		Length:  func(n int) { waiting.Set(float64(n)) },
	})
}

// A pixelReader reads the pixels of tiles in the turns of histories: a database that is slow would otherwise have all connections busy.
type pixelReader struct {
	store *store.Store
	turns *admission.Turns
}

func (r pixelReader) PixelsOf(ctx context.Context, values []data.LakeValue) (found []pixels.Packed, err error) {
	err = r.turns.Do(ctx, api.ClientIn(ctx), func() error {
		found, err = r.store.PixelsOf(ctx, values)
		return err
	})
	return found, err
}
