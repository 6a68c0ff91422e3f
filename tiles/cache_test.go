package tiles

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"
	"testing/synctest"

	"limnomap/tiles/disk"
)

// A cache is what the tiers in memory and on disk have in common.
type cache interface {
	get(Key) (Tile, bool)
	put(Key, Tile)
}

type memoryCache struct{ *memory }

func (m memoryCache) get(key Key) (Tile, bool) { return m.memory.get(key.Sum()) }
func (m memoryCache) put(key Key, t Tile)      { m.memory.put(key.Sum(), t) }

type diskCache struct {
	tb    testing.TB
	cache *disk.Cache
}

func (d diskCache) get(key Key) (Tile, bool) {
	b, digest, ok := d.cache.Get(d.tb.Context(), key.Sum())
	if !ok {
		return Tile{}, false
	}
	return Tile{Bytes: b, ETag: hex.EncodeToString(digest[:])}, true
}

// put writes the tile at once, and waits for a trim if there is no room.
func (d diskCache) put(key Key, t Tile) {
	_ = disk.NewFill(d.cache).Put(d.tb.Context(), key.Encode(), t.Bytes) // an error is a tile that is not kept
}

func numberedKey(n int) Key {
	return Key{Renderer: "1", Variant: fmt.Sprint(n), Style: "heat", Colormap: "limno", Scale: 1}
}

func numberedSum(n int) Sum { return numberedKey(n).Sum() }

// TestCaches checks that both tiers do what a cache of tiles must do.
func TestCaches(t *testing.T) {
	// Each entry takes one disk block, which is more than memory counts for it.
	const budget = 16 * disk.MinEntrySize
	tiers := []struct {
		name string
		open func(testing.TB) cache
	}{
		{"memory", func(testing.TB) cache { return memoryCache{newMemory(budget, newMetrics(nil))} }},
		{"disk", func(tb testing.TB) cache {
			c, err := disk.Open(tb.TempDir(), &disk.Options{Bytes: budget, MinFree: -1})
			mustDo(tb, err)
			tb.Cleanup(func() { _ = c.Close() })
			return diskCache{tb, c}
		}},
	}
	checks := []struct {
		name  string
		check func(*testing.T, cache)
	}{
		{"a key that was never put is a miss", func(t *testing.T, c cache) {
			if got, ok := c.get(numberedKey(1)); ok {
				t.Errorf("get = %v, want a miss", got)
			}
		}},
		{"get returns the tile that was put", func(t *testing.T, c cache) {
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
		{"appending to a returned tile does not change it", func(t *testing.T, c cache) {
			c.put(numberedKey(1), newTile([]byte("one")))
			got, _ := c.get(numberedKey(1))
			_ = append(got.Bytes, "more"...)
			if again, ok := c.get(numberedKey(1)); !ok || !sameTile(again, newTile([]byte("one"))) {
				t.Errorf("get = %v, %v, want the tile as it was put", again, ok)
			}
		}},
		{"a tile that is too large is not kept, and pushes nothing out", func(t *testing.T, c cache) {
			c.put(numberedKey(1), newTile([]byte("one")))
			c.put(numberedKey(2), newTile(make([]byte, largestTile+1)))
			if _, ok := c.get(numberedKey(2)); ok {
				t.Error("the large tile is a hit, want a miss")
			}
			if _, ok := c.get(numberedKey(1)); !ok {
				t.Error("the small tile is a miss, want a hit")
			}
		}},
		{"the budget holds", func(t *testing.T, c cache) {
			const overhead = 30 + maxKey // of an entry on disk
			png := make([]byte, disk.MinEntrySize-overhead)
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
			t.Run(tier.name+"/"+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { c.check(t, tier.open(t)) })
			})
		}
	}
}
