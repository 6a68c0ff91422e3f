package ratelimit

import (
	"sync"
	"time"
)

const (
	// bucketSets is how many locks the clients of a limit are spread over: many more than a server has processors.
	bucketSets = 8192
	// bucketWays is how many clients a set remembers. All sets remember 65,536, in 1.6 MB that are allocated once and hold no
	// pointers: however many clients there are, nothing more is allocated and the garbage collector has nothing to scan.
	bucketWays = 8
)

// buckets are the token buckets of a limit, one for each client. As in the generic cell rate algorithm (ITU-T I.371, annex A)
// a bucket is stored as the time when it will be full again. A client that is not remembered has a full bucket. If a set has
// more clients than it can remember, it forgets the one with the fullest bucket: a full bucket is no loss, and a client that
// has spent its share is the last to be forgotten, so a crowd of other addresses does not help it to escape the limit.
type buckets struct {
	sets [bucketSets]bucketSet
}

type bucketSet struct {
	mu      sync.Mutex
	buckets [bucketWays]bucket // guarded by mu
}

type bucket struct {
	client uint64        // hash of the client
	full   time.Duration // when it is full, since the start of the limit; of a shared bucket as far as is known here
	held   held          // of a shared bucket
}

// held is the reserve of a client's shared bucket on this server: tokens that it has leased and not yet spent.
type held struct {
	tokens  uint32
	grown   uint8 // how often the reserve was filled, each time to twice as much
	filling bool  // a request is filling it now
}

// reserve returns how many tokens the reserve is filled to, at most. It grows with each refill: a client that sends one
// request costs its bucket one token and not those of a second, which would be lost if it does not return.
func (h *held) reserve(most int) int {
	if h.grown == 0 {
		return 0
	}
	return min(most, 1<<(h.grown-1))
}

// grow doubles the reserve, up to most.
func (h *held) grow(most int) {
	if h.reserve(most) < most {
		h.grown++
	}
}

// setOf returns the set that remembers the client with that hash.
func (b *buckets) setOf(client uint64) *bucketSet { return &b.sets[client%bucketSets] }

// find returns the bucket of the client with that hash. It is valid while the set is locked. A bucket that takes size to fill
// is full at the latest after size; a later time was stored before the clock was set back, and such a bucket counts as full,
// because there is no telling how long its client was to wait.
func (s *bucketSet) find(client uint64, now, size time.Duration) *bucket {
	fullest := &s.buckets[0]
	for i := range s.buckets {
		b := &s.buckets[i]
		if b.full > now+size {
			b.full = now
		}
		if b.client == client {
			return b
		}
		if b.full < fullest.full {
			fullest = b
		}
	}
	*fullest = bucket{client: client, full: now}
	return fullest
}
