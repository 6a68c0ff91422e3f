package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

func TestGCPercent(t *testing.T) {
	for _, test := range []struct {
		name string
		live uint64
		want int
	}{
		{"nothing", 0, 400},
		{"the demo", 6 << 20, 400},
		{"the demo with many tiles", 20 << 20, 160},
		{"minGarbage", 32 << 20, 100},
		{"maxGarbage", 128 << 20, 100},
		{"a million lakes", 512 << 20, 25},
		{"more than any machine has", 1 << 40, 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := gcPercent(test.live); got != test.want {
				t.Errorf("gcPercent(%d) = %d, want %d", test.live, got, test.want)
			}
		})
	}
}

func TestGOGCIsRespected(t *testing.T) {
	const chosen = 77
	t.Setenv("GOGC", "77")
	defer debug.SetGCPercent(debug.SetGCPercent(chosen))
	limitGarbage(t.Context())()
	if got := debug.SetGCPercent(chosen); got != chosen {
		t.Errorf("the percentage is %d, want %d", got, chosen)
	}
}

// The percentage follows the live heap until stop is called.
func TestLimitGarbage(t *testing.T) {
	t.Setenv("GOGC", "") // so that it is restored
	os.Unsetenv("GOGC")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	runtime.GC()
	var held []byte
	synctest.Test(t, func(t *testing.T) {
		stop := limitGarbage(t.Context())
		synctest.Wait()
		before := percent()
		held = make([]byte, 2*maxGarbage) // more live heap than may gather as garbage, whatever else is in use
		runtime.GC()
		time.Sleep(garbageInterval)
		synctest.Wait()
		if after := percent(); after >= before {
			t.Errorf("with %d MiB more in use the percentage is %d, before it was %d", len(held)>>20, after, before)
		}
		stop()
		debug.SetGCPercent(99)
		time.Sleep(2 * garbageInterval)
		if got := percent(); got != 99 {
			t.Errorf("after stop the percentage changes to %d", got)
		}
	})
	runtime.KeepAlive(held)
}

func TestLiveBytes(t *testing.T) {
	held := make([]byte, 32<<20)
	debug.FreeOSMemory()
	if got := liveBytes(); got < uint64(len(held)) {
		t.Errorf("liveBytes() = %d, with %d bytes in use", got, len(held))
	}
	runtime.KeepAlive(held)
}
