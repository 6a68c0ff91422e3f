package tiles

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// memoryOverhead is what an entry costs beside its PNG: the map's and the list's share, the Sum twice, the Tile and
// its ETag come to about 250 bytes on a 64-bit machine, the Note and the two header fields that the API keeps there to
// 110 more. Without it a million tiny tiles would be counted as nothing.
const memoryOverhead = 368

// A memory is the tier of tiles in memory. golang-lru counts entries; this counts bytes.
type memory struct {
	budget  int64
	metrics *metrics

	mu    sync.Mutex // guards what follows
	lru   *simplelru.LRU[Sum, Tile]
	bytes int64
}

func newMemory(budget int64, m *metrics) *memory {
	// The only error is for a size that is not positive; the bound that matters is put's.
	lru, err := simplelru.NewLRU[Sum, Tile](math.MaxInt, nil)
	if err != nil {
		panic(err)
	}
	return &memory{budget: budget, metrics: m, lru: lru}
}

func memoryCost(t Tile) int64 { return int64(cap(t.PNG)) + memoryOverhead }

// get returns the tile of that key, and makes it the most recently used.
func (m *memory) get(key Sum) (Tile, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lru.Get(key)
}

// put keeps t, and drops the least recently used until all fit. A tile larger than the budget is not kept: it would
// push out everything else and then itself.
func (m *memory) put(key Sum, t Tile) {
	if memoryCost(t) > m.budget {
		return
	}
	t.Note = new(Note)
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.lru.Peek(key); ok {
		m.bytes -= memoryCost(old)
	}
	m.lru.Add(key, t)
	m.bytes += memoryCost(t)
	for m.bytes > m.budget {
		_, old, ok := m.lru.RemoveOldest()
		if !ok {
			break
		}
		m.bytes -= memoryCost(old)
		m.metrics.memoryEvictions.Inc()
	}
	m.metrics.memoryBytes.Set(float64(m.bytes))
	m.metrics.memoryEntries.Set(float64(m.lru.Len()))
}
