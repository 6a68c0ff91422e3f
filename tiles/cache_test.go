package tiles

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A cache is what both tiers are to the tests below.
type cache interface {
	get(Sum) (Tile, bool)
	put(Sum, Tile)
}

// A syncDisk writes at once, where a disk has its writer do it.
type syncDisk struct{ *disk }

func (d syncDisk) get(key Sum) (Tile, bool) { return d.disk.get(context.Background(), key) }

func (d syncDisk) put(key Sum, t Tile) {
	if d.write(key, t) && d.overdue() {
		d.trim()
	}
}

// newTestDisk returns a disk without a writer, so that nothing happens to the folder but what the test does.
func newTestDisk(tb testing.TB, dir string, budget int64, clock *fakeClock) syncDisk {
	tb.Helper()
	d := newDisk(dir, budget, clock.now, slog.New(slog.DiscardHandler), newMetrics(prometheus.NewRegistry()))
	tb.Cleanup(func() {
		if root := d.root.Load(); root != nil {
			_ = root.Close()
		}
	})
	return syncDisk{d}
}

func newTestClock() *fakeClock { return &fakeClock{t: time.Now()} }

func numberedSum(n int) Sum {
	return Key{Variant: fmt.Sprint(n)}.Sum()
}

// TestCaches holds both tiers to what a cache of tiles must do.
func TestCaches(t *testing.T) {
	// Each entry costs one disk block, which is more than memory counts for it.
	const budget = 16 * blockSize
	tiers := []struct {
		name string
		make func(testing.TB) cache
	}{
		{"memory", func(testing.TB) cache { return newMemory(budget, newMetrics(nil)) }},
		{"disk", func(tb testing.TB) cache { return newTestDisk(tb, tb.TempDir(), budget, newTestClock()) }},
	}
	checks := []struct {
		name  string
		check func(*testing.T, cache)
	}{
		{"what was never put is a miss", func(t *testing.T, c cache) {
			if got, ok := c.get(numberedSum(1)); ok {
				t.Errorf("get = %v, want a miss", got)
			}
		}},
		{"what was put comes back", func(t *testing.T, c cache) {
			want := newTile([]byte("one"))
			c.put(numberedSum(1), want)
			c.put(numberedSum(2), newTile([]byte("two")))
			if got, ok := c.get(numberedSum(1)); !ok || !sameTile(got, want) {
				t.Errorf("get = %v, %v, want %v", got, ok, want)
			}
		}},
		{"a second put replaces the first", func(t *testing.T, c cache) {
			want := newTile([]byte("a later one"))
			c.put(numberedSum(1), newTile([]byte("one")))
			c.put(numberedSum(1), want)
			if got, ok := c.get(numberedSum(1)); !ok || !sameTile(got, want) {
				t.Errorf("get = %v, %v, want %v", got, ok, want)
			}
		}},
		{"a returned tile cannot be appended to in place", func(t *testing.T, c cache) {
			c.put(numberedSum(1), newTile([]byte("one")))
			got, _ := c.get(numberedSum(1))
			_ = append(got.PNG, "more"...)
			if again, ok := c.get(numberedSum(1)); !ok || !sameTile(again, newTile([]byte("one"))) {
				t.Errorf("get = %v, %v, want the tile as it was put", again, ok)
			}
		}},
		{"a tile beyond every bound is not kept, and pushes nothing out", func(t *testing.T, c cache) {
			c.put(numberedSum(1), newTile([]byte("one")))
			c.put(numberedSum(2), newTile(make([]byte, maxPNG+1)))
			if _, ok := c.get(numberedSum(2)); ok {
				t.Error("the large tile is a hit, want a miss")
			}
			if _, ok := c.get(numberedSum(1)); !ok {
				t.Error("the small tile is a miss, want a hit")
			}
		}},
		{"the budget holds", func(t *testing.T, c cache) {
			png := make([]byte, blockSize-headerLen)
			for i := range 100 {
				c.put(numberedSum(i), newTile(bytes.Clone(png)))
			}
			kept := 0
			for i := range 100 {
				if _, ok := c.get(numberedSum(i)); ok {
					kept++
				}
			}
			if kept > 16 || kept < 8 {
				t.Errorf("%d of 100 tiles are kept, want 8 to 16 within the budget of 16", kept)
			}
		}},
	}
	for _, tier := range tiers {
		for _, c := range checks {
			t.Run(tier.name+"/"+c.name, func(t *testing.T) { c.check(t, tier.make(t)) })
		}
	}
}
