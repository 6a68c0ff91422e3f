package main

import (
	"runtime"
	"runtime/debug"
	"testing"
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
	newHeap(func(name string) (string, bool) { return "77", name == "GOGC" }).settle()
	if got := debug.SetGCPercent(chosen); got != chosen {
		t.Errorf("the percentage is %d, want the operator's %d", got, chosen)
	}
	newHeap(func(string) (string, bool) { return "", false }).settle()
	if got, want := debug.SetGCPercent(chosen), gcPercent(liveBytes()); got != want {
		t.Errorf("without GOGC the percentage is %d, want %d", got, want)
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
