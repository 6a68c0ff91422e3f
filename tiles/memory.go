package tiles

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// memoryOverhead is what an entry costs beside its PNG and its ETag on a 64-bit machine: the list's element with the
	// Sum and the Tile in it, the map's slot with the Sum again and its share of empty slots, and the Note with what the API
	// keeps there. Without it a million tiny tiles would be counted as nothing.
	memoryOverhead = 144 + 96 + 104
	// maxMemoryShards is how many locks the tiles are spread over at most. A hit holds one for a tenth of a microsecond or
	// less, and a request takes ten or more, so that a single one would be felt from some dozen processors on.
	maxMemoryShards = 16
	// minShardBytes is the least budget of a shard: the largest tile fits, with a page for what it costs besides.
	minShardBytes = maxPNG + 8<<10
)

// A memory is the tier of tiles in memory. golang-lru counts entries; this counts bytes, as the allocator gives them. The
// tiles are spread evenly over shards by their keys, which are hashes, so that each shard has its share of the budget.
type memory struct {
	budget  int64 // of one shard
	metrics *metrics
	sizes   sizeClasses
	shards  []memoryShard
}

type memoryShard struct {
	mu    sync.Mutex // guards what follows
	lru   *simplelru.LRU[Sum, Tile]
	bytes int64
	_     [64]byte // a cache line, so that the locks of two shards do not share one
}

func newMemory(budget int64, m *metrics) *memory {
	shards := max(1, min(budget/minShardBytes, maxMemoryShards))
	c := &memory{budget: budget / shards, metrics: m, sizes: readSizeClasses(), shards: make([]memoryShard, shards)}
	for i := range c.shards {
		// The only error is for a size that is not positive; the bound that matters is put's.
		lru, err := simplelru.NewLRU[Sum, Tile](math.MaxInt, nil)
		if err != nil {
			panic(err)
		}
		c.shards[i].lru = lru
	}
	return c
}

func (m *memory) shard(key Sum) *memoryShard {
	return &m.shards[binary.BigEndian.Uint32(key[:])%uint32(len(m.shards))]
}

func (m *memory) cost(t Tile) int64 {
	return m.sizes.round(cap(t.Bytes)) + m.sizes.round(len(t.ETag)) + memoryOverhead
}

// get returns the tile of that key, and makes it the most recently used.
func (m *memory) get(key Sum) (Tile, bool) {
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lru.Get(key)
}

// put keeps t, and drops the least recently used of its shard until all fit. A tile larger than the shard's budget is
// not kept: it would push out everything else and then itself.
func (m *memory) put(key Sum, t Tile) {
	cost := m.cost(t)
	if cost > m.budget {
		return
	}
	t.Note = new(Note)
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes, entries := s.bytes, s.lru.Len()
	if old, ok := s.lru.Peek(key); ok {
		s.bytes -= m.cost(old)
	}
	s.lru.Add(key, t)
	s.bytes += cost
	for s.bytes > m.budget {
		_, old, ok := s.lru.RemoveOldest()
		if !ok {
			break
		}
		s.bytes -= m.cost(old)
		m.metrics.memoryEvictions.Inc()
	}
	m.metrics.memoryBytes.Add(float64(s.bytes - bytes))
	m.metrics.memoryEntries.Add(float64(s.lru.Len() - entries))
}
