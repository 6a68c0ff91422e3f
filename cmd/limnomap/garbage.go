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
	// under load would collect sixty times a second. With more, a refresh of 1.4 million lakes would take hundreds of megabytes more.
	minGarbage, maxGarbage = 32 << 20, 128 << 20
	// Where memory is limited, less garbage may gather as soon as the process would take more than memoryShare of the limit with it, so
	// that a crowd does not come near the limit, but no less than leastGarbage: each collection goes through the live heap. What the
	// runtime keeps unused comes on top.
	memoryShare  = 1. / 2
	leastGarbage = 64 << 20
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
			limit, _ := memoryLimit()
			if next := gcPercent(h, limit); max(next-percent, percent-next)*10 > percent {
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

// gcPercent returns GOGC for a heap under a memory limit in bytes.
func gcPercent(h heap, limit int64) int {
	garbage := min(max(h.live, minGarbage), maxGarbage)
	if room := int64(memoryShare*float64(limit)) - int64(h.live+h.rest); room < int64(garbage) {
		garbage = min(garbage, max(uint64(max(room, 0)), leastGarbage))
	}
	return int(min(max(garbage*100/max(h.live, 1), minPercent), maxPercent))
}

// A heap is the state of the heap, in bytes.
type heap struct {
	live      uint64 // after the last collection
	objects   uint64 // live ones, and garbage
	free      uint64 // unused, and not returned to the operating system
	allocated uint64 // since the start
	rest      uint64 // what the runtime takes besides: stacks, its own structures, and what is lost between objects
}

func readHeap() heap {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/total:bytes"},
	}
	metrics.Read(samples)
	value := func(i int) uint64 { return samples[i].Value.Uint64() }
	h := heap{live: value(0), objects: value(1), free: value(2), allocated: value(3)}
	h.rest = value(5) - value(4) - h.free - h.objects
	return h
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
