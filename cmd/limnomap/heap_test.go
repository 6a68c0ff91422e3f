package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/demo"
)

func TestGCPercent(t *testing.T) {
	for _, test := range []struct {
		name string
		live uint64
		want int
	}{
		{"nothing", 0, 100},
		{"the demo", 20 << 20, 100},
		{"as much as may gather", 128 << 20, 100},
		{"a million lakes", 512 << 20, 25},
		{"more than anybody has", 1 << 40, 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := gcPercent(test.live); got != test.want {
				t.Errorf("gcPercent(%d) = %d, want %d", test.live, got, test.want)
			}
		})
	}
}

func TestAnOperatorsGOGCStands(t *testing.T) {
	const chosen = 77
	before := debug.SetGCPercent(chosen)
	defer debug.SetGCPercent(before)
	for _, test := range []struct {
		name            string
		decided         bool
		loading, loaded int
	}{
		{"with GOGC", true, chosen, chosen},
		{"without", false, loadingPercent, defaultPercent},
	} {
		t.Run(test.name, func(t *testing.T) {
			debug.SetGCPercent(chosen)
			h := newHeap(func(name string) (string, bool) { return "77", test.decided && name == "GOGC" })
			var loading int
			src := heapSource{demo.New(time.Now), h}
			_, err := src.Scan(t.Context(), func(data.Lake) error {
				loading = debug.SetGCPercent(test.loading)
				return nil
			}, func(data.Observation) error { return nil })
			if err != nil || loading != test.loading {
				t.Errorf("while a snapshot is loaded the percentage is %d, %v, want %d", loading, err, test.loading)
			}
			h.settle()
			if got := debug.SetGCPercent(chosen); got != test.loaded {
				t.Errorf("behind that it is %d, want %d", got, test.loaded)
			}
		})
	}
}

func TestLiveBytesAreKnown(t *testing.T) {
	held := make([]byte, 32<<20)
	debug.FreeOSMemory()
	if got := liveBytes(); got < uint64(len(held)) {
		t.Errorf("liveBytes() = %d, with %d bytes held", got, len(held))
	}
	runtime.KeepAlive(held)
}
