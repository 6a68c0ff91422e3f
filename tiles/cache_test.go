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
	get(Key) (Tile, bool)
	put(Key, Tile)
}

type memoryCache struct{ *memory }

func (m memoryCache) get(key Key) (Tile, bool) { return m.memory.get(key.Sum()) }
func (m memoryCache) put(key Key, t Tile)      { m.memory.put(key.Sum(), t) }

// A syncDisk writes and trims at once, where a disk has its goroutines do it.
type syncDisk struct{ *disk }

func (d syncDisk) get(key Key) (Tile, bool) { return d.disk.get(context.Background(), key.Sum()) }

func (d syncDisk) put(key Key, t Tile) {
	d.write(key, t)
	d.look()
}

// look does what the keeper would do now.
func (d syncDisk) look() {
	select {
	case <-d.due:
		if d.overdue(d.limit()) {
			d.trim(context.Background())
		}
	default:
	}
}

// newTestDisk returns a disk without goroutines, so that nothing happens to the folder but what the test does. It has
// counted what there is, and knows no bound of free space.
func newTestDisk(tb testing.TB, dir string, budget int64, clock *fakeClock) syncDisk {
	tb.Helper()
	d := newDisk(dir, budget, -1, clock.now, slog.New(slog.DiscardHandler), newMetrics(prometheus.NewRegistry()))
	tb.Cleanup(func() {
		if root := d.root.Load(); root != nil {
			_ = root.Close()
		}
	})
	d.trim(context.Background())
	return syncDisk{d}
}

func newTestClock() *fakeClock { return &fakeClock{t: time.Now()} }

func numberedKey(n int) Key {
	return Key{Renderer: "1", Variant: fmt.Sprint(n), Style: "heat", Colormap: "limno", Scale: 1}
}

func numberedSum(n int) Sum { return numberedKey(n).Sum() }

// TestCaches holds both tiers to what a cache of tiles must do.
func TestCaches(t *testing.T) {
	// Each entry costs one disk block, which is more than memory counts for it.
	const budget = 16 * blockSize
	tiers := []struct {
		name string
		make func(testing.TB) cache
	}{
		{"memory", func(testing.TB) cache { return memoryCache{newMemory(budget, newMetrics(nil))} }},
		{"disk", func(tb testing.TB) cache { return newTestDisk(tb, tb.TempDir(), budget, newTestClock()) }},
	}
	checks := []struct {
		name  string
		check func(*testing.T, cache)
	}{
		{"what was never put is a miss", func(t *testing.T, c cache) {
			if got, ok := c.get(numberedKey(1)); ok {
				t.Errorf("get = %v, want a miss", got)
			}
		}},
		{"what was put comes back", func(t *testing.T, c cache) {
			want := newTile([]byte("one"))
			c.put(numberedKey(1), want)
			c.put(numberedKey(2), newTile([]byte("two")))
			if got, ok := c.get(numberedKey(1)); !ok || !sameTile(got, want) {
				t.Errorf("get = %v, %v, want %v", got, ok, want)
			}
		}},
		{"a second put replaces the first", func(t *testing.T, c cache) {
			want := newTile([]byte("a later one"))
			c.put(numberedKey(1), newTile([]byte("one")))
			c.put(numberedKey(1), want)
			if got, ok := c.get(numberedKey(1)); !ok || !sameTile(got, want) {
				t.Errorf("get = %v, %v, want %v", got, ok, want)
			}
		}},
		{"a returned tile cannot be appended to in place", func(t *testing.T, c cache) {
			c.put(numberedKey(1), newTile([]byte("one")))
			got, _ := c.get(numberedKey(1))
			_ = append(got.Bytes, "more"...)
			if again, ok := c.get(numberedKey(1)); !ok || !sameTile(again, newTile([]byte("one"))) {
				t.Errorf("get = %v, %v, want the tile as it was put", again, ok)
			}
		}},
		{"a tile beyond every bound is not kept, and pushes nothing out", func(t *testing.T, c cache) {
			c.put(numberedKey(1), newTile([]byte("one")))
			c.put(numberedKey(2), newTile(make([]byte, maxPNG+1)))
			if _, ok := c.get(numberedKey(2)); ok {
				t.Error("the large tile is a hit, want a miss")
			}
			if _, ok := c.get(numberedKey(1)); !ok {
				t.Error("the small tile is a miss, want a hit")
			}
		}},
		{"the budget holds", func(t *testing.T, c cache) {
			png := make([]byte, blockSize-maxHeader)
			for i := range 100 {
				c.put(numberedKey(i), newTile(bytes.Clone(png)))
			}
			kept := 0
			for i := range 100 {
				if _, ok := c.get(numberedKey(i)); ok {
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
