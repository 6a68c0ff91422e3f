package tiles

import (
	"bytes"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/data"
)

// hang has the reads of d wait until the channel is closed, as those of a network share that is lost.
func hang(d *disk) (back chan struct{}) {
	back = make(chan struct{})
	d.read = func(root *os.Root, name string, sum Sum) (Tile, fs.FileInfo, error) {
		<-back
		return readEntry(root, name, sum)
	}
	return back
}

func TestDiskThatHangsIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		d := newTestDisk(t, t.TempDir(), 1<<20, clock)
		var log bytes.Buffer
		d.log = slog.New(slog.NewTextHandler(&log, nil))
		d.put(numberedKey(1), newTile([]byte("a tile")))
		back := hang(d.disk)
		wantMiss := func(after time.Duration) {
			t.Helper()
			began := time.Now()
			if _, ok := d.get(numberedKey(1)); ok || time.Since(began) != after {
				t.Fatalf("get of a disk that hangs is a hit: %v, after %v, want a miss after %v", ok, time.Since(began), after)
			}
		}
		for range maxReads + 2 { // also when there is no thread left to try it with
			wantMiss(readPatience)
			wantMiss(0)
			clock.advance(retryInterval)
		}
		close(back)
		synctest.Wait()
		if _, ok := d.get(numberedKey(1)); !ok {
			t.Error("get is a miss when the disk answers again, want a hit")
		}
		if got := testutil.ToFloat64(d.metrics.readFaults); got != maxReads+2 || testutil.ToFloat64(d.metrics.readFailing) != 0 {
			t.Errorf("%v faults are counted and the metric is %v, want one for each try, and 0", got, testutil.ToFloat64(d.metrics.readFailing))
		}
		for _, message := range []string{"cannot be read", "can be read again"} {
			if got := strings.Count(log.String(), message); got != 1 {
				t.Errorf("%q is logged %d times, want once:\n%s", message, got, &log)
			}
		}
	})
}

func TestWhoLeavesADiskIsNoFaultOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestDisk(t, t.TempDir(), 1<<20, newTestClock())
		back := hang(d.disk)
		ctx, cancel := context.WithTimeout(t.Context(), readPatience/2)
		defer cancel()
		if _, ok := d.disk.get(ctx, numberedSum(1)); ok || testutil.ToFloat64(d.metrics.readFaults) != 0 {
			t.Errorf("a hit: %v, and %v faults; want neither", ok, testutil.ToFloat64(d.metrics.readFaults))
		}
		close(back)
	})
}

// TestTilesAreDrawnWhereTheDiskHangs asks a whole Service.
func TestTilesAreDrawnWhereTheDiskHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := new(fakeRenderer)
		s := newTestService(t, r, warmOptions(t.TempDir()))
		back := hang(s.disk)
		v := new(data.View)
		for tile := range warmPyramid().tiles(everything()) {
			mustTile(t, s, v, warmPyramid().request(tile))
		}
		if r.total() != warmTiles {
			t.Errorf("%d tiles are drawn, want %d", r.total(), warmTiles)
		}
		close(back)
	})
}

// TestCloseDoesNotWaitForADeadDisk has a goroutine of the disk never return.
func TestCloseDoesNotWaitForADeadDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestService(t, new(fakeRenderer), warmOptions(t.TempDir()))
		back := make(chan struct{})
		s.disk.running.Go(func() { <-back })
		began := time.Now()
		mustDo(t, s.Close())
		if took := time.Since(began); took != closePatience {
			t.Errorf("Close took %v, want %v", took, closePatience)
		}
		close(back)
	})
}
