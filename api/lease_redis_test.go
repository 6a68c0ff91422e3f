package api

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"limnomap/api/quota"
	"limnomap/api/quota/redistest"
)

// Servers that share a limit through a real Redis keep its bounds whatever their requests' order, in bursts from all of
// them at once too.
func TestSharedLimitThroughRedis(t *testing.T) {
	const servers, workers = 3, 3
	redis := redistest.Start(t)
	quotas := make([]*quota.Redis, servers)
	for i := range quotas {
		q, err := quota.Open("redis://" + redis.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		quotas[i] = q
	}
	random := rand.New(rand.NewPCG(5, 9220))
	for round := range 20 {
		perMinute := []int{5, 59, 60, 300, 1000, 6000}[random.IntN(6)]
		requests := perMinute/2 + random.IntN(2*perMinute)
		var left, granted atomic.Int64
		left.Store(int64(requests))
		var limiters []*limiter
		reserves := 0
		start := time.Now()
		var wg sync.WaitGroup
		for _, q := range quotas {
			l := sharedLimiter(q, perMinute, time.Now)
			l.sharing.timeout = time.Minute // no tokens are lost on a machine that is busy
			limiters = append(limiters, l)
			reserves += l.reserve
			name := func() string { return strconv.Itoa(round) }
			for range workers {
				lazy := random.IntN(3) == 0
				wg.Go(func() { // ends when all requests are made
					for left.Add(-1) >= 0 {
						if lazy {
							time.Sleep(100 * time.Microsecond)
						}
						if l.takeShared(t.Context(), uint64(round+1), name).ok {
							granted.Add(1)
						}
					}
				})
			}
		}
		wg.Wait()
		for _, l := range limiters {
			if l.sharing.next.Load() != 0 {
				t.Fatal("Redis is taken for away")
			}
		}
		most := perMinute + int(time.Since(start)*time.Duration(perMinute)/time.Minute) + reserves + 1
		least := min(requests, perMinute-reserves)
		if n := int(granted.Load()); n > most || n < least {
			t.Errorf("%d of %d requests are granted under %d a minute, want %d to %d", n, requests, perMinute, least, most)
		}
	}
}
