package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// As much garbage may gather as the live heap has, as is usual in Go, but within these bounds. With less, a small server
	// under load would collect sixty times a second. With more, a refresh of 1.4 million lakes would take 1.8 GB instead of
	// 1.4 GB.
	minGarbage, maxGarbage = 32 << 20, 128 << 20
	// minPercent and maxPercent bound GOGC until garbageInterval has passed: the live heap may grow or shrink.
	minPercent, maxPercent = 10, 400
	garbageInterval        = time.Second
	// A second is quiet if less than quietBytes are allocated in it. After so many of them memory is returned to the operating
	// system: see quietTime.ended. By itself the runtime needs two minutes, and keeps a part.
	quietSeconds, longQuietSeconds = 5, 20
	quietBytes                     = 1 << 20
	// leastReturn is the least memory that is worth a collection after quietSeconds.
	leastReturn = 16 << 20
)

// limitGarbage adjusts GOGC to the live heap, and returns unused memory when the server is quiet, until the returned function
// is called, or ctx ends. It does nothing if the operator has set GOGC.
func limitGarbage(ctx context.Context) (stop func()) {
	if _, ok := os.LookupEnv("GOGC"); ok {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // ends with ctx
		defer close(done)
		ticker := time.NewTicker(garbageInterval)
		defer ticker.Stop()
		var quiet quietTime
		for percent := 0; ; {
			h := readHeap()
			// Setting it stops the world for a moment, so a change of a tenth is ignored.
			if next := gcPercent(h.live); max(next-percent, percent-next)*10 > percent {
				percent = next
				debug.SetGCPercent(percent)
			}
			if quiet.ended(h) {
				debug.FreeOSMemory()
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// gcPercent returns GOGC for a live heap.
func gcPercent(live uint64) int {
	garbage := min(max(live, minGarbage), maxGarbage)
	return int(min(max(garbage*100/max(live, 1), minPercent), maxPercent))
}

// A heap is the state of the heap, in bytes.
type heap struct {
	live      uint64 // after the last collection
	objects   uint64 // live ones, and garbage
	free      uint64 // unused, and not returned to the operating system
	allocated uint64 // since the start
}

func readHeap() heap {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/gc/heap/allocs:bytes"},
	}
	metrics.Read(samples)
	return heap{samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64(), samples[3].Value.Uint64()}
}

// unused returns how much memory a collection could return. Right after a collection the live heap may be above the objects.
func (h heap) unused() uint64 { return h.free + max(h.objects, h.live) - h.live }

// A quietTime finds out when the server has been quiet long enough to return memory.
type quietTime struct {
	allocated uint64 // a second ago
	returned  uint64 // value of allocated when memory was returned last
	seconds   int    // since more than quietBytes were allocated in one
}

// ended reports whether memory should be returned now. It must be called every second.
func (q *quietTime) ended(h heap) bool {
	if q.seconds++; h.allocated-q.allocated > quietBytes {
		q.seconds = 0
	}
	q.allocated = h.allocated
	much := false
	switch q.seconds {
	case quietSeconds:
		// Only if much is known to be unused. Garbage of the last collection's time still counts as used.
		much = h.unused() >= max(leastReturn, h.live/10)
	case longQuietSeconds:
		// Now also for that garbage, but only once after each time with allocations.
		much = h.allocated-q.returned >= quietBytes
		q.seconds = quietSeconds
	}
	if much {
		q.returned = h.allocated
	}
	return much
}
