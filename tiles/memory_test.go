package tiles

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"
)

// len returns how many tiles m holds.
func (m *memory) len() (n int) {
	for i := range m.shards {
		n += m.shards[i].lru.Len()
	}
	return n
}

// randomSum returns a random key, as a hash is.
func randomSum(r *rand.Rand) (key Sum) {
	for i := 0; i < len(key); i += 8 {
		binary.BigEndian.PutUint64(key[i:], r.Uint64())
	}
	return key
}

// TestMemoryKeepsItsBudget compares the budget with the growth of the heap when four times as much is put.
func TestMemoryKeepsItsBudget(t *testing.T) {
	live := func() int64 {
		for range 4 { // pools and cleanups free their memory one or two collections later
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	newMemory(1, newMetrics(nil)) // the runtime and the metrics keep allocations of the first call
	for _, size := range []struct {
		name     string
		min, max int
	}{
		{"tiny", 200, 200},
		{"small", 300, 1400},
		{"ordinary", 1000, 15000},
		{"large", 30000, 90000},
	} {
		for _, budget := range []int64{1 << 20, 24 << 20} {
			t.Run(fmt.Sprintf("%s in %d MiB", size.name, budget>>20), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 2))
				m := newMetrics(nil)
				// So many that the rest of the process is small in comparison.
				caches := make([]*memory, max(1, 16<<20/budget))
				before := live()
				for i := range caches {
					caches[i] = newMemory(budget, m)
				}
				for put, n := int64(0), 0; put < 4*budget*int64(len(caches)); n++ {
					c := caches[n%len(caches)]
					tile := newTile(make([]byte, size.min+r.IntN(size.max-size.min+1)))
					key := randomSum(r)
					c.put(key, tile)
					if kept, ok := c.get(key); ok { // as the API does: two header fields in a Note
						kept.Note.Write(&[2]string{strconv.Quote(tile.ETag), strconv.Itoa(len(tile.Bytes))})
					}
					put += memoryCost(tile)
				}
				grown := (live() - before) / int64(len(caches))
				runtime.KeepAlive(caches)
				off := float64(grown)/float64(budget) - 1
				t.Logf("%+.1f %%", 100*off)
				if off < -.05 || off > .05 {
					t.Errorf("a budget of %d bytes grows the heap by %d, %+.1f %%, want within 5 %%", budget, grown, 100*off)
				}
			})
		}
	}
}

func TestMemoryDropsLeastRecentlyUsed(t *testing.T) {
	tile := newTile(make([]byte, 1000))
	m := newMetrics(nil)
	c := newMemory(1, m)
	c.budget = 3 * memoryCost(tile)
	for i := range 3 {
		c.put(numberedSum(i), tile)
	}
	c.get(numberedSum(0))
	c.put(numberedSum(3), tile)
	for i, want := range []bool{true, false, true, true} {
		if _, ok := c.get(numberedSum(i)); ok != want {
			t.Errorf("tile %d is a hit: %v, want %v", i, ok, want)
		}
	}
	if got := testutil.ToFloat64(m.memoryEvictions); got != 1 {
		t.Errorf("%v evictions counted, want 1", got)
	}
}

// TestMemoryCountsWhatItHolds compares the running counts with new counts after any sequence of puts and gets.
func TestMemoryCountsWhatItHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.Int64Range(1, 8000).Draw(t, "budget")
		shards := rapid.IntRange(1, 3).Draw(t, "shards")
		m := newMetrics(nil)
		c := newMemory(int64(shards)*minShardBytes, m)
		c.budget = budget
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			key := numberedSum(rapid.IntRange(0, 9).Draw(t, "key"))
			if rapid.Bool().Draw(t, "get") {
				c.get(key)
				continue
			}
			c.put(key, newTile(make([]byte, rapid.IntRange(1, 3000).Draw(t, "size"))))
			var all int64
			for i := range c.shards {
				var held int64
				for _, tile := range c.shards[i].lru.Values() {
					held += memoryCost(tile)
				}
				if held != c.shards[i].bytes || held > budget {
					t.Fatalf("a shard holds %d bytes and counts %d of a budget of %d", held, c.shards[i].bytes, budget)
				}
				all += held
			}
			if bytes, entries := testutil.ToFloat64(m.memoryBytes), testutil.ToFloat64(m.memoryEntries); bytes != float64(all) || entries != float64(c.len()) {
				t.Fatalf("metrics say %v bytes in %v tiles, want %d in %d", bytes, entries, all, c.len())
			}
		}
	})
}

func TestLargestTileFitsIntoAShard(t *testing.T) {
	for _, budget := range []int64{2 * largestTile, 64 << 20, 1 << 30} {
		c := newMemory(budget, newMetrics(nil))
		c.put(numberedSum(1), newTile(make([]byte, largestTile)))
		if c.len() != 1 {
			t.Errorf("a tile of %d bytes is not kept in %d shards of %d", largestTile, len(c.shards), c.budget)
		}
	}
}
