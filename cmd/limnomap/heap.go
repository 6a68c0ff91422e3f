package main

import (
	"runtime/debug"
	"runtime/metrics"
)

const (
	// maxGarbage is how much garbage may gather before it is collected. The runtime's rule, as much again as is in use,
	// is right for a small heap; a snapshot of a million lakes would take its own size again for nothing.
	maxGarbage = 128 << 20
	// loadingPercent is how much garbage, in percent of what is in use, may gather while the first snapshot is loaded,
	// whose size nobody knows yet. Half of the runtime's 100 costs a few collections more, on a core that is idle.
	loadingPercent = 50
	// The runtime's own percentage, and the least that is set: below it a refresh, which holds two snapshots for some
	// seconds, would collect all the time.
	defaultPercent, minPercent = 100, 10
)

// A heap keeps the memory of the process near what is in use.
type heap struct {
	tuned bool // by us; false if the operator has set GOGC
}

// newHeap returns the process's heap, set for loading the first snapshot. GOMEMLIMIT is the runtime's and stays; an
// operator who sets GOGC has decided.
func newHeap(lookupEnv func(string) (string, bool)) *heap {
	_, decided := lookupEnv("GOGC")
	h := &heap{tuned: !decided}
	if h.tuned {
		debug.SetGCPercent(loadingPercent)
	}
	return h
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
