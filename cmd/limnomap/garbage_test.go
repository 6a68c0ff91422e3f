package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestGCPercent(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		name       string
		live, rest uint64
		limit      int64
		want       int
	}{
		{"nothing", 0, 0, math.MaxInt64, 400},
		{"the demo", 6 * mib, 0, math.MaxInt64, 400},
		{"the demo with many tiles", 20 * mib, 0, math.MaxInt64, 160},
		{"minGarbage", 32 * mib, 0, math.MaxInt64, 100},
		{"maxGarbage", 128 * mib, 0, math.MaxInt64, 100},
		{"a million lakes", 512 * mib, 0, math.MaxInt64, 25},
		{"more than any machine has", 1 << 40, 0, math.MaxInt64, 10},
		{"as much as the limit leaves room for", 384 * mib, 0, 1024 * mib, 33},
		{"less room", 384 * mib, 32 * mib, 1024 * mib, 25},
		{"leastGarbage", 384 * mib, 250 * mib, 1024 * mib, 16},
		{"near the limit", 640 * mib, 250 * mib, 1024 * mib, 10},
		{"the demo with a small limit", 6 * mib, 4 * mib, 16 * mib, 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := gcPercent(heap{live: test.live, rest: test.rest}, test.limit); got != test.want {
				t.Errorf("gcPercent(%d and %d bytes of %d) = %d, want %d", test.live, test.rest, test.limit, got, test.want)
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

func TestReadHeap(t *testing.T) {
	debug.FreeOSMemory()
	empty := readHeap()
	held := make([]byte, 32<<20)
	debug.FreeOSMemory()
	h := readHeap()
	if n := uint64(len(held)); h.live < n || h.objects < n || h.allocated < n || h.rest == 0 || h.rest > empty.rest+n/4 {
		t.Errorf("readHeap() = %+v, with %d bytes in use", h, n)
	}
	runtime.KeepAlive(held)
	held = nil
	before := readHeap()
	debug.FreeOSMemory()
	if after := readHeap(); after.live+31<<20 > before.live || after.unused() > 16<<20 {
		t.Errorf("after 32 MiB were returned: %+v, before: %+v", after, before)
	}
}

func TestQuietTime(t *testing.T) {
	const mib = 1 << 20
	var q quietTime
	allocated := uint64(0)
	step := func(allocates, garbage, free uint64) bool {
		allocated += allocates
		return q.ended(heap{live: 100 * mib, objects: 100*mib + garbage, free: free, allocated: allocated})
	}
	for _, test := range []struct {
		name                     string
		seconds                  int
		allocates, garbage, free uint64 // a second
		want                     []int  // the seconds when memory is returned
	}{
		{"busy with garbage", 100, 10 * mib, 50 * mib, 50 * mib, nil},
		{"quiet with garbage", 10, 0, 50 * mib, 0, []int{quietSeconds}},
		{"busy", 1, 2 * mib, 0, 0, nil},
		{"quiet with free memory", 19, 0, 10 * mib, 10 * mib, []int{quietSeconds}},
		{"busy again", 1, 2 * mib, 0, 0, nil},
		{"quiet for long after a crowd", 100, 0, 0, 0, []int{longQuietSeconds}},
		{"quiet, with some requests", 60, mib / 20, 0, 0, []int{25, 55}},
	} {
		var got []int
		for second := range test.seconds {
			if step(test.allocates, test.garbage, test.free) {
				got = append(got, second+1)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: memory is returned after %v s, want %v", test.name, got, test.want)
		}
	}
}
