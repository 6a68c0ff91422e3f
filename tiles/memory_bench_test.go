package tiles

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkMemory has 64 goroutines ask for cached tiles at once.
func BenchmarkMemory(b *testing.B) {
	for _, shards := range []int64{1, maxMemoryShards} {
		b.Run(fmt.Sprintf("shards=%d", shards), func(b *testing.B) {
			c := newMemory(shards*minShardBytes, newMetrics(nil))
			keys := make([]Sum, 512)
			r := rand.New(rand.NewPCG(1, 2))
			for i := range keys {
				keys[i] = randomSum(r)
				c.put(keys[i], newTile(make([]byte, 4000)))
			}
			b.SetParallelism(64)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := rand.IntN(len(keys)); pb.Next(); i++ {
					if _, ok := c.get(keys[i%len(keys)]); !ok {
						b.Error("a cached tile is a miss")
						return
					}
				}
			})
		})
	}
}
