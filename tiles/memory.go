package tiles

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// memoryOverhead is what an entry costs besides the bytes of its tile, on a 64-bit machine: the list's element with the
	// Sum and the Tile, the map's slot with the Sum and its share of empty slots, the ETag, and the Note with what the API
	// keeps there. Without it a million tiny tiles would count as nothing.
	memoryOverhead = 144 + 96 + 2*digestLen + 104
	// largestTile is the size of the largest tile that is kept, over ten times an incompressible 512-pixel paletted one.
	largestTile = 4 << 20
	// maxMemoryShards is how many maps and locks the tiles are spread over at most. One lock would be enough on two processors
	// (BenchmarkHits is as fast with it), but one large map takes more memory than several: with 40,000 tiles of 200 bytes
	// in one, the heap grew by 7.8 % more than the budget.
	maxMemoryShards = 16
	// minShardBytes is the smallest budget of a shard: the largest tile and its overhead fit.
	minShardBytes = largestTile + 8<<10
)

// A memory is the tier of tiles in memory. golang-lru counts entries; this counts bytes, as the allocator rounds them. The
// tiles are spread evenly over shards by their keys, which are hashes, so each shard has its share of the budget.
type memory struct {
	budget  int64 // of one shard
	metrics *metrics
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
	c := &memory{budget: budget / shards, metrics: m, shards: make([]memoryShard, shards)}
	for i := range c.shards {
		// The only error is for a size that is not positive; put bounds the bytes.
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

// memoryCost returns how much memory t takes. The capacity of its bytes is what the allocator gave: bytes.Clone, which made them,
// appends to an empty slice.
func memoryCost(t Tile) int64 { return int64(cap(t.Bytes)) + memoryOverhead }

// get returns the tile of that key, and makes it the most recently used.
func (m *memory) get(key Sum) (Tile, bool) {
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lru.Get(key)
}

// put keeps t, and drops the least recently used tiles of its shard until all fit. A tile larger than the shard's budget is
// not kept: it would push out all others and then itself.
func (m *memory) put(key Sum, t Tile) {
	size := memoryCost(t)
	if size > m.budget {
		return
	}
	t.Note = new(Note)
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes, entries := s.bytes, s.lru.Len()
	if old, ok := s.lru.Peek(key); ok {
		s.bytes -= memoryCost(old)
	}
	s.lru.Add(key, t)
	s.bytes += size
	for s.bytes > m.budget {
		_, old, ok := s.lru.RemoveOldest()
		if !ok {
			break
		}
		s.bytes -= memoryCost(old)
		m.metrics.memoryEvictions.Inc()
	}
	m.metrics.memoryBytes.Add(float64(s.bytes - bytes))
	m.metrics.memoryEntries.Add(float64(s.lru.Len() - entries))
}
