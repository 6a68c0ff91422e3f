package disk

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// hang makes all reads of c block until the returned channel is closed, as those of a lost network share do.
func hang(c *Cache) (back chan struct{}) {
	back = make(chan struct{})
	c.read = func(root *os.Root, name string, s sum) (entry, fs.FileInfo, error) {
		<-back
		return readEntry(root, name, s)
	}
	return back
}

func TestGetDoesNotWaitForHangingDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		c := newSyncCache(t, t.TempDir(), 1<<20, clock)
		log := c.logTo()
		c.put(1, "a tile")
		back := hang(c.Cache)
		wantMiss := func(after time.Duration) {
			t.Helper()
			start := time.Now()
			if _, ok := c.get(1); ok || time.Since(start) != after {
				t.Fatalf("get from a hanging disk: hit %v after %v, want a miss after %v", ok, time.Since(start), after)
			}
		}
		for range maxReads + 2 { // also when all threads are blocked
			wantMiss(readTimeout)
			wantMiss(0)
			clock.advance(retryInterval)
		}
		close(back)
		synctest.Wait()
		if _, ok := c.get(1); !ok {
			t.Error("get is a miss after the disk answers again, want a hit")
		}
		if got := testutil.ToFloat64(c.metrics.readFaults); got != maxReads+2 || testutil.ToFloat64(c.metrics.readFailing) != 0 {
			t.Errorf("%v faults counted and the metric is %v, want one for each attempt, and 0", got, testutil.ToFloat64(c.metrics.readFailing))
		}
		for _, message := range []string{"cannot be read", "can be read again"} {
			if got := strings.Count(log.String(), message); got != 1 {
				t.Errorf("%q is logged %d times, want once:\n%s", message, got, log)
			}
		}
	})
}

func TestCallerThatLeavesIsNoFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newSyncCache(t, t.TempDir(), 1<<20, newTestClock())
		back := hang(c.Cache)
		ctx, cancel := context.WithTimeout(t.Context(), readTimeout/2)
		defer cancel()
		if _, _, ok := c.Get(ctx, numberedSum(1)); ok || testutil.ToFloat64(c.metrics.readFaults) != 0 {
			t.Errorf("hit %v and %v faults, want neither", ok, testutil.ToFloat64(c.metrics.readFaults))
		}
		close(back)
	})
}

// TestCloseDoesNotWaitForDeadDisk has a goroutine of the cache that never returns.
func TestCloseDoesNotWaitForDeadDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := Open(t.TempDir(), nil)
		must(t, err)
		back := make(chan struct{})
		c.running.Go(func() { <-back })
		start := time.Now()
		must(t, c.Close())
		if took := time.Since(start); took != closeTimeout {
			t.Errorf("Close took %v, want %v", took, closeTimeout)
		}
		close(back)
	})
}
