package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"

	"limnomap/data"
)

const (
	// maxGarbage is how much garbage may gather before it is collected. The runtime's rule, as much again as is in use,
	// is right for a small heap; a snapshot of a million lakes would take its own size again for nothing.
	maxGarbage = 128 << 20
	// loadingPercent is how much garbage, in percent of what is in use, may gather while a snapshot is loaded: that is
	// when most is in use, at a refresh the old and the new one. The collections take a second more.
	loadingPercent = 10
	// The runtime's own percentage, and the least that is set for long.
	defaultPercent, minPercent = 100, 10
)

// A heap keeps the memory of the process near what is in use. GOMEMLIMIT is the runtime's and stays.
type heap struct {
	tuned bool // by us; false if the operator has set GOGC, and thereby decided
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
	if s.heap.tuned {
		debug.SetGCPercent(loadingPercent)
	}
	return s.Source.Scan(ctx, lake, observation)
}

// settle gives back what loading a snapshot took, once that is done, and sets how much garbage may gather beside what
// is in use now.
func (h *heap) settle() {
	debug.FreeOSMemory() // collects first, so that the runtime knows what is in use
	if h.tuned {
		debug.SetGCPercent(gcPercent(liveBytes()))
	}
}

// gcPercent returns the garbage that may gather beside live bytes in use, in percent of these.
func gcPercent(live uint64) int {
	return int(min(max(maxGarbage*100/max(live, 1), minPercent), defaultPercent))
}

// liveBytes returns what the last collection found in use.
func liveBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
