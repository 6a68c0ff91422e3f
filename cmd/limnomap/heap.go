package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"limnomap/data"
)

const (
	// Garbage may gather until there is as much again as is in use, as the runtime has it, within these bounds. A snapshot
	// of a million lakes would take its own size again for nothing; and beside the few megabytes of a small one, a server
	// under load would collect sixty times a second, for a twentieth of its time.
	minGarbage, maxGarbage = 32 << 20, 128 << 20
	// loadingPercent is how much garbage, in percent of what is in use, may gather while a snapshot is loaded: that is
	// when most is in use, at a refresh the old and the new one. The collections take a second more.
	loadingPercent = 10
	// The least and the most that is set for long. What is in use grows as the cache of tiles fills, and more than the most
	// could by then have become too much, before it is set anew.
	minPercent, maxPercent = 10, 400
	// tuneEvery is how often that is looked at.
	tuneEvery = time.Second
)

// A heap keeps the memory of the process near what is in use. GOMEMLIMIT is the runtime's and stays.
type heap struct {
	tuned bool // by us; false if the operator has set GOGC, and thereby decided

	mu      sync.Mutex // guards what follows
	loading bool
	percent int // that was set last
}

func newHeap(lookupEnv func(string) (string, bool)) *heap {
	_, decided := lookupEnv("GOGC")
	return &heap{tuned: !decided}
}

// A heapSource is a source whose scans fill the heap.
type heapSource struct {
	data.Source
	heap *heap
}

func (s heapSource) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	s.heap.load(true)
	revision, err := s.Source.Scan(ctx, lake, observation)
	if err != nil { // and nothing more comes of it
		s.heap.load(false)
	}
	return revision, err
}

// load begins or ends the loading of a snapshot.
func (h *heap) load(begin bool) {
	h.mu.Lock()
	h.loading = begin
	h.mu.Unlock()
	h.tune()
}

// run sets how much garbage may gather again and again, as what is in use changes, until ctx ends.
func (h *heap) run(ctx context.Context) {
	ticker := time.NewTicker(tuneEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			h.tune()
		case <-ctx.Done():
			return
		}
	}
}

// tune sets how much garbage may gather. Setting it stops the world for a moment, so it is left alone while it is right
// to a tenth.
func (h *heap) tune() {
	if !h.tuned {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	percent := gcPercent(liveBytes())
	if h.loading {
		percent = loadingPercent
	}
	if off := percent - h.percent; max(off, -off)*10 > h.percent {
		debug.SetGCPercent(percent)
		h.percent = percent
	}
}

// settle gives back what loading a snapshot took, once that is done, and sets how much garbage may gather beside what
// is in use now.
func (h *heap) settle() {
	debug.FreeOSMemory() // collects first, so that the runtime knows what is in use
	h.load(false)
}

// gcPercent returns the garbage that may gather beside live bytes in use, in percent of these.
func gcPercent(live uint64) int {
	garbage := min(max(live, minGarbage), maxGarbage)
	return int(min(max(garbage*100/max(live, 1), minPercent), maxPercent))
}

// liveBytes returns what the last collection found in use.
func liveBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
