package api

import (
	"sync"
	"time"
)

const (
	// bucketSets is how many locks the clients of a limit are spread over, many more than a server has processors.
	bucketSets = 8192
	// bucketWays is how many clients a set remembers. All sets together remember 65,536, in 1.6 MB that are claimed once
	// and hold no pointers: however many addresses ask, there is nothing to allocate and nothing for the collector to
	// walk.
	bucketWays = 8
)

// buckets are the token buckets of a limit, one for each client. A bucket is kept as the generic cell rate algorithm
// keeps it (ITU-T I.371, annex A), as the one moment when it will be full again; a client that is not remembered has a
// full one. Where more clients ask than a set remembers, the one whose bucket is the fullest is forgotten: one that is
// full is no loss, and a client that has spent its share is the last to be taken for a new one, so that nobody escapes a
// limit behind a crowd of addresses that ask a little each.
type buckets struct {
	sets [bucketSets]bucketSet
}

type bucketSet struct {
	mu      sync.Mutex
	buckets [bucketWays]bucket // guarded by mu
}

type bucket struct {
	key  uint64        // a hash of the client
	full time.Duration // since the start of the limiter; of a shared bucket as far as is known here
	held held          // of a shared bucket
}

// held is what a server holds of a client's shared bucket: tokens that it has taken and not yet spent.
type held struct {
	tokens  uint32
	grown   uint8 // how often the reserve was filled, each time to twice as much
	filling bool  // a request is filling it now
}

// reserve returns to how many tokens the reserve is filled, at most. It grows with each filling: a client that asks once
// costs its bucket one token and not a second's worth, be it that it does not come back or that it is forgotten here.
func (h *held) reserve(most int) int {
	if h.grown == 0 {
		return 0
	}
	return min(most, 1<<(h.grown-1))
}

// grow doubles the reserve, up to the most that is ever wanted.
func (h *held) grow(most int) {
	if h.reserve(most) < most {
		h.grown++
	}
}

// setOf returns the set in which the client with that key is remembered.
func (b *buckets) setOf(key uint64) *bucketSet { return &b.sets[key%bucketSets] }

// find returns the bucket of the client with that key, for as long as the set is locked. A bucket that takes size to
// fill cannot be full later than by size from now; one that says so was written before the clock was set back, and is
// taken for a full one, since nobody would know how long else to refuse its client.
func (s *bucketSet) find(key uint64, now, size time.Duration) *bucket {
	fullest := &s.buckets[0]
	for i := range s.buckets {
		b := &s.buckets[i]
		if b.full > now+size {
			b.full = now
		}
		if b.key == key {
			return b
		}
		if b.full < fullest.full {
			fullest = b
		}
	}
	*fullest = bucket{key: key, full: now}
	return fullest
}
