package main

import (
	"context"
	"io"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
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
		{"nothing", 0, 400},
		{"the demo", 6 << 20, 400},
		{"the demo with many tiles", 20 << 20, 160},
		{"as much as may always gather", 32 << 20, 100},
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
		name    string
		decided bool
		loading int
		loaded  func() int
	}{
		{"with GOGC", true, chosen, func() int { return chosen }},
		{"without", false, loadingPercent, func() int { return gcPercent(liveBytes()) }},
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
			if got, want := debug.SetGCPercent(chosen), test.loaded(); got != want {
				t.Errorf("behind that it is %d, want %d", got, want)
			}
		})
	}
}

// brokenSource is a source that cannot be read to the end.
type brokenSource struct{ data.Source }

func (brokenSource) Scan(context.Context, func(data.Lake) error, func(data.Observation) error) (data.Revision, error) {
	return data.Revision{}, io.ErrUnexpectedEOF
}

// A refresh that fails must not leave the garbage collector as busy as it is while a snapshot is loaded.
func TestTheHeapRecoversFromAFailedLoad(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	h := newHeap(func(string) (string, bool) { return "", false })
	if _, err := (heapSource{brokenSource{}, h}).Scan(t.Context(), nil, nil); err != io.ErrUnexpectedEOF {
		t.Fatalf("Scan = %v, want its source's error", err)
	}
	if got, want := debug.SetGCPercent(100), gcPercent(liveBytes()); got != want {
		t.Errorf("the percentage is %d, want %d", got, want)
	}
}

// While the server runs, the percentage follows what is in use.
func TestTheHeapIsTunedAgainAndAgain(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	h := newHeap(func(string) (string, bool) { return "", false })
	h.settle()
	before := h.percent
	held := make([]byte, 2*maxGarbage) // more than may gather as garbage beside it, whatever else is in use
	runtime.GC()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		go h.run(ctx) // until stop
		time.Sleep(tuneEvery)
		synctest.Wait()
		stop()
	})
	if h.percent >= before {
		t.Errorf("with %d MiB more in use the percentage is %d, and was %d", len(held)>>20, h.percent, before)
	}
	runtime.KeepAlive(held)
}

func TestLiveBytesAreKnown(t *testing.T) {
	held := make([]byte, 32<<20)
	debug.FreeOSMemory()
	if got := liveBytes(); got < uint64(len(held)) {
		t.Errorf("liveBytes() = %d, with %d bytes held", got, len(held))
	}
	runtime.KeepAlive(held)
}
