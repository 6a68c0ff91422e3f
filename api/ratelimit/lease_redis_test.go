package ratelimit

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"limnomap/api/ratelimit/quota"
	"limnomap/api/ratelimit/quota/redistest"
)

// A watchedQuota notes whether it failed.
type watchedQuota struct {
	Quota
	failed *atomic.Bool
}

func (q watchedQuota) Lease(ctx context.Context, limit, client string, perMinute, n int) (int, time.Duration, error) {
	granted, missing, err := q.Quota.Lease(ctx, limit, client, perMinute, n)
	if err != nil {
		q.failed.Store(true)
	}
	return granted, missing, err
}

// Servers that share a limit through a real Redis keep its bounds at any order of requests, also with bursts on all of them.
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
	failures := 0
	for round := 0; round < 20; round++ {
		var failed atomic.Bool
		client := uint64(100*failures + round + 1) // without earlier requests
		perMinute := []int{5, 59, 60, 300, 1000, 6000}[random.IntN(6)]
		requests := perMinute/2 + random.IntN(2*perMinute)
		var left, granted atomic.Int64
		left.Store(int64(requests))
		reserves := 0
		start := time.Now()
		var wg sync.WaitGroup
		for _, q := range quotas {
			l := sharedLimiter(watchedQuota{q, &failed}, perMinute, time.Now)
			l.shared.timeout = time.Minute // no tokens are lost on a busy machine
			reserves += l.reserve
			name := func() string { return strconv.FormatUint(client, 10) }
			for range workers {
				lazy := random.IntN(3) == 0
				wg.Go(func() { // ends when all requests are made
					for left.Add(-1) >= 0 {
						if lazy {
							time.Sleep(100 * time.Microsecond)
						}
						if l.takeShared(t.Context(), client, name).ok {
							granted.Add(1)
						}
					}
				})
			}
		}
		wg.Wait()
		if failed.Load() {
			// The machine is so busy that Redis did not answer in time. Other bounds hold then.
			if failures++; failures > 20 {
				t.Fatalf("Redis failed %d times in %d rounds", failures, round+1)
			}
			round--
			continue
		}
		most := perMinute + int(time.Since(start)*time.Duration(perMinute)/time.Minute) + reserves + 1
		least := min(requests, perMinute-reserves)
		if n := int(granted.Load()); n > most || n < least {
			t.Errorf("%d of %d requests are granted under %d a minute, want %d to %d", n, requests, perMinute, least, most)
		}
	}
}
