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
)

// limitGarbage adjusts GOGC to the live heap until the returned function is called, or ctx ends. It does nothing if the
// operator has set GOGC.
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
		for percent := 0; ; {
			// Setting it stops the world for a moment, so a change of a tenth is ignored.
			if next := gcPercent(liveBytes()); max(next-percent, percent-next)*10 > percent {
				percent = next
				debug.SetGCPercent(percent)
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

// liveBytes returns the size of the live heap after the last collection.
func liveBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
